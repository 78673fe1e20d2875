// How much of its machine's cores a process may use, as its control groups limit it.
#pragma once

#include <filesystem>

namespace shoal {

// The least that its group and those above it allow, versions 1 and 2, in whole cores and at least 1; `otherwise` when
// nothing is limited. `root` is where /proc and /sys are.
int quota_cores(int otherwise, const std::filesystem::path& root = "/");

}  // namespace shoal
