// Speeds of links as files and options write them: 100M, 2.5G, 1000000, 1Gbit; bits per second.
#pragma once

#include <string>
#include <string_view>

namespace shoal {

// Returns 0 if the text is not a speed.
double to_bits_per_second(std::string_view text);

std::string from_bits_per_second(double bits);

}  // namespace shoal
