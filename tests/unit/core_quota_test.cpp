#include "transport/core_quota.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <string>

namespace shoal {
namespace {

using files = std::map<std::string, std::string>;

int cores_with(const files& all) {
  const auto root = std::filesystem::temp_directory_path() / ("shoal_quota." + std::to_string(getpid()));
  for (const auto& [name, text] : all) {
    std::filesystem::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text;
  }
  const int cores = quota_cores(64, root);
  std::filesystem::remove_all(root);
  return cores;
}

const std::string own = "proc/self/cgroup", groups = "sys/fs/cgroup/";

TEST(CoreQuota, NothingIsLimited) {
  EXPECT_EQ(cores_with({}), 64);
  EXPECT_EQ(cores_with({{own, "0::/\n"}, {groups + "cpu.max", "max 100000\n"}}), 64);
  EXPECT_EQ(cores_with({{own, "4:cpu,cpuacct:/\n"},
                        {groups + "cpu/cpu.cfs_quota_us", "-1\n"},
                        {groups + "cpu/cpu.cfs_period_us", "100000\n"}}),
            64);
}

TEST(CoreQuota, GroupsAboveLimitToo) {
  EXPECT_EQ(cores_with({{own, "0::/above/own\n"},
                        {groups + "above/own/cpu.max", "max 100000\n"},
                        {groups + "above/cpu.max", "350000 100000\n"}}),
            3);
  EXPECT_EQ(cores_with({{own, "0::/above/own\n"},
                        {groups + "above/own/cpu.max", "50000 100000\n"},
                        {groups + "above/cpu.max", "350000 100000\n"}}),
            1);
}

TEST(CoreQuota, VersionOneIsFoundByItsController) {
  EXPECT_EQ(cores_with({{own, "5:memory:/job\n4:cpu,cpuacct:/job\n0::/\n"},
                        {groups + "cpu/job/cpu.cfs_quota_us", "200000\n"},
                        {groups + "cpu/job/cpu.cfs_period_us", "100000\n"}}),
            2);
}

}  // namespace
}  // namespace shoal
