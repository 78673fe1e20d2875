// Topology files: read, write.
//
// Two formats. Slurm's topology.conf, which administrators have:
//     SwitchName=s0 Nodes=n[0-7] Switches=s[1-3]      keys in any case, other keys ignored, \ continues a line
// and an edge list, which knows speeds:
//     s0 n[0-7] 1G            a link (or one to each name of a list), optionally with bits per second: 100M, 2.5G
//     switch s0 s1            says what a name is; otherwise what has one link is a machine, else a switch
//     machine n0
// In both, # starts a comment.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "topology/switch_network.hpp"

namespace shoal {

// what() is "FILE:LINE: what is wrong; what was expected". Line 0: the file as a whole.
class topology_error : public std::invalid_argument {
 public:
  topology_error(const std::string& file, int line, const std::string& text);
  int line() const { return line_; }

 private:
  int line_;
};

// The format is found from the content. `file` is what errors call it.
switch_network parse_topology(std::string_view text, const std::string& file);
switch_network parse_slurm(std::string_view text, const std::string& file);
switch_network parse_edge_list(std::string_view text, const std::string& file);
switch_network read_topology(const std::string& path);

// Speeds are lost, as Slurm has none. Throws std::invalid_argument when there are machines but no switch.
std::string to_slurm(const switch_network& network);
// Throws std::invalid_argument for a link between nodes named "switch" and "machine".
std::string to_edge_list(const switch_network& network);

}  // namespace shoal
