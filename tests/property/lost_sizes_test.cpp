// Exchanges in which a rank does not hear the sizes of blocks that pass it: they end, and those after them are right.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "algorithms/algorithm.hpp"
#include "execute/exchange.hpp"
#include "transport/memory_transport.hpp"

namespace shoal {
namespace {

// Nothing of one message arrives.
class losing final : public transport {
 public:
  explicit losing(std::unique_ptr<transport> below) : below_(std::move(below)) {}
  // The next one; null: its receiver is not told why.
  void lose_one(std::exception_ptr failure) {
    ticket_ = next;
    failure_ = std::move(failure);
  }

  int ranks() const override { return below_->ranks(); }
  int rank() const override { return below_->rank(); }
  int highest_tag() const override { return below_->highest_tag(); }
  void send(int peer, int tag, const std::byte* data, std::size_t bytes, int ticket) override {
    below_->send(peer, tag, data, bytes, ticket);
  }
  void receive(int peer, int tag, std::byte* data, std::size_t capacity, int ticket) override {
    if (ticket_ == next) {
      ticket_ = ticket;
      elsewhere_.resize(capacity);
      data = elsewhere_.data();
    }
    below_->receive(peer, tag, data, capacity, ticket);
  }
  void poll(std::vector<ended_transfer>& ended) override {
    below_->poll(ended);
    for (ended_transfer& one : ended)
      if (one.ticket == ticket_) one = {std::exchange(ticket_, none), 0, std::move(failure_)};
  }

 private:
  static constexpr int none = -1, next = -2;
  std::unique_ptr<transport> below_;
  std::vector<std::byte> elsewhere_;
  std::exception_ptr failure_;
  int ticket_ = none;
};

// Ranks that repeat an exchange by tuna:radix=2, so that rank 1 passes a block of rank 0 on.
class repeated {
 public:
  static constexpr int ranks = 4;

  repeated() {
    problem at;
    at.ranks = ranks;
    for (int r = 0; r < ranks; ++r)
      all_.push_back(std::make_unique<rank>(network_.connect(r), generate(parse_selection("tuna:radix=2"), at, r)));
  }

  losing& line(int r) { return all_[r]->over; }
  bool has_failed(int r) const { return static_cast<bool>(all_[r]->moves.failure()); }
  std::size_t unmatched() const { return network_.unmatched(); }

  // Blocks of so many bytes, of which ranks know their own alone. Whether it ends on all ranks.
  bool run(std::size_t bytes) {
    for (int r = 0; r < ranks; ++r) all_[r]->start(r, bytes);
    for (int i = 0; i < 100; ++i)
      for (auto& one : all_) {
        bool moved = false;
        one->moves.progress(moved);
      }
    return std::all_of(all_.begin(), all_.end(), [](const auto& one) { return one->moves.done(); });
  }
  bool is_right(std::size_t bytes) const {
    for (int r = 0; r < ranks; ++r)
      for (int o = 0; o < ranks; ++o)
        if (has_failed(r) || all_[r]->recv[o * bytes] != content(o, r)) return false;
    return true;
  }

 private:
  static std::byte content(int origin, int destination) {
    return static_cast<std::byte>(1 + origin * ranks + destination);
  }

  struct rank {
    losing over;
    memory_pool pool;
    program steps;
    exchange moves{pool, over};
    std::vector<std::byte> send, recv;

    rank(std::unique_ptr<transport> below, schedule how) : over(std::move(below)), steps(std::move(how)) {}
    void start(int r, std::size_t bytes) {
      send.clear();
      for (int d = 0; d < ranks; ++d) send.insert(send.end(), bytes, content(r, d));
      recv.assign(ranks * bytes, std::byte{});
      const auto size = static_cast<std::int64_t>(bytes);
      payload what;
      what.send.base = send.data();
      what.recv.base = recv.data();
      what.send.counts = what.recv.counts = number_array::linear(size, 0);
      what.send.displacements = what.recv.displacements = number_array::linear(0, size);
      moves.start(steps, what);
    }
  };

  memory_network network_{ranks};
  std::vector<std::unique_ptr<rank>> all_;
};

// No other rank knows that the sizes did not arrive, so none may rely on what it heard itself.
TEST(LostSizes, ARunAfterOneInWhichTheyFailedIsRight) {
  repeated all;
  all.line(1).lose_one(std::make_exception_ptr(std::runtime_error("a transfer fails")));
  ASSERT_TRUE(all.run(100));
  EXPECT_TRUE(all.has_failed(1));
  EXPECT_TRUE(all.has_failed(3)) << "it gets the block of rank 0 by way of rank 1";
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(all.run(100));
    EXPECT_TRUE(all.is_right(100));
  }
}

// As where a node's memory has it that its sender has gone on: memory of an earlier message says that data follow.
TEST(LostSizes, AMessageWithoutAnyIsNotReadAsTheOneBefore) {
  repeated all;
  ASSERT_TRUE(all.run(20000));
  EXPECT_TRUE(all.is_right(20000));
  all.line(1).lose_one(nullptr);
  ASSERT_TRUE(all.run(100));
  EXPECT_TRUE(all.has_failed(1));
  EXPECT_EQ(all.unmatched(), 0u);
  ASSERT_TRUE(all.run(100));
  EXPECT_TRUE(all.is_right(100));
}

}  // namespace
}  // namespace shoal
