// Reads text from outside that may be of any length.
#pragma once

#include <array>
#include <istream>
#include <string>

namespace shoal {

// The first `most` bytes or a few more, read piece by piece: to reserve memory for the largest file would cost a job
// more than to read.
inline std::string read_beginning(std::istream& from, std::size_t most) {
  std::string text;
  std::array<char, 4096> part;
  while (text.size() < most && (from.read(part.data(), part.size()), from.gcount() > 0))
    text.append(part.data(), static_cast<std::size_t>(from.gcount()));
  return text;
}

}  // namespace shoal
