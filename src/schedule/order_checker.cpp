#include <algorithm>
#include <map>
#include <vector>

#include "schedule/checker.hpp"

namespace shoal {

namespace {

class started_before {
 public:
  explicit started_before(const schedule& program) : program_(program) {}

  // Whether `one` is started before `other`, in whatever order operations complete.
  bool surely(op_id one, op_id other) {
    seen_.assign(program_.operations.size(), 0);
    return precedes(one, other);
  }

 private:
  std::span<const op_id> after(op_id id) const { return program_.after_of(program_.operations[id]); }

  // What waits for nothing is started before all that waits (execute/exchange.cpp).
  bool precedes(op_id one, op_id other) {
    const auto mine = after(one), theirs = after(other);
    if (mine.empty() && !theirs.empty()) return true;
    if (other <= one || seen_[other]) return false;
    seen_[other] = 1;
    if (std::is_permutation(mine.begin(), mine.end(), theirs.begin(), theirs.end())) return true;
    return std::any_of(theirs.begin(), theirs.end(),
                       [&](op_id earlier) { return earlier == one || precedes(one, earlier); });
  }

  const schedule& program_;
  std::vector<char> seen_;
};

std::optional<fault> check_order(const schedule& program, const std::function<bool(int, int)>& by_order) {
  started_before order(program);
  std::map<std::pair<int, op_kind>, op_id> last;
  for (op_id id = 0; id < static_cast<op_id>(program.operations.size()); ++id) {
    const operation& op = program.operations[id];
    if (op.kind == op_kind::copy || !by_order(program.rank, op.peer)) continue;
    const auto [found, is_first] = last.try_emplace({op.peer, op.kind}, id);
    if (!is_first && !order.surely(found->second, id))
      return fault{fault_kind::any_order, program.rank, id,
                   "rank " + std::to_string(program.rank) + ", operation " + std::to_string(id) +
                       ": may be started before operation " + std::to_string(found->second) +
                       ", its other message with rank " + std::to_string(op.peer)};
    found->second = id;
  }
  return std::nullopt;
}

}  // namespace

std::optional<fault> check_order(std::span<const schedule> programs, const std::function<bool(int, int)>& by_order) {
  for (const schedule& program : programs)
    if (auto found = check_order(program, by_order)) return found;
  return std::nullopt;
}

}  // namespace shoal
