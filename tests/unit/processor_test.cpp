#include "topology/processor.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <vector>

namespace shoal {
namespace {

using std::filesystem::path;

// Two sockets of four CPUs, which are numbered in turn. Each socket is one NUMA domain and has two level 3 caches.
class processor : public testing::Test {
 protected:
  void SetUp() override {
    for (int cpu = 0; cpu < 8; ++cpu) {
      const path at = system_ / "cpu" / ("cpu" + std::to_string(cpu));
      const int socket = cpu % 2;
      write(at / "topology/package_cpus_list", socket ? "1,3,5,7" : "0,2,4,6");
      write(at / "cache/index3/shared_cpu_list", std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4));
      const path domain = system_ / "node" / ("node" + std::to_string(socket));
      write(domain / "cpulist", socket ? "1,3,5,7" : "0,2,4,6");
      std::filesystem::create_directory_symlink(domain, at / domain.filename());
    }
  }
  void TearDown() override { std::filesystem::remove_all(system_); }

  std::string domain(std::vector<int> cpus, node_level level) { return domain_of(cpus, level, system_); }

 private:
  static void write(const path& file, const std::string& line) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << line << "\n";
  }

  const path system_ = std::filesystem::temp_directory_path() / ("shoal-system-" + std::to_string(getpid()));
};

TEST_F(processor, names_the_domain_that_has_all_cpus) {
  EXPECT_EQ(domain({0}, node_level::socket), "0,2,4,6");
  EXPECT_EQ(domain({1, 7}, node_level::socket), "1,3,5,7");
  EXPECT_EQ(domain({3, 5}, node_level::numa), "1,3,5,7");
  EXPECT_EQ(domain({2, 6}, node_level::cache), "2,6");
}

TEST_F(processor, names_none_for_cpus_of_several) {
  EXPECT_EQ(domain({0, 1}, node_level::socket), "");
  EXPECT_EQ(domain({0, 1, 2, 3, 4, 5, 6, 7}, node_level::numa), "");
  EXPECT_EQ(domain({0, 2}, node_level::cache), "");
}

TEST_F(processor, names_none_where_nothing_is_known) {
  EXPECT_EQ(domain({}, node_level::socket), "");
  EXPECT_EQ(domain({8}, node_level::numa), "");
  EXPECT_EQ(domain({0}, node_level::machine), "");
}

TEST_F(processor, levels_have_names) {
  EXPECT_EQ(parse_node_level("socket"), node_level::socket);
  EXPECT_EQ(parse_node_level("numa"), node_level::numa);
  EXPECT_EQ(parse_node_level("cache"), node_level::cache);
  EXPECT_EQ(parse_node_level("machine"), std::nullopt);
  EXPECT_EQ(parse_node_level("4x4"), std::nullopt);
}

}  // namespace
}  // namespace shoal
