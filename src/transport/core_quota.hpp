// How many of its machine's cores a process may use, as its control groups limit them.
#pragma once

#include <filesystem>

namespace shoal {

// The least that the process's control group and those above it allow (versions 1 and 2): in whole cores, and not less
// than one. `otherwise` if nothing is limited. `root` is where /proc and /sys are.
int quota_cores(int otherwise, const std::filesystem::path& root = "/");

}  // namespace shoal
