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

  // Combines values[i] of all ranks by combined[i], by recursive doubling. Every rank gets the result. Throws
  // std::invalid_argument if there are more than most_values. If something fails, throws the failure once all messages
  // have ended. After an abandoned message all later agreements throw it too.
  void reach(std::span<std::int64_t> values, std::span<const combine> combined);

  // How many agreements there were so far.
  std::int64_t reached() const { return reached_; }

  // True on every rank if all ranks pass the same value. The lowest bit does not count.
  bool same_everywhere(std::uint64_t value);

  // Whether `here` is true on some rank.
  bool on_any_rank(bool here);

  // How many messages follow one another in an agreement: floor(log2 P), and two more if P is not a power of two.
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
  bool abandoned_ = false;  // a message was, so a later agreement may receive it
  std::vector<ended_transfer> arrived_;
  first_failure failure_;
  std::int64_t reached_ = 0;
};

}  // namespace shoal
