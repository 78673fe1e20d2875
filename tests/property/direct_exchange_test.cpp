// Exchanges between the ranks of one node without a schedule. They deliver what the schedule `shared` delivers. If
// something goes wrong, every rank that does not get what it expects is told so, and no rank waits for ever.
#include "execute/direct_exchange.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>

#include "algorithms/algorithm.hpp"
#include "memory_transport.hpp"
#include "user_memory.hpp"

namespace shoal {
namespace {

using testing::unreadable;

// The ranks of a node, whose exchanges move in turn.
template <int ranks>
class node {
 public:
  using sizes = std::array<std::array<int, ranks>, ranks>;  // bytes of each rank's blocks for, or from, each other

  node()
      : memory_(window_bytes() + node_rows::bytes_for(ranks) + 64),
        begin_(memory_.data() + (64 - reinterpret_cast<std::uintptr_t>(memory_.data()) % 64) % 64) {
    for (int r = 0; r < ranks; ++r) all_.push_back(std::make_unique<rank>(begin_, r));
  }

  direct_exchange& operator[](int r) { return all_[r]->moves; }
  const std::vector<std::byte>& received(int r) const { return all_[r]->recv; }
  const memory_pool& pool(int r) const { return all_[r]->pool; }

  void start(int r, const sizes& sent, const sizes& expected, const packer* layout = nullptr) {
    std::fill(all_[r]->send.begin(), all_[r]->send.end(), static_cast<std::byte>(r + 1));
    start_with(all_[r]->send, r, sent, expected, layout);
  }
  void start_with(std::vector<std::byte>& send, int r, const sizes& sent, const sizes& expected,
                  const packer* layout = nullptr, const packer* received_layout = nullptr) {
    rank& mine = *all_[r];
    mine.window.begin_exchange();
    std::fill(mine.recv.begin(), mine.recv.end(), std::byte{0});
    payload what = blocks(send, mine.recv, sent[r], expected[r]);
    what.send.type.layout = layout;
    what.recv.type.layout = received_layout;
    mine.moves.start(what);
  }

  static constexpr int room = 100000;
  static payload blocks(std::vector<std::byte>& send, std::vector<std::byte>& recv, const std::array<int, ranks>& sent,
                        const std::array<int, ranks>& expected) {
    return {view(send, sent), view(recv, expected), {}};
  }

  // Moves the exchanges of all ranks. Returns whether those of the ranks in `some` end.
  bool end(std::initializer_list<int> some) {
    for (int idle = 0; idle < 100; ++idle) {
      if (std::all_of(some.begin(), some.end(), [&](int r) { return all_[r]->moves.done(); })) return true;
      for (auto& one : all_) {
        bool moved = false;
        if (one->moves.done()) continue;
        one->moves.progress(moved);
        if (moved) idle = 0;
        else one->moves.drop_stale();
      }
    }
    return false;
  }

 private:
  static std::size_t window_bytes() { return node_window::bytes_for(ranks); }
  static user_buffer view(std::vector<std::byte>& memory, const std::array<int, ranks>& counts) {
    user_buffer b;
    b.base = memory.data();
    b.counts = number_array(counts.data());
    b.displacements = number_array::linear(0, room);
    return b;
  }
  static std::array<int, ranks> every_rank() {
    std::array<int, ranks> all{};
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  struct rank {
    memory_pool pool;
    node_window window;
    node_rows rows;
    direct_exchange moves;
    std::vector<std::byte> send, recv;
    rank(std::byte* memory, int number)
        : window(memory, ranks, number),
          rows(memory + window_bytes(), ranks, number),
          moves(pool, rows, window, every_rank()),
          send(room * ranks),
          recv(room * ranks) {}
  };

  std::vector<std::byte> memory_;
  std::byte* begin_;
  std::vector<std::unique_ptr<rank>> all_;
};

using four = node<4>;
using memory = std::vector<std::byte>;

four::sizes random_sizes(std::mt19937& random) {
  constexpr int few[] = {0, 1, 8, 100, 5000, 60000, four::room};
  four::sizes all{};
  for (auto& of_rank : all)
    for (int& bytes : of_rank) bytes = few[random() % std::size(few)];
  return all;
}

four::sizes turned(const four::sizes& sent) {
  four::sizes received{};
  for (int from = 0; from < 4; ++from)
    for (int to = 0; to < 4; ++to) received[to][from] = sent[from][to];
  return received;
}

// What every rank receives by the schedule that direct copies stand for.
std::array<memory, 4> by_schedule(std::array<memory, 4>& send, const four::sizes& sent) {
  problem at;
  at.ranks = 4;
  memory_network network(4);
  memory_pool pool;
  const four::sizes expected = turned(sent);
  std::array<memory, 4> recv;
  std::vector<linked_schedule> programs;
  std::vector<std::unique_ptr<transport>> lines;
  std::vector<std::unique_ptr<exchange>> all;
  for (int r = 0; r < 4; ++r) programs.emplace_back(generate(parse_selection("shared"), at, r));
  for (int r = 0; r < 4; ++r) {
    recv[r].resize(send[r].size());
    lines.push_back(network.connect(r));
    all.push_back(std::make_unique<exchange>(pool, *lines[r]));
    all[r]->start(programs[r], four::blocks(send[r], recv[r], sent[r], expected[r]));
  }
  for (int round = 0; round < 100; ++round)
    for (auto& one : all) {
      bool moved = false;
      one->progress(moved);
    }
  for (auto& one : all) EXPECT_TRUE(one->done());
  return recv;
}

TEST(DirectExchange, DeliversWhatTheScheduleSharedDelivers) {
  std::mt19937 random(7);
  four all;
  std::array<memory, 4> send;
  for (int number = 0; number < 20; ++number) {
    const four::sizes sent = random_sizes(random), expected = turned(sent);
    for (int r = 0; r < 4; ++r) {
      send[r].resize(four::room * 4);
      for (std::size_t k = 0; k < send[r].size(); ++k)
        send[r][k] = static_cast<std::byte>(static_cast<std::size_t>(r * 151 + number * 13) + k * 7 + (k >> 8));
      all.start_with(send[r], r, sent, expected);
    }
    ASSERT_TRUE(all.end({0, 1, 2, 3}));
    const std::array<memory, 4> scheduled = by_schedule(send, sent);
    for (int r = 0; r < 4; ++r) {
      EXPECT_FALSE(all[r].failure());
      EXPECT_TRUE(all.received(r) == scheduled[r]) << "rank " << r << ", exchange " << number;
    }
  }
}

TEST(DirectExchange, WhoDoesNotGetABlockThatCannotBePackedIsToldSo) {
  const unreadable layout;
  for (const int bytes : {8, 5000, 60000}) {
    node<3> all;
    const node<3>::sizes sizes{{{0, bytes, 8}, {8, 0, bytes}, {8, 8, 0}}};
    const node<3>::sizes expected{{{0, 8, 8}, {bytes, 0, 8}, {8, bytes, 0}}};
    for (int number = 0; number < 4; ++number) {
      const bool fails = number == 1;
      for (int r = 0; r < 3; ++r) all.start(r, sizes, expected, fails && r == 0 ? &layout : nullptr);
      ASSERT_TRUE(all.end({0, 1, 2}));
      for (const int r : {0, 1, 2})
        EXPECT_EQ(static_cast<bool>(all[r].failure()), fails) << "rank " << r << ", " << bytes;
      if (fails) continue;
      EXPECT_EQ(all.received(1)[static_cast<std::size_t>(bytes) - 1], std::byte{1});
      EXPECT_EQ(all.received(2)[100000], std::byte{2});
    }
  }
}

// Stands for a type that takes memory to pack or to unpack, of which there is enough for a few blocks.
class out_of_memory : public packer {
 public:
  explicit out_of_memory(int blocks) : left_(blocks) {}
  void pack(const std::byte*, std::int64_t count, std::byte*) const override { use(count); }
  void unpack(const std::byte*, std::byte*, std::int64_t count) const override { use(count); }

 private:
  void use(std::int64_t count) const {
    if (count > 0 && left_-- == 0) throw std::bad_alloc();
  }
  mutable int left_;
};

// Rank 0 runs out of memory as it packs blocks, and rank 1 after it has unpacked one of two that are there.
TEST(DirectExchange, ThoseThatRunOutOfMemoryGiveBackWhatTheyHave) {
  node<3> all;
  const node<3>::sizes none{}, sizes{{{0, 60000, 60000}, {0, 0, 0}, {0, 60000, 0}}};
  const node<3>::sizes expected{{{0, 0, 0}, {60000, 0, 60000}, {60000, 0, 0}}};
  const auto move = [&](int r) {
    bool moved = false;
    all[r].progress(moved);
  };
  memory send(node<3>::room * 3);
  const out_of_memory at_once(0), after_one(1);
  EXPECT_THROW(all.start_with(send, 0, sizes, expected, &at_once), std::bad_alloc);
  for (const int r : {1, 2}) all.start(r, none, none);
  for (const int r : {0, 2}) all.start(r, sizes, expected);
  all.start_with(send, 1, sizes, expected, nullptr, &after_one);
  for (const int r : {0, 2}) move(r);
  EXPECT_THROW(move(1), std::bad_alloc);
  all.start(1, none, none);
  for (const int r : {0, 1}) EXPECT_EQ(all.pool(r).in_use(), 0u) << "rank " << r;
}

TEST(DirectExchange, OneThatRunsOutOfMemoryStaysInStepWithTheOthers) {
  node<2> all;
  const node<2>::sizes sizes{{{0, 8}, {8, 0}}};
  memory send(node<2>::room * 2);
  const out_of_memory at_once(0);
  EXPECT_THROW(all.start_with(send, 0, sizes, sizes, &at_once), std::bad_alloc);
  all.start(1, sizes, sizes);
  ASSERT_TRUE(all.end({1}));
  EXPECT_TRUE(all[1].failure());
  for (const int r : {0, 1}) all.start(r, sizes, sizes);
  ASSERT_TRUE(all.end({0, 1}));
  for (const int r : {0, 1}) EXPECT_FALSE(all[r].failure()) << "rank " << r;
}

// The sender waits until the other rank has taken the block, and that rank waits for the sender's next exchange.
TEST(DirectExchange, ABlockThatNobodyExpectsHoldsNobodyUp) {
  node<2> all;
  const node<2>::sizes none{}, sent{{{0, 60000}, {8, 0}}}, expected{{{0, 8}, {0, 0}}};
  all.start(0, sent, expected);
  all.start(1, sent, expected);
  ASSERT_TRUE(all.end({1}));
  all.start(1, none, none);
  ASSERT_TRUE(all.end({1}));
  all.start(1, none, none);
  ASSERT_TRUE(all.end({0}));
  for (int i = 0; i < 2; ++i) {
    all.start(0, none, none);
    ASSERT_TRUE(all.end({0}));
  }
  ASSERT_TRUE(all.end({1}));
  const node<2>::sizes right{{{0, 60000}, {8, 0}}}, expected_right{{{0, 8}, {60000, 0}}};
  for (const int r : {0, 1}) all.start(r, right, expected_right);
  ASSERT_TRUE(all.end({0, 1}));
  EXPECT_FALSE(all[1].failure());
  EXPECT_EQ(all.received(1)[59999], std::byte{1});
}

// An error while a rank waits may leave exchanges half way: with rows read, with blocks that lack some segments, or with
// rows not yet written.
TEST(DirectExchange, ThoseThatAreLeftHalfWayTakeNothingOfTheNext) {
  for (const auto& [left, bytes] : {std::pair(1, 60000), {1, 8}, {3, 8}}) {
    SCOPED_TRACE(std::to_string(left) + " left, " + std::to_string(bytes) + " B");
    const node<2>::sizes sizes{{{0, bytes}, {bytes, 0}}};
    node<2> all;
    all.start(1, sizes, sizes);
    for (int i = 0; i <= left; ++i) all.start(0, sizes, sizes);
    for (int i = 0; i < left; ++i) {
      ASSERT_TRUE(all.end({1}));
      all.start(1, sizes, sizes);
    }
    ASSERT_TRUE(all.end({0, 1}));
    for (const int r : {0, 1}) EXPECT_FALSE(all[r].failure()) << r;
    EXPECT_EQ(all.received(0)[static_cast<std::size_t>(100000 + bytes - 1)], std::byte{2});
    EXPECT_EQ(all.received(1)[static_cast<std::size_t>(bytes - 1)], std::byte{1});
  }
}

}  // namespace
}  // namespace shoal
