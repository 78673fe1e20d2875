// One rank's part of an allgather between two groups: each of the first ranks sends one message to all others. All
// messages have the same size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "buffer_size.hpp"

namespace shoal::bench {

inline std::string group_sizes(int senders, int ranks) {
  return std::to_string(senders) + " to " + std::to_string(ranks - senders);
}

class group_workload {
 public:
  group_workload(int senders, std::int64_t size, int rank)
      : memory(static_cast<std::size_t>(rank < senders ? 1 : senders) * static_cast<std::size_t>(counted(size))),
        senders_(senders),
        rank_(rank),
        size_(counted(size)) {}

  std::vector<std::byte> memory;  // what this rank sends or receives

  bool sends() const { return rank_ < senders_; }
  int size() const { return size_; }
  void fill() { std::fill(memory.begin(), memory.end(), sends() ? mark(rank_) : std::byte{0}); }
  std::string wrong() const {
    for (std::size_t i = 0; !sends() && i < memory.size(); ++i)
      if (memory[i] != mark(static_cast<int>(i / size_)))
        return "rank " + std::to_string(rank_) + ": byte " + std::to_string(i) + " is wrong";
    return {};
  }

 private:
  static std::byte mark(int sender) { return static_cast<std::byte>(sender % 251 + 1); }

  int senders_, rank_, size_;
};

}  // namespace shoal::bench
