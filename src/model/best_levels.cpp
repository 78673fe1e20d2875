#include "model/best_levels.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "algorithms/digits.hpp"

namespace shoal {

namespace {

constexpr int batch = 32;  // the standard block_count of a linear exchange at the outermost level

// How the groups of some height exchange: on a ring whose members are their groups of height `inner` (0: single ranks).
// radix 0: linear.
struct ring_choice {
  int inner = 0, radix = 0;
  double seconds = std::numeric_limits<double>::infinity();  // including all levels inside
};

class level_search {
 public:
  level_search(const layout_tree& layout, double bytes, const machine_prices& machine, bool memory)
      : layout_(layout), bytes_(bytes), machine_(machine), memory_(memory), best_(layout.levels() + 1) {
    best_[0].seconds = 0;
    for (int outer = 1; outer <= layout.levels(); ++outer)
      for (int inner = 0; inner < outer; ++inner) consider(inner, outer);
  }

  priced_levels result() const { return {spec(), best_.back().seconds}; }

 private:
  bool inside(int level) const { return level < layout_.node_level(); }
  const level_price& price(int lvl) const {
    if (inside(lvl)) return machine_.of(memory_ ? level::memory : level::node);
    return machine_.of(lvl < layout_.group_level() ? level::network : level::groups);
  }

  void consider(int inner, int outer) {
    const int members = layout_.most_members(inner, outer);
    keep(inner, outer, 0, linear(inner, outer, members));
    if (memory_ && inside(outer - 1)) return;  // through memory only linear exchanges go
    for (int radix = 2; radix < members; ++radix) keep(inner, outer, radix, digits(outer, members, radix));
  }

  void keep(int inner, int outer, int radix, double seconds) {
    const double all = best_[inner].seconds + seconds;
    if (all < best_[outer].seconds) best_[outer] = {inner, radix, all};
  }

  // For each of the n members of a ring a rank holds P / n blocks. They travel in one message, so they are copied,
  // unless each is a message of its own.
  double bytes_of(int members, double blocks) const { return blocks * layout_.ranks() / members * bytes_; }
  double copies(int members, double blocks) const {
    return members == layout_.ranks() ? 0 : bytes_of(members, blocks) * machine_.per_copied_byte;
  }
  double sent(int lvl, double messages, double bytes) const {
    const int sharing = inside(lvl) ? 1 : layout_.largest_group(layout_.node_level());
    return price(lvl).per_message * messages + price(lvl).per_byte * bytes * sharing;
  }

  double linear(int inner, int outer, int members) const {
    double seconds = copies(members, members - 1);
    for (int lvl = inner; lvl < outer; ++lvl) {
      const int near = layout_.most_members(inner, lvl), peers = layout_.most_members(inner, lvl + 1) - near;
      if (peers == 0) continue;
      const int waits = outer == layout_.levels() ? (peers + batch - 1) / batch : 1;
      seconds += price(lvl).latency * waits + sent(lvl, peers, bytes_of(members, peers));
    }
    return seconds;
  }

  double digits(int outer, int members, int radix) const {
    const digit_system digits(members, radix);
    const auto messages = static_cast<double>(digits.steps()), blocks = static_cast<double>(digits.blocks());
    return price(outer - 1).latency * digits.digits() + sent(outer - 1, messages, bytes_of(members, blocks)) +
           bytes_of(members, blocks) * machine_.per_copied_byte;
  }

  std::string spec() const {
    const int outermost = layout_.levels() - 1;
    std::vector<std::string> local(outermost, "none"), radix(outermost, "auto");
    const ring_choice& top = best_.back();
    for (int height = top.inner; height > 0; height = best_[height].inner) {
      const ring_choice& used = best_[height];
      local[height - 1] = used.radix ? "radix" : memory_ && inside(height - 1) ? "shared" : "linear";
      if (used.radix) radix[height - 1] = std::to_string(used.radix);
    }
    const std::string global = top.radix ? ",global=radix,global_radix=" + std::to_string(top.radix) : "";
    return "hierarchical:local=" + joined(local) + ",radix=" + joined(radix) + global;
  }

  // Leaves out repeated values at the end: the last value holds for all further levels.
  static std::string joined(std::vector<std::string> values) {
    while (values.size() > 1 && values.back() == values[values.size() - 2]) values.pop_back();
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : "/") + value;
    return text;
  }

  const layout_tree& layout_;
  double bytes_;
  const machine_prices& machine_;
  bool memory_;                    // whether messages inside a node go through its memory
  std::vector<ring_choice> best_;  // by height
};

}  // namespace

priced_levels best_levels(const layout_tree& layout, double block_bytes, const machine_prices& machine) {
  const priced_levels messages = level_search(layout, block_bytes, machine, false).result();
  const priced_levels memory = level_search(layout, block_bytes, machine, true).result();
  priced_levels best = memory.seconds < messages.seconds ? memory : messages;
  best.spec = to_string(parse_selection(best.spec));
  return best;
}

}  // namespace shoal
