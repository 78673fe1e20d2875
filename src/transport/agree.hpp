// Small reductions over a transport, waiting as politely as an exchange does.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/failure.hpp"
#include "transport/transport.hpp"
#include "transport/waiting.hpp"

namespace shoal {

enum class combine : std::uint8_t { sum, maximum };

class agreement {
 public:
  static constexpr std::size_t most_values = 16;

  // No exchange may be under way on the transport while an agreement runs.
  agreement(transport& over, waiting& wait) : over_(over), wait_(wait) { arrived_.reserve(2); }

  // Combines values[i] of all ranks by combined[i]; every rank gets the result. Recursive doubling. Throws
  // std::invalid_argument above most_values, and what failed when all messages have ended; again where one was abandoned.
  void reach(std::span<std::int64_t> values, std::span<const combine> combined);

  // How many so far.
  std::int64_t reached() const { return reached_; }

  // True on every rank when all pass the same value.
  bool same_everywhere(std::uint64_t value);

  // Whether it holds on some rank.
  bool on_any_rank(bool here);

  // The messages one after another that it takes: floor(log2 P), two more when P is no power of two.
  static int rounds(int ranks);

 private:
  void reduce();
  void take_in(int peer, bool send_mine);
  void transfer(int peer, bool sends, bool receives);

  struct messages {
    std::array<std::int64_t, most_values> mine{}, theirs{};
  };

  transport& over_;
  waiting& wait_;
  std::span<std::int64_t> values_;
  std::span<const combine> combined_;
  std::unique_ptr<messages> at_ = std::make_unique<messages>();
  bool abandoned_ = false;  // one of them, so that a later agreement may get it
  std::vector<ended_transfer> arrived_;
  first_failure failure_;
  std::int64_t reached_ = 0;
};

}  // namespace shoal
