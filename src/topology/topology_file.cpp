#include "topology/topology_file.hpp"

#include <fstream>
#include <sstream>

namespace shoal {

namespace {

// Only Slurm's lines have an equals sign.
bool is_slurm(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (line.substr(0, line.find('#')).find('=') != std::string_view::npos) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

topology_error::topology_error(const std::string& file, int line, const std::string& text)
    : std::invalid_argument(file + (line > 0 ? ":" + std::to_string(line) : "") + ": " + text), line_(line) {}

switch_network parse_topology(std::string_view text, const std::string& file) {
  return is_slurm(text) ? parse_slurm(text, file) : parse_edge_list(text, file);
}

switch_network read_topology(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) throw topology_error(path, 0, "cannot be read; expected a topology file");
  return parse_topology(text.str(), path);
}

}  // namespace shoal
