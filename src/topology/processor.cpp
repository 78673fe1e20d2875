#include "topology/processor.hpp"

#include <algorithm>
#include <fstream>

namespace shoal {

namespace {

using std::filesystem::path;

std::string first_line(const path& file) {
  std::string line;
  std::getline(std::ifstream(file), line);
  return line;
}

// The directory of a CPU has a link named node<N> to its NUMA domain.
std::string cpus_of_numa_domain(const path& cpu) {
  std::error_code unknown;
  for (const auto& entry : std::filesystem::directory_iterator(cpu, unknown))
    if (const std::string name = entry.path().filename(); name.starts_with("node"))
      return first_line(entry.path() / "cpulist");
  return "";
}

std::string domain_of_one(const path& cpu, node_level level) {
  switch (level) {
    case node_level::machine: return "";
    case node_level::socket: return first_line(cpu / "topology/package_cpus_list");
    case node_level::numa: return cpus_of_numa_domain(cpu);
    case node_level::cache: return first_line(cpu / "cache/index3/shared_cpu_list");
  }
  return "";
}

}  // namespace

std::optional<node_level> parse_node_level(std::string_view text) {
  if (text == "socket") return node_level::socket;
  if (text == "numa") return node_level::numa;
  if (text == "cache") return node_level::cache;
  return std::nullopt;
}

std::string domain_of(std::span<const int> cpus, node_level level, const path& system) {
  const auto domain = [&](int cpu) { return domain_of_one(system / "cpu" / ("cpu" + std::to_string(cpu)), level); };
  if (cpus.empty()) return "";
  const std::string first = domain(cpus.front());
  const auto same = [&](int cpu) { return domain(cpu) == first; };
  return std::all_of(cpus.begin() + 1, cpus.end(), same) ? first : "";
}

}  // namespace shoal
