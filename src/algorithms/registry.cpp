// The one table of algorithms.
#include <iterator>

#include "algorithms/families.hpp"

namespace shoal {

namespace {

algorithm native() {
  algorithm a;
  a.name = "native";
  a.summary = "the MPI library's own collective";
  a.source = "the MPI library";
  return a;
}

std::vector<algorithm> build_table() {
  std::vector<algorithm> table;
  for (auto family :
       {radix_family, hierarchical_family, tree_family, linear_family, neighbor_family, intergroup_family}) {
    auto entries = family();
    table.insert(table.end(), std::make_move_iterator(entries.begin()), std::make_move_iterator(entries.end()));
  }
  table.push_back(native());
  return table;
}

}  // namespace

const std::vector<algorithm>& algorithms() {
  static const auto& table = *new std::vector<algorithm>(build_table());  // also used at exit
  return table;
}

}  // namespace shoal
