#include "team/processes.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace shoal {

// Ranks read such files before their first agreement, and a stream would take several times as long.
std::string text_of(int id, const char* file) {
  std::string all;
  std::array<char, 32> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/%s", id, file);
  const int descriptor = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return all;
  constexpr std::size_t part = 4096;
  ssize_t got = 1;
  while (got > 0) {
    const std::size_t before = all.size();
    all.resize(before + part);
    got = ::read(descriptor, all.data() + before, part);
    all.resize(before + static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  }
  ::close(descriptor);
  if (got < 0) all.clear();
  return all;
}

}  // namespace shoal
