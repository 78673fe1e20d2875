// What Linux tells of the processes on this node.
#pragma once

#include <string>

namespace shoal {

// The text of a file that /proc has for a process, such as "cmdline"; empty if it cannot be read.
std::string text_of(int id, const char* file);

}  // namespace shoal
