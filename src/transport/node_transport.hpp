// Moves messages inside a node through the memory that its ranks share, and others over another transport. Messages in
// memory match in the order in which they were started.
#pragma once

#include <span>
#include <vector>

#include "transport/node_window.hpp"
#include "transport/transport.hpp"

namespace shoal {

class node_transport final : public transport {
 public:
  // `ranks`: the ranks of `below` that are in the window, by their place there.
  node_transport(transport& below, node_window& window, std::span<const int> ranks);

  int ranks() const override { return below_.ranks(); }
  int rank() const override { return below_.rank(); }
  int highest_tag() const override { return below_.highest_tag(); }
  bool matches_by_order(int peer) const override { return place_[peer] >= 0; }
  void reserve(std::size_t transfers) override;
  void send(int peer, int tag, const std::byte* data, std::size_t bytes, int ticket) override;
  void receive(int peer, int tag, std::byte* data, std::size_t capacity, int ticket) override;
  void poll(std::vector<ended_transfer>& ended) override;
  // Forgets what is under way of an exchange that an error while waiting has ended. Its messages are dropped once the
  // next exchange has begun.
  void forget();

 private:
  struct sending {
    int peer, ticket;
    node_window::outgoing message;
  };
  struct receiving {
    int peer, ticket;
    node_window::incoming message;
    std::size_t capacity;
  };
  static ended_transfer outcome(const sending& one) { return {one.ticket, 0, nullptr}; }
  static ended_transfer outcome(const receiving& one);
  template <typename Transfer, typename Move>
  void advance(std::vector<Transfer>& all, std::vector<ended_transfer>& ended, Move move);
  void poll_below(std::vector<ended_transfer>& ended);

  transport& below_;
  node_window& window_;
  std::vector<int> place_;  // each rank's place in the window; -1 if it is on another node
  std::vector<sending> sends_;
  std::vector<receiving> receives_;
  std::vector<char> stuck_;  // by place: an earlier transfer with this peer has not ended
  std::size_t below_under_way_ = 0;
  unsigned polls_ = 0;
};

}  // namespace shoal
