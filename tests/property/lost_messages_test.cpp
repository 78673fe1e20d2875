// Exchanges in which messages are lost on one rank. They end, and later exchanges are right.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <memory>
#include <utility>

#include "algorithms/algorithm.hpp"
#include "execute/exchange.hpp"
#include "memory_transport.hpp"

namespace shoal {
namespace {

std::exception_ptr failure() { return std::make_exception_ptr(std::runtime_error("a transfer fails")); }

// A transport that loses one message, or abandons what is under way.
class losing final : public transport {
 public:
  explicit losing(std::unique_ptr<transport> below) : below_(std::move(below)) {}
  // Loses the next message that this rank receives. If `why` is null, the rank is not told why.
  void lose_one(std::exception_ptr why) {
    ticket_ = next;
    failure_ = std::move(why);
  }
  // Abandons what is started until the next poll. Receives are cancelled. Sends end some day, but nobody hears of that.
  void abandon() { abandons_ = true; }

  int ranks() const override { return below_->ranks(); }
  int rank() const override { return below_->rank(); }
  int highest_tag() const override { return below_->highest_tag(); }
  void send(int peer, int tag, const std::byte* data, std::size_t bytes, int ticket) override {
    keep(data);
    below_->send(peer, tag, data, bytes, abandons_ ? unheard : ticket);
    if (abandons_) abandoned_.push_back({ticket, 0, failure(), true});
  }
  void receive(int peer, int tag, std::byte* data, std::size_t capacity, int ticket) override {
    keep(data);
    if (abandons_) return abandoned_.push_back({ticket, 0, failure(), true});
    if (ticket_ == next) {
      ticket_ = ticket;
      elsewhere_.resize(capacity);
      data = elsewhere_.data();
    }
    below_->receive(peer, tag, data, capacity, ticket);
  }
  void poll(std::vector<ended_transfer>& ended) override {
    abandons_ = false;
    below_->poll(ended);
    std::erase_if(ended, [](const ended_transfer& one) { return one.ticket == unheard; });
    ended.insert(ended.end(), abandoned_.begin(), abandoned_.end());
    abandoned_.clear();
    for (ended_transfer& one : ended)
      if (one.ticket == ticket_) one = {std::exchange(ticket_, none), 0, std::move(failure_)};
  }

 private:
  static constexpr int none = -1, next = -2, unheard = -3;
  // Memory that the MPI may go on using, so that nobody frees it if the exchange is abandoned. Leak checkers, which come
  // last, find it here.
  static void keep(const std::byte* data) {
    static std::vector<const std::byte*>& in_use = *new std::vector<const std::byte*>;
    in_use.push_back(data);
  }
  std::unique_ptr<transport> below_;
  std::vector<std::byte> elsewhere_;
  std::exception_ptr failure_;
  int ticket_ = none;
  bool abandons_ = false;
  std::vector<ended_transfer> abandoned_;
};

// Ranks that repeat an exchange by tuna:radix=2, so that rank 1 passes a block of rank 0 on.
class repeated {
 public:
  static constexpr int ranks = 4;

  explicit repeated(bool eager = false) : network_(ranks, {1, eager}) {
    problem at;
    at.ranks = ranks;
    for (int r = 0; r < ranks; ++r)
      all_.push_back(std::make_unique<rank>(network_.connect(r), generate(parse_selection("tuna:radix=2"), at, r)));
  }

  losing& line(int r) { return all_[r]->over; }
  memory_pool& pool(int r) { return all_[r]->pool; }
  bool has_failed(int r) const { return static_cast<bool>(all_[r]->moves.failure()); }
  std::size_t unmatched() const { return network_.unmatched(); }

  // Exchanges blocks of so many bytes, of which each rank knows only its own. Returns whether that ends on all ranks.
  bool run(std::size_t bytes) {
    ++number_;
    for (int r = 0; r < ranks; ++r) start(r, bytes);
    return end();
  }
  void set_tags(tag_range tags) {
    for (auto& one : all_) one->moves.set_tags(tags);
  }
  void start(int r, std::size_t bytes) { all_[r]->start(*this, r, bytes); }
  bool end() {
    for (int i = 0; i < 100; ++i)
      for (auto& one : all_) {
        bool moved = false;
        one->moves.progress(moved);
      }
    return std::all_of(all_.begin(), all_.end(), [](const auto& one) { return one->moves.done(); });
  }
  bool is_right(std::size_t bytes) const {
    for (int r = 0; r < ranks; ++r)
      if (has_failed(r) || !is_right_on(r, bytes)) return false;
    return true;
  }
  bool is_right_on(int r, std::size_t bytes) const {
    for (int o = 0; o < ranks; ++o)
      if (all_[r]->recv[o * bytes] != content(o, r)) return false;
    return true;
  }

 private:
  std::byte content(int origin, int destination) const {
    return static_cast<std::byte>(1 + number_ * ranks * ranks + origin * ranks + destination);
  }

  struct rank {
    losing over;
    memory_pool pool;
    linked_schedule steps;
    exchange moves{pool, over};
    std::vector<std::byte> send, recv;

    rank(std::unique_ptr<transport> below, schedule how) : over(std::move(below)), steps(std::move(how)) {}
    void start(const repeated& in, int r, std::size_t bytes) {
      send.clear();
      for (int d = 0; d < ranks; ++d) send.insert(send.end(), bytes, in.content(r, d));
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

  memory_network network_;
  int number_ = 0;
  std::vector<std::unique_ptr<rank>> all_;
};

// No other rank knows that the sizes did not arrive, so no rank may rely on sizes that it heard in an earlier run. Large
// blocks come in a message of their own, which nobody receives in that run.
TEST(LostMessages, NothingWrongIsTakenInARunAfterOneInWhichSizesFailed) {
  for (const std::size_t bytes : {100, 20000}) {
    repeated all(true);
    all.line(1).lose_one(failure());
    ASSERT_TRUE(all.run(bytes));
    EXPECT_TRUE(all.has_failed(1));
    EXPECT_TRUE(all.has_failed(3)) << "it gets the block of rank 0 by way of rank 1";
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(all.run(bytes));
      for (int r = 0; r < repeated::ranks; ++r) EXPECT_TRUE(all.has_failed(r) || all.is_right_on(r, bytes)) << r;
    }
    all.set_tags({100, 10});
    ASSERT_TRUE(all.run(bytes));
    EXPECT_TRUE(all.is_right(bytes));
  }
}

// A message of a node arrives empty if its sender has gone on. The memory for it still holds an earlier message, which
// says that data follow.
TEST(LostMessages, OneWithoutSizesIsNotReadAsTheOneBefore) {
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

// The message of the run before comes in the next run with the same tag, and nobody can tell the two apart.
TEST(LostMessages, WhatComesInARunBehindOneThatWasAbandonedIsTakenForNothing) {
  repeated all(true);
  all.line(1).abandon();
  ASSERT_TRUE(all.run(100));
  EXPECT_TRUE(all.has_failed(1));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(all.run(100));
    EXPECT_TRUE(all.has_failed(1));
    for (int r = 0; r < repeated::ranks; ++r) EXPECT_TRUE(all.has_failed(r) || all.is_right_on(r, 100)) << r;
  }
  all.set_tags({100, 10});
  ASSERT_TRUE(all.run(100));
  EXPECT_TRUE(all.is_right(100));
}

// The abandoned message leaves after others have used the pool for their messages.
TEST(LostMessages, MemoryOfOneThatWasAbandonedHasNoOtherUse) {
  repeated all;
  all.line(0).abandon();
  all.start(0, 100);
  all.end();
  ASSERT_TRUE(all.has_failed(0));
  std::list<pool_memory> others;
  for (std::size_t bytes = 50; bytes < 30000; bytes += bytes / 20)
    std::fill_n(others.emplace_back(all.pool(0), bytes).data(), bytes, std::byte{0xFF});
  for (int r = 1; r < repeated::ranks; ++r) all.start(r, 100);
  all.end();
  EXPECT_FALSE(all.has_failed(1));
  EXPECT_TRUE(all.is_right_on(1, 100));
}

}  // namespace
}  // namespace shoal
