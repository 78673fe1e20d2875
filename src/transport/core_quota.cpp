#include "transport/core_quota.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

namespace shoal {

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

// How many cores a quota allows; "max" and -1 mean any number.
double ratio(const std::string& quota, double period) {
  const double limit = quota.empty() || quota == "max" ? -1 : std::strtod(quota.c_str(), nullptr);
  return limit > 0 && period > 0 ? limit / period : unlimited;
}

double cores_of(const std::filesystem::path& group) {
  std::string quota;
  double period = 0;
  if (std::ifstream file(group / "cpu.max"); file >> quota >> period) return ratio(quota, period);
  std::ifstream(group / "cpu.cfs_quota_us") >> quota;
  std::ifstream(group / "cpu.cfs_period_us") >> period;
  return ratio(quota, period);
}

bool limits_cores(std::string_view controllers) {
  for (std::size_t at = 0; at <= controllers.size(); ++at) {
    const std::size_t end = std::min(controllers.find(',', at), controllers.size());
    if (controllers.substr(at, end - at) == "cpu") return true;
    at = end;
  }
  return false;
}

}  // namespace

// /proc/self/cgroup has a line for each hierarchy: number:controllers:path. In version 2 there are no controllers.
int quota_cores(int otherwise, const std::filesystem::path& root) {
  double least = unlimited;
  std::ifstream own(root / "proc/self/cgroup");
  for (std::string line; std::getline(own, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && !limits_cores(controllers)) continue;
    std::filesystem::path group = root / "sys/fs/cgroup" / (controllers.empty() ? "" : "cpu");
    least = std::min(least, cores_of(group));
    for (const auto& below : std::filesystem::path(line.substr(second + 1)).relative_path())
      least = std::min(least, cores_of(group /= below));
  }
  return least == unlimited ? otherwise : std::max(1, static_cast<int>(least));
}

}  // namespace shoal
