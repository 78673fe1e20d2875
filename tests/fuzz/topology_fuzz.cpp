// Topology files. Whatever the bytes are, the parser gives a network that can be scheduled and written back, or says
// what is wrong.
#include "fuzz.hpp"
#include "topology/rank_tree.hpp"
#include "topology/topology_file.hpp"

namespace {

using shoal::fuzz::require;

void schedule_and_write(const shoal::switch_network& network) {
  require(shoal::rank_tree(network).ranks() == static_cast<int>(network.machines().size()));
  if (network.find("switch") >= 0 && network.find("machine") >= 0) return;  // a link between them cannot be written
  const shoal::switch_network again = shoal::parse_topology(shoal::to_edge_list(network), "again");
  require(again.nodes() == network.nodes() && again.links().size() == network.links().size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::optional<shoal::switch_network> network;
  try {
    network = shoal::parse_topology({reinterpret_cast<const char*>(data), size}, "topology.conf");
  } catch (const shoal::topology_error&) {
  }
  if (network) schedule_and_write(*network);
  return 0;
}
