// Reads and writes topology files, in the formats that administrators have:
//
// Slurm's topology.conf, and what `scontrol show topology` prints. LinkSpeed= is the speed of the switch's links to
// what the line names, in Gbit/s or with a unit:
//     SwitchName=s0 Nodes=n[0-7] Switches=s[1-3] LinkSpeed=100     keys in any case, \ continues a line
// Slurm's topology.yaml. Its default topology is read, or else the first that is a tree:
//     - switch: s0
//       nodes: n[0-7]
// An edge list:
//     s0 n[0-7] 1G            a link (or one to each name of a list), optionally with bits per second: 100M, 2.5G
//     switch s0 s1            says what a name is; otherwise a name with one link or none is a machine, else a switch
//     machine n0
// # starts a comment. A line that the format does not know is an error, which names the line.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "topology/switch_network.hpp"

namespace shoal {

// what() is "FILE:LINE: what is wrong; what was expected". Line 0 means the file as a whole.
class topology_error : public std::invalid_argument {
 public:
  topology_error(const std::string& file, int line, const std::string& text);
  int line() const { return line_; }

 private:
  int line_;
};

// Finds the format from the content. `file` is the name that errors give.
switch_network parse_topology(std::string_view text, const std::string& file);
switch_network parse_slurm(std::string_view text, const std::string& file);
switch_network parse_slurm_yaml(std::string_view text, const std::string& file);
switch_network parse_edge_list(std::string_view text, const std::string& file);
switch_network read_topology(const std::string& path);

// The text has no speeds. Throws std::invalid_argument if there is no switch.
std::string to_slurm(const switch_network& network);
// Throws std::invalid_argument for a link between nodes named "switch" and "machine".
std::string to_edge_list(const switch_network& network);

}  // namespace shoal
