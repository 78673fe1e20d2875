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

// Whether the system lets this process read the memory of the one that made it.
bool may_read(const shared_memory::key& where);

class node_exchange {
 public:
  // How large the memory is: for this many bytes in a rank's row, and in a message. More finds its way too, but slower.
  struct room {
    std::size_t row = node_rows::any, message = node_window::any;

    // For any schedule where a rank sends and receives at most this many bytes in an exchange.
    static room of_any(std::size_t most) { return {most, most}; }
    // For exchanges without a schedule only: rows take most of what fits there. Messages are what is left, each as large as a
    // block would be if all were alike; larger ones travel in pieces.
    static room of_direct(std::size_t most, int ranks);
    // For schedules, with rows for what is small, as agreements are.
    static room of_schedules(std::size_t most, int ranks);
    std::size_t bytes(int ranks) const;
  };
  // Collective over `below`: sets the memory of every node up. Throws std::system_error, the same on every rank, when
  // one of them cannot; then nobody has any. `nodes` must stay.
  node_exchange(memory_pool& pool, transport& below, waiting& wait, const node_layout& nodes, room size);
  // Memory that all ranks of the one node have mapped; `readable`: each may read the memory of the others.
  struct mapped {
    shared_memory memory;
    bool readable;
    room size;
  };
  node_exchange(memory_pool& pool, transport& below, waiting& wait, const node_layout& nodes, mapped given);

  // As of exchange.
  void record_phases(phase_clock* clock) {
    exchange_.record_phases(clock);
    direct_.record_phases(clock);
  }

  // As those of exchange.
  void set_tags(tag_range tags) { exchange_.set_tags(tags); }
  void start(const program& how, const payload& what);
  // Instead of start(), on a rank that takes no part.
  void skip(const program& how);
  bool progress(bool& moved);
  void run_to_end();
  const std::exception_ptr& failure() const { return direct_now_ ? direct_.failure() : exchange_.failure(); }

 private:
  // What the ranks of the node have in common.
  struct common {
    shared_memory memory;
    std::size_t read_from;  // as of node_window
  };
  node_exchange(memory_pool& pool, transport& below, waiting& wait, const node_layout& nodes, room size, common opened);
  static common open_together(std::span<const int> ranks, room size, transport& over, waiting& wait);

  bool is_direct(const program& how) const;
  void run_directly_to_end();
  void move_others();
  void move_others_at_end();
  int ranks_in() const { return static_cast<int>(ranks_.size()); }

  transport& below_;
  waiting& wait_;
  std::span<const int> ranks_;  // of this node
  bool one_node_;
  bool direct_now_ = false;  // the exchange under way, without a schedule
  common common_;
  node_window window_;
  node_rows rows_;
  node_transport over_;
  exchange exchange_;
  direct_exchange direct_;
  std::vector<ended_transfer> ended_;
  unsigned idle_ = 0;                              // looks in vain
  std::chrono::steady_clock::time_point moved_{};  // when others were, at an end
};

}  // namespace shoal
