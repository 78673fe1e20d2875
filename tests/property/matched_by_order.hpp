// A transport that promises what the memory of a node promises, and no more: messages between two of the node's ranks
// match in the order in which they are started, whatever their tags.
#pragma once

#include "topology/node_layout.hpp"
#include "transport/transport.hpp"

namespace shoal::testing {

class matched_by_order final : public transport {
 public:
  matched_by_order(transport& below, const node_layout& nodes) : below_(below), nodes_(nodes) {}

  int ranks() const override { return below_.ranks(); }
  int rank() const override { return below_.rank(); }
  int highest_tag() const override { return below_.highest_tag() - 1; }
  bool matches_by_order(int peer) const override { return nodes_.node_of(peer) == nodes_.node_of(rank()); }
  void send(int peer, int tag, const std::byte* data, std::size_t bytes, int ticket) override {
    below_.send(peer, tag_for(peer, tag), data, bytes, ticket);
  }
  void receive(int peer, int tag, std::byte* data, std::size_t capacity, int ticket) override {
    below_.receive(peer, tag_for(peer, tag), data, capacity, ticket);
  }
  void poll(std::vector<ended_transfer>& ended) override { below_.poll(ended); }

 private:
  int tag_for(int peer, int tag) const { return matches_by_order(peer) ? below_.highest_tag() : tag; }

  transport& below_;
  const node_layout& nodes_;
};

}  // namespace shoal::testing
