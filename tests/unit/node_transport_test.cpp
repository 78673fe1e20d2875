// Messages of schedules through the memory of a node.
#include "transport/node_transport.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "../property/memory_transport.hpp"
#include "execute/node_exchange.hpp"

namespace shoal {
namespace {

// One of the ranks of a job that is on one node.
struct node_rank {
  std::unique_ptr<transport> below;
  node_window window;
  node_transport over;
  std::vector<ended_transfer> ended;

  node_rank(memory_network& network, std::byte* memory, std::span<const int> ranks, int rank)
      : below(network.connect(rank)),
        window(memory, static_cast<int>(ranks.size()), rank),
        over(*below, window, ranks) {}
};

// Its receiver waits for a message of another rank, and that rank may wait for the sender.
TEST(NodeTransport, WhatNobodyExpectsDoesNotHoldItsSenderUp) {
  constexpr std::array ranks{0, 1, 2};
  struct alignas(64) line {
    std::byte bytes[64];
  };
  std::vector<line> memory(node_window::bytes_for(3) / sizeof(line) + 1);
  memory_network network(3);
  node_rank sender(network, memory[0].bytes, ranks, 0), receiver(network, memory[0].bytes, ranks, 1);
  const std::vector<std::byte> sent(10 * sender.window.segment_bytes());
  std::vector<std::byte> place(8);
  sender.over.send(1, 1, sent.data(), sent.size(), 0);
  receiver.window.begin_exchange();
  receiver.over.receive(2, 1, place.data(), place.size(), 0);
  for (int i = 0; i < 1000; ++i) {
    sender.over.poll(sender.ended);
    receiver.over.poll(receiver.ended);
  }
  EXPECT_EQ(sender.ended.size(), 1u);
  EXPECT_EQ(receiver.ended.size(), 0u);
}

TEST(NodeTransport, WhatAnExchangeLeftTakesNothingOfTheNext) {
  constexpr std::array ranks{0, 1};
  struct alignas(64) line {
    std::byte bytes[64];
  };
  std::vector<line> memory(node_window::bytes_for(2) / sizeof(line) + 1);
  memory_network network(2);
  node_rank sender(network, memory[0].bytes, ranks, 0), receiver(network, memory[0].bytes, ranks, 1);
  const std::vector<std::byte> sent(8, std::byte{1});
  std::vector<std::byte> before(8), place(8);
  receiver.over.receive(0, 1, before.data(), before.size(), 7);
  for (node_rank* one : {&sender, &receiver}) {
    one->window.begin_exchange();
    one->over.forget();
  }
  sender.over.send(1, 1, sent.data(), sent.size(), 8);
  receiver.over.receive(0, 1, place.data(), place.size(), 9);
  sender.over.poll(sender.ended);
  receiver.over.poll(receiver.ended);
  ASSERT_EQ(receiver.ended.size(), 1u);
  EXPECT_EQ(receiver.ended[0].ticket, 9);
  EXPECT_EQ(place, sent);
}

TEST(NodeExchange, MemoryIsAsLargeAsUsualBlocksNeed) {
  constexpr int ranks = 16;
  const auto bytes_for = [](std::size_t most) { return node_exchange::room::of_direct(most, ranks).bytes(ranks); };
  const std::size_t largest = bytes_for(node_rows::any);
  EXPECT_LT(bytes_for(ranks * 4096), largest / 2);
  EXPECT_LT(bytes_for(ranks * 8192), largest * 3 / 4);
  EXPECT_LE(bytes_for(ranks * 65536), largest);
}

}  // namespace
}  // namespace shoal
