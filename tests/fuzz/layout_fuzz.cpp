// Layouts of nodes, layouts of levels, and lists of hosts. What is accepted means the same when it is written and read
// again.
#include "fuzz.hpp"
#include "topology/host_list.hpp"
#include "topology/layout_tree.hpp"

using namespace shoal;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text(data, size);
  if (const auto layout = fuzz::parsed([&] { return node_layout::parse(text); }))
    require(node_layout::parse(to_string(*layout)) == *layout);
  if (const auto levels = fuzz::parsed([&] { return layout_tree::parse(text); }))
    require(layout_tree::parse(to_string(*levels)) == *levels);
  if (const auto names = fuzz::parsed([&] { return expand_host_list(text); }))
    require(expand_host_list(fold_host_list(*names)) == *names);
  return 0;
}
