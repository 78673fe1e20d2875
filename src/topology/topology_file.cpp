#include "topology/topology_file.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace shoal {

namespace {

// Whether `is` holds for some line, without the line's comment.
template <typename Predicate>
bool some_line(std::string_view text, Predicate is) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (is(line.substr(0, line.find('#')))) return true;
    begin = end + 1;
  }
  return false;
}

// Only topology.conf has an equals sign.
bool is_slurm(std::string_view text) {
  return some_line(text, [](std::string_view line) { return line.find('=') != std::string_view::npos; });
}

bool is_slurm_yaml(std::string_view text) {
  return some_line(text, [](std::string_view line) {
    return line.starts_with("---") || line.starts_with("topology:") || line.find("- topology:") != line.npos;
  });
}

}  // namespace

topology_error::topology_error(const std::string& file, int line, const std::string& text)
    : std::invalid_argument(file + (line > 0 ? ":" + std::to_string(line) : "") + ": " + text), line_(line) {}

switch_network parse_topology(std::string_view text, const std::string& file) {
  if (is_slurm_yaml(text)) return parse_slurm_yaml(text, file);
  return is_slurm(text) ? parse_slurm(text, file) : parse_edge_list(text, file);
}

switch_network read_topology(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) throw topology_error(path, 0, "cannot be read; expected a topology file");
  return parse_topology(text.str(), path);
}

}  // namespace shoal
