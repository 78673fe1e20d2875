#include "team/machine.hpp"

#include <mpi.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>

namespace shoal {

namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (const std::size_t colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos)
      return line.substr(colon + 2);
  utsname about{};
  return uname(&about) == 0 ? about.machine : "unknown processor";
}

// Replaces what cannot stand between quotes in a file.
std::string without_quotes(std::string_view text) {
  std::string all(text);
  std::replace_if(all.begin(), all.end(), [](char c) { return c == '"' || c == '\\' || c < ' ' || c > '~'; }, '?');
  return all;
}

}  // namespace

// MPI libraries say more about themselves, some of it different in every build. The well-known name and the version
// after it are enough.
std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> said{};
  int length = 0;
  PMPI_Get_library_version(said.data(), &length);
  const std::string_view all(said.data());
  for (const std::string_view name : {"MVAPICH", "Intel(R) MPI", "Open MPI", "MPICH"}) {
    const std::size_t at = all.find(name);
    if (at == std::string_view::npos) continue;
    const std::size_t begin = all.find_first_of("0123456789", at + name.size());
    if (begin == std::string_view::npos) continue;
    const std::size_t end = all.find_first_not_of("0123456789.", begin);
    return std::string(name) + " " + std::string(all.substr(begin, end - begin));
  }
  return without_quotes(all.substr(0, all.find('\n')));
}

std::string machine_name(int cores) {
  return without_quotes(processor_name()) + ", " + std::to_string(cores) + (cores == 1 ? " core" : " cores");
}

}  // namespace shoal
