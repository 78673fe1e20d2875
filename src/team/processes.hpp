// What Linux tells of the processes on this node.
#pragma once

#include <string>
#include <string_view>

namespace shoal {

// The text of a file that /proc has for a process, such as "cmdline"; empty if it cannot be read to its end.
std::string text_of(int id, const char* file);

constexpr std::string_view preload_name = "libshoal-preload.so";

// Whether such a text names Shoal's preload.
inline bool names_preload(std::string_view text) { return text.find(preload_name) != std::string_view::npos; }

}  // namespace shoal
