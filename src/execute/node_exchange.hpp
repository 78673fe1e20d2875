// Runs exchanges with the help of the memory that the ranks of each node share.
#pragma once

#include <chrono>
#include <memory>

#include "execute/direct_exchange.hpp"
#include "execute/exchange.hpp"
#include "topology/node_layout.hpp"
#include "transport/node_transport.hpp"
#include "transport/shared_memory.hpp"
#include "transport/waiting.hpp"

namespace shoal {

// Whether the system lets this process read the memory of the process that made `where`.
bool may_read(const shared_memory::key& where);

class node_exchange {
 public:
  // How large the memory is: it has room for this many bytes in a rank's row, and in a message. Longer rows and
  // messages get through as well, but slower.
  struct room {
    std::size_t row = node_rows::any, message = node_window::any;

    // For any schedule in which a rank sends and receives at most this many bytes in an exchange.
    static room of_any(std::size_t most) { return {most, most}; }
    // For exchanges without a schedule only. Most of the data travels in rows. Messages carry only what does not fit
    // there, and have room for a block of average size; larger blocks travel in segments.
    static room of_direct(std::size_t most, int ranks);
    // For schedules. The rows are only for small exchanges, such as agreements.
    static room of_schedules(std::size_t most, int ranks);
    std::size_t bytes(int ranks) const;
  };
  // Collective over `below`: sets up the memory of every node. If a rank cannot, all ranks throw the same
  // std::system_error, and no node has such memory. `nodes` must stay.
  node_exchange(memory_pool& pool, transport& below, waiting& wait, const node_layout& nodes, room size);
  // Memory that all ranks of the one node have mapped. `readable`: each of them may read the others' own memory.
  struct mapped {
    shared_memory memory;
    bool readable;
    room size;
  };
  node_exchange(memory_pool& pool, transport& below, waiting& wait, const node_layout& nodes, mapped given);

  // As in `exchange`.
  void record_phases(phase_clock* clock) {
    exchange_.record_phases(clock);
    direct_.record_phases(clock);
  }

  // These are as in `exchange`.
  void set_tags(tag_range tags) { exchange_.set_tags(tags); }
  void start(const linked_schedule& steps, const payload& what);
  // Called instead of start() on a rank that takes no part.
  void skip(const linked_schedule& steps);
  bool progress(bool& moved);
  void run_to_end();
  const std::exception_ptr& failure() const { return direct_now_ ? direct_.failure() : exchange_.failure(); }

 private:
  // What the ranks of the node have in common.
  struct common {
    shared_memory memory;
    std::size_t read_from;  // as in node_window
  };
  node_exchange(memory_pool& pool, transport& below, waiting& wait, const node_layout& nodes, room size, common opened);
  static common open_together(std::span<const int> ranks, room size, transport& over, waiting& wait);

  bool is_direct(const linked_schedule& steps) const;
  void run_directly_to_end();
  void move_others();
  void move_others_at_end();
  int ranks_in() const { return static_cast<int>(ranks_.size()); }

  transport& below_;
  waiting& wait_;
  std::span<const int> ranks_;  // of this node
  bool one_node_;
  bool direct_now_ = false;  // whether the exchange under way has no schedule, and is that of direct_
  common common_;
  node_window window_;
  node_rows rows_;
  node_transport over_;
  exchange exchange_;
  direct_exchange direct_;
  std::vector<ended_transfer> ended_;
  unsigned idle_ = 0;                              // polls that moved nothing
  std::chrono::steady_clock::time_point moved_{};  // when move_others_at_end() last moved others
};

}  // namespace shoal
