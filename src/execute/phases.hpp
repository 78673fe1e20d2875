// Where the time of an exchange goes: the breakdown of the TuNA paper, for people who ask for it.
//
// One clock runs through an exchange. Whenever something ends, lap() adds the time since the lap before to the phase
// that has ended. So the phases add up to the whole time, and time spent waiting belongs to what ends next.
#pragma once

#include <array>
#include <chrono>

#include "topology/node_layout.hpp"

namespace shoal {

// prepare: until the first operation. metadata: messages of sizes alone. data: messages of blocks, with sizes in front
// if any. replace: blocks put together for a message, or moved within scratch memory. rearrange: blocks put where the
// user wants them. inter_node: all messages between nodes.
enum class phase { prepare, metadata, data, replace, rearrange, inter_node };

constexpr std::array phase_names{"prepare", "metadata", "data", "replace", "rearrange", "inter-node"};
using phase_seconds = std::array<double, phase_names.size()>;

class phase_clock {
 public:
  // `nodes`, if any, must stay.
  phase_clock(const node_layout* nodes, int rank) : nodes_(nodes), node_(nodes ? nodes->node_of(rank) : 0) {}

  void begin() {
    seconds_ = {};
    last_ = clock::now();
  }
  void lap(phase p) {
    const clock::time_point now = clock::now();
    seconds_[static_cast<std::size_t>(p)] += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  phase of_message(int peer, bool sizes_alone) const {
    if (nodes_ && nodes_->node_of(peer) != node_) return phase::inter_node;
    return sizes_alone ? phase::metadata : phase::data;
  }
  // Since begin().
  const phase_seconds& seconds() const { return seconds_; }

 private:
  using clock = std::chrono::steady_clock;

  const node_layout* nodes_;
  int node_;
  clock::time_point last_{};
  phase_seconds seconds_{};
};

}  // namespace shoal
