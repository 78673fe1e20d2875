// The one table of algorithms.
#include <algorithm>
#include <iterator>

#include "algorithms/families.hpp"

namespace shoal {

namespace {

template <typename Items>
void append(std::vector<typename Items::value_type>& all, Items more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

algorithm native() {
  algorithm a;
  a.name = "native";
  a.summary = "the MPI library's own collective";
  a.source = "the MPI library";
  return a;
}

std::vector<algorithm> build_table() {
  std::vector<algorithm> table;
#define SHOAL_ADDED(name) append(table, name##_family());
  SHOAL_FAMILIES(SHOAL_ADDED)
#undef SHOAL_ADDED
  table.push_back(native());
  return table;
}

}  // namespace

const std::vector<algorithm>& algorithms() {
  static const auto& table = *new std::vector<algorithm>(build_table());  // never destroyed: also used at exit
  return table;
}

std::vector<std::string> worth_trying(collective what, const problem& at, std::span<const algorithm> table) {
  std::vector<const algorithm*> in_turn;
  for (const algorithm& a : table)
    if (a.what == what && a.tried) in_turn.push_back(&a);
  std::stable_sort(in_turn.begin(), in_turn.end(), [](const auto* a, const auto* b) { return a->turn < b->turn; });
  std::vector<std::string> all;
  for (const algorithm* a : in_turn) append(all, a->tried(at));
  return all;
}

std::vector<std::string> worth_measuring(const problem& at, bool equal_blocks, std::span<const algorithm> table) {
  std::vector<std::string> all;
  for (const algorithm& a : table)
    if (a.measured && (equal_blocks || !a.uniform_only)) append(all, a.measured(at));
  return all;
}

}  // namespace shoal
