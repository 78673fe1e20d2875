// Each rank sends blocks to whom it likes, over the in-memory transport: with any number of ranks, radix and pattern,
// and messages that arrive in any order.
#include "execute/sparse_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <random>
#include <thread>

#include "memory_transport.hpp"

namespace shoal {
namespace {

// Ranks are threads here, and only one of them at a time may use the network.
class locked final : public transport {
 public:
  locked(std::unique_ptr<transport> below, std::mutex& lock) : below_(std::move(below)), lock_(lock) {}
  int ranks() const override { return below_->ranks(); }
  int rank() const override { return below_->rank(); }
  int highest_tag() const override { return below_->highest_tag(); }
  void send(int peer, int tag, const std::byte* data, std::size_t bytes, int ticket) override {
    const std::scoped_lock alone(lock_);
    below_->send(peer, tag, data, bytes, ticket);
  }
  void receive(int peer, int tag, std::byte* data, std::size_t capacity, int ticket) override {
    const std::scoped_lock alone(lock_);
    below_->receive(peer, tag, data, capacity, ticket);
  }
  void poll(std::vector<ended_transfer>& ended) override {
    const std::scoped_lock alone(lock_);
    below_->poll(ended);
  }

 private:
  std::unique_ptr<transport> below_;
  std::mutex& lock_;
};

struct block {
  int origin, destination;
  std::vector<std::byte> data;
};
using pattern = std::vector<block>;

pattern random_pattern(std::mt19937& random, int ranks) {
  pattern all;
  const unsigned most = random() % 4 == 0 ? 0 : random() % (2 * ranks) + 1, largest = random() % 2 ? 50 : 5000;
  for (int o = 0; o < ranks; ++o)
    for (unsigned i = random() % (most + 1); i > 0; --i) {
      std::vector<std::byte> data(random() % 3 ? random() % largest : 0);
      for (std::byte& one : data) one = static_cast<std::byte>(random());
      all.push_back({o, static_cast<int>(random() % ranks), std::move(data)});
    }
  return all;
}

// The sources and bytes that a rank got must be those that the definition gives it.
void expect_arrived(const arrived_blocks& got, const pattern& all, int rank) {
  std::vector<int> sources;
  std::vector<std::byte> data;
  for (const block& one : all) {
    if (one.destination != rank) continue;
    sources.push_back(one.origin);
    data.insert(data.end(), one.data.begin(), one.data.end());
  }
  EXPECT_EQ(got.sources, sources);
  std::size_t bytes = 0;
  for (const std::size_t one : got.bytes) bytes += one;
  ASSERT_EQ(bytes, data.size());
  EXPECT_TRUE(std::equal(data.begin(), data.end(), got.data.get()));
}

// Runs the body on all ranks at once, each with its own transport.
template <typename Body>
void on_all_ranks(memory_network& network, int ranks, Body body) {
  std::mutex lock;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      locked over(network.connect(rank), lock);
      waiting wait(wait_mode::yield);
      body(rank, over, wait);
    });
  for (std::thread& one : threads) one.join();
}

// Makes several exchanges one after the other. No rank waits for the others in between. The rank `failing` cannot take
// part in the first exchange.
void perform(std::mt19937& random, int ranks, int radix, std::size_t most_inside, int failing = -1) {
  memory_network network(ranks, {static_cast<std::uint32_t>(random()), random() % 2 == 0, 0.3});
  std::vector<pattern> patterns;
  for (int i = 0; i < 3; ++i) patterns.push_back(random_pattern(random, ranks));
  on_all_ranks(network, ranks, [&](int rank, transport& over, waiting& wait) {
    sparse_exchange exchange(over, wait, radix, most_inside);
    for (const pattern& all : patterns) {
      std::vector<outgoing_block> mine;
      for (const block& one : all)
        if (one.origin == rank) mine.push_back({one.destination, one.data.data(), one.data.size()});
      arrived_blocks got;
      const bool fails = failing >= 0 && &all == &patterns[0];
      EXPECT_EQ(exchange.run(mine, fails && rank == failing, got), !fails);
      if (!fails) expect_arrived(got, all, rank);
    }
  });
  EXPECT_EQ(network.unmatched(), 0U);
}

TEST(SparseExchange, AnyPatternArrives) {
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    const int ranks = 1 + static_cast<int>(random() % 20), radix = 2 + static_cast<int>(random() % 7);
    SCOPED_TRACE(std::to_string(ranks) + " ranks, radix " + std::to_string(radix));
    perform(random, ranks, radix, random() % 2 ? 100 : 1024);
  }
}

// The exchange fails on all ranks, and the next one is right.
TEST(SparseExchange, OneRankThatCannotTakePartIsEveryonesFailure) {
  std::mt19937 random(2);
  for (int ranks = 1; ranks <= 17; ++ranks) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks");
    perform(random, ranks, 2 + ranks % 3, 100, static_cast<int>(random() % ranks));
  }
}

// A transport on which one message fails: the first that rank 1 receives with this tag.
class failing final : public transport {
 public:
  failing(std::unique_ptr<transport> below, int tag) : below_(std::move(below)), tag_(tag) {}
  int ranks() const override { return below_->ranks(); }
  int rank() const override { return below_->rank(); }
  int highest_tag() const override { return below_->highest_tag(); }
  void send(int peer, int tag, const std::byte* data, std::size_t bytes, int ticket) override {
    below_->send(peer, tag, data, bytes, ticket);
  }
  void receive(int peer, int tag, std::byte* data, std::size_t capacity, int ticket) override {
    if (tag == tag_ && rank() == 1 && fails_ == none) fails_ = ticket;
    below_->receive(peer, tag, data, capacity, ticket);
  }
  void poll(std::vector<ended_transfer>& ended) override {
    below_->poll(ended);
    for (ended_transfer& one : ended)
      if (std::exchange(fails_, one.ticket == fails_ ? over : fails_) == one.ticket)
        one.failure = std::make_exception_ptr(std::runtime_error("a transfer fails"));
  }

 private:
  static constexpr int none = -1, over = -2;
  std::unique_ptr<transport> below_;
  int tag_, fails_ = none;
};

TEST(SparseExchange, WhoeverHearsOfARankLaterHearsThatPartOfAMessageFailedThere) {
  constexpr int ranks = 4;
  memory_network network(ranks);
  std::vector<std::unique_ptr<failing>> lines;
  std::vector<std::unique_ptr<parcel_router>> routers;
  const std::vector<std::byte> block(10000);
  for (int rank = 0; rank < ranks; ++rank) {
    lines.push_back(std::make_unique<failing>(network.connect(rank), 1));
    routers.push_back(std::make_unique<parcel_router>(*lines.back(), 2, 0));
  }
  for (int rank = 0; rank < ranks; ++rank) {
    parcels held(block.size());
    held.add({rank, (rank + 1) % ranks, block.size()}, block.data());
    routers[rank]->start(std::move(held), false);
  }
  for (int i = 0; i < 100; ++i)
    for (auto& one : routers) {
      bool moved = false;
      one->progress(moved);
    }
  for (const int rank : {1, 3}) EXPECT_TRUE(routers[rank]->failure()) << rank;
  for (const auto& one : routers) EXPECT_FALSE(one->refused()) << "nobody's arguments are wrong";
}

// Ranks that have not heard of the failure wait for blocks that go straight to them. Messages are eager, because nobody
// receives the blocks that the failed message announced.
TEST(SparseExchange, ATransferThatFailsKeepsNobodyFromSendingWhatOthersWaitFor) {
  constexpr int ranks = 4, rests_of_parcels = 3;
  memory_network network(ranks, {1, true});
  waiting wait;
  std::vector<std::unique_ptr<failing>> lines;
  std::vector<std::unique_ptr<sparse_exchange>> all;
  pattern blocks;
  for (int rank = 0; rank < ranks; ++rank)
    for (const std::size_t bytes : {9000, 20000})  // inside a parcel, and straight to the rank
      blocks.push_back({rank, (rank + 1) % ranks, std::vector<std::byte>(bytes, static_cast<std::byte>(rank))});
  for (int rank = 0; rank < ranks; ++rank) {
    lines.push_back(std::make_unique<failing>(network.connect(rank), rests_of_parcels));
    all.push_back(std::make_unique<sparse_exchange>(*lines.back(), wait, 2, 10000));
  }
  std::vector<std::vector<outgoing_block>> sent(ranks);
  for (const block& one : blocks) sent[one.origin].push_back({one.destination, one.data.data(), one.data.size()});
  for (int rank = 0; rank < ranks; ++rank) all[rank]->start(sent[rank], false);
  std::array<bool, ranks> done{};
  for (int i = 0; i < 100; ++i)
    for (int rank = 0; rank < ranks; ++rank) {
      bool moved = false;
      if (!done[rank]) done[rank] = all[rank]->progress(moved);
    }
  for (int rank = 0; rank < ranks; ++rank) {
    SCOPED_TRACE("rank " + std::to_string(rank));
    EXPECT_TRUE(done[rank]);
    EXPECT_EQ(static_cast<bool>(all[rank]->failure()), rank == 1 || rank == 3);
    arrived_blocks got;
    EXPECT_TRUE(all[rank]->take(got));
    expect_arrived(got, rank == 1 ? pattern() : blocks, rank);
  }
}

TEST(SparseExchange, SendsALogarithmOfMessages) {
  for (const int ranks : {2, 8, 13}) {
    memory_network network(ranks, {1, true});
    on_all_ranks(network, ranks, [&](int rank, transport& over, waiting& wait) {
      arrived_blocks got;
      const std::byte one{};
      const std::vector<outgoing_block> mine(3, {(rank + 5) % ranks, &one, 1});
      EXPECT_TRUE(sparse_exchange(over, wait).run(mine, false, got));
      EXPECT_EQ(got.sources.size(), 3U);
    });
    EXPECT_EQ(network.messages(), ranks * std::bit_width(static_cast<unsigned>(ranks - 1)));
  }
}

}  // namespace
}  // namespace shoal
