// Wisdom that cannot be read or written: it stays as it is, and nothing else is left behind.
#include "select/wisdom.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace shoal {
namespace {

class folder {
 public:
  folder() {
    std::string name = testing::TempDir() + "wisdom-XXXXXX";
    if (!mkdtemp(name.data())) throw std::runtime_error("no folder for the test");
    path_ = name;
  }
  ~folder() { std::filesystem::remove_all(path_); }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;

  std::string at(const std::string& name) const { return (path_ / name).string(); }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& one : std::filesystem::directory_iterator(path_)) all.push_back(one.path().filename());
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  std::filesystem::path path_;
};

// While it lives, no file of this process gets a byte.
class full_disk {
 public:
  full_disk() {
    getrlimit(RLIMIT_FSIZE, &usual_);
    const rlimit none{0, usual_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &none);
  }
  ~full_disk() {
    setrlimit(RLIMIT_FSIZE, &usual_);
    std::signal(SIGXFSZ, handler_);
  }
  full_disk(const full_disk&) = delete;
  full_disk& operator=(const full_disk&) = delete;

 private:
  void (*handler_)(int) = std::signal(SIGXFSZ, SIG_IGN);
  rlimit usual_{};
};

wisdom lesson() {
  wisdom learnt{"an MPI", "a machine", {}};
  learnt.known.add({}, "native", 1e-6, 10);
  return learnt;
}

int error_of_adding(const std::string& path) {
  const full_disk disk;
  try {
    add_to_wisdom(path, lesson());
  } catch (const std::system_error& error) {
    return error.code().value();
  }
  return 0;
}

TEST(wisdom, leaves_no_other_file_behind_if_it_cannot_be_written) {
  const folder here;
  const std::string path = here.at("wisdom");
  EXPECT_EQ(error_of_adding(path), EFBIG);
  EXPECT_EQ(here.names(), std::vector<std::string>{"wisdom.lock"});
  add_to_wisdom(path, lesson());
  EXPECT_EQ(error_of_adding(path), EFBIG);
  EXPECT_EQ(here.names(), (std::vector<std::string>{"wisdom", "wisdom.lock"}));
  EXPECT_FALSE(read_wisdom(path).known.empty());
}

// A link that leads to itself is there and cannot be read, whoever the user is.
TEST(wisdom, that_cannot_be_read_is_not_taken_for_none) {
  const folder here;
  EXPECT_TRUE(read_wisdom(here.at("none")).known.empty());
  std::filesystem::create_symlink("link", here.at("link"));
  EXPECT_THROW(read_wisdom(here.at("link")), std::invalid_argument);
  EXPECT_THROW(read_wisdom(here.at("link") + "/wisdom"), std::invalid_argument);
}

// mktemp makes such a file.
TEST(wisdom, begins_in_an_empty_file) {
  const folder here;
  const std::string path = here.at("wisdom");
  std::ofstream(path).flush();
  EXPECT_TRUE(read_wisdom(path).known.empty());
  add_to_wisdom(path, lesson());
  EXPECT_FALSE(read_wisdom(path).known.empty());
}

}  // namespace
}  // namespace shoal
