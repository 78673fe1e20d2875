// The transports of all ranks in one process, for tests. Transfers are delayed, and complete in any order.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

#include "transport/transport.hpp"

namespace shoal {

struct memory_network_options {
  std::uint32_t seed = 0;
  // Sends end when they are matched (rendezvous), or at once with a copy of the data (eager).
  bool eager = false;
  // A transfer that could end is held back at each poll with this probability.
  double delay = 0;
  // Of this rank hardly any transfer ends at a poll, even if it could. So all others wait for this rank.
  int slowest = -1;
};

// To be used from one thread. Make the transports of all ranks from it, and poll them in any order.
class memory_network {
 public:
  memory_network(int ranks, memory_network_options options = {});
  std::unique_ptr<transport> connect(int rank);

  // Messages and bytes that have been sent so far, and transfers that still wait for their other side.
  std::int64_t messages() const { return messages_; }
  std::int64_t bytes() const { return bytes_; }
  std::size_t unmatched() const;

 private:
  friend class memory_transport;
  struct end {
    int rank;
    int ticket;
    std::byte* data;
    std::size_t bytes;
    std::vector<std::byte> copy = {};  // eager data
    bool reported = false;             // an eager send has ended for its sender already
  };
  struct line {
    std::deque<end> sends, receives;
  };

  void send(int from, int to, int tag, const std::byte* data, std::size_t bytes, int ticket);
  void receive(int at, int from, int tag, std::byte* data, std::size_t capacity, int ticket);
  void match(line& l);
  void poll(int rank, std::vector<ended_transfer>& ended);

  int ranks_;
  memory_network_options options_;
  std::mt19937 random_;
  std::map<std::tuple<int, int, int>, line> lines_;  // from, to, tag
  std::vector<std::vector<ended_transfer>> ended_;   // by rank
  std::int64_t messages_ = 0, bytes_ = 0;
};

}  // namespace shoal
