// Lets another rank run rank 0's program: peers and blocks get other names.
#pragma once

#include <vector>

#include "algorithms/relabelling.hpp"
#include "execute/exchange.hpp"
#include "transport/transport.hpp"

namespace shoal::bench {

class renamed_transport final : public transport {
 public:
  renamed_transport(transport& below, const relabelling& names) : below_(below), names_(names) {}

  int ranks() const override { return below_.ranks(); }
  int rank() const override { return 0; }
  int highest_tag() const override { return below_.highest_tag(); }
  void reserve(std::size_t transfers) override { below_.reserve(transfers); }
  void send(int peer, int tag, const std::byte* data, std::size_t bytes, int ticket) override {
    below_.send(names_(peer), tag, data, bytes, ticket);
  }
  void receive(int peer, int tag, std::byte* data, std::size_t capacity, int ticket) override {
    below_.receive(names_(peer), tag, data, capacity, ticket);
  }
  void poll(std::vector<ended_transfer>& ended) override { below_.poll(ended); }

 private:
  transport& below_;
  const relabelling& names_;
};

// A rank's blocks by the names in rank 0's program. Nobody looks at the memory, so only the sizes matter.
class renamed_blocks {
 public:
  renamed_blocks(const payload& blocks, const relabelling& names, int ranks) : all_(blocks) {
    all_.send.displacements = all_.recv.displacements = number_array::linear(0, 0);
    if (blocks.uniform) {
      const auto bytes = static_cast<std::int64_t>(*blocks.uniform);
      all_.send.counts = all_.recv.counts = number_array::linear(bytes, 0);
      return;
    }
    for (int name = 0; name < ranks; ++name) {
      sent_.push_back(static_cast<int>(blocks.send.counts[names(name)]));
      received_.push_back(static_cast<int>(blocks.recv.counts[names(name)]));
    }
    all_.send.counts = number_array(sent_.data());
    all_.recv.counts = number_array(received_.data());
  }
  renamed_blocks(const renamed_blocks&) = delete;
  renamed_blocks& operator=(const renamed_blocks&) = delete;

  const payload& blocks() const { return all_; }

 private:
  payload all_;
  std::vector<int> sent_, received_;
};

}  // namespace shoal::bench
