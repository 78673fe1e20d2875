// Sends real data through the algorithms for neighbours, over the in-memory transport, and compares what arrives with
// what the edges of a graph say.
#include <gtest/gtest.h>

#include <random>

#include "../unit/random_graph.hpp"
#include "algorithms/algorithm.hpp"
#include "execute/exchange.hpp"
#include "execute/scratch.hpp"
#include "topology/node_layout.hpp"
#include "matched_by_order.hpp"
#include "memory_transport.hpp"
#include "user_memory.hpp"

namespace shoal {
namespace {

using testing::place_blocks;
using testing::view;

std::byte content(int rank, int edge, int k) {
  return static_cast<std::byte>(rank * 151 + edge * 31 + k * 7 + (k >> 8));
}

// One rank's buffers, with blocks in shuffled order and gaps between them.
struct rank_memory {
  std::vector<int> send_counts, send_at, recv_counts, recv_at;
  std::vector<std::byte> send, recv, expected;
};

// Sizes of the blocks of all edges, [rank][edge].
using edge_sizes = std::vector<std::vector<int>>;

edge_sizes random_sizes(const neighbor_graph& graph, std::mt19937& random) {
  const int largest = std::vector<int>{0, 1, 9, 300, 6000}[random() % 5];
  edge_sizes all;
  for (int rank = 0; rank < graph.ranks(); ++rank) {
    all.emplace_back();
    for (std::size_t i = 0; i < graph.destinations(rank).size(); ++i)
      all.back().push_back(random() % 3 ? static_cast<int>(random() % static_cast<unsigned>(largest + 1)) : 0);
  }
  return all;
}

rank_memory memory_of(const neighbor_graph& graph, const edge_sizes& sizes, int rank, std::mt19937& random) {
  rank_memory m;
  m.send_counts = sizes[rank];
  for (const auto& [source, edge] : graph.arrivals(rank)) m.recv_counts.push_back(source < 0 ? 5 : sizes[source][edge]);
  m.send_at = place_blocks(m.send_counts, random, m.send);
  m.recv_at = place_blocks(m.recv_counts, random, m.recv);
  m.expected = m.recv;
  for (std::size_t i = 0; i < m.send_counts.size(); ++i)
    for (int k = 0; k < m.send_counts[i]; ++k) m.send[m.send_at[i] + k] = content(rank, static_cast<int>(i), k);
  for (std::size_t i = 0; i < m.recv_counts.size(); ++i) {
    const auto [source, edge] = graph.arrivals(rank)[i];
    for (int k = 0; source >= 0 && k < m.recv_counts[i]; ++k) m.expected[m.recv_at[i] + k] = content(source, edge, k);
  }
  return m;
}

// Scratch memory that all ranks together may need.
std::int64_t bound_of(const std::vector<linked_schedule>& programs, const edge_sizes& sizes, std::size_t inline_bytes) {
  int largest = 0;
  for (const std::vector<int>& of_rank : sizes)
    for (const int size : of_rank) largest = std::max(largest, size);
  std::int64_t sum = 0;
  for (const linked_schedule& p : programs) sum += bound_scratch(p, false, inline_bytes).with(largest, 0);
  return sum;
}

void expect_right(const char* spec, const problem& at, std::uint32_t seed) {
  std::mt19937 random(seed);
  const edge_sizes sizes = random_sizes(*at.neighbors, random);
  const std::size_t inline_bytes = seed % 2 ? 4096 : 0;
  memory_network network(at.ranks, {seed, random() % 2 == 0, random() % 2 ? 0.7 : 0.0});
  memory_pool pool;
  std::vector<rank_memory> memory;
  std::vector<linked_schedule> programs;
  std::vector<std::unique_ptr<transport>> lines;
  std::vector<std::unique_ptr<testing::matched_by_order>> in_nodes;
  std::vector<std::unique_ptr<exchange>> exchanges;
  for (int r = 0; r < at.ranks; ++r) {
    memory.push_back(memory_of(*at.neighbors, sizes, r, random));
    programs.emplace_back(generate(parse_selection(spec, collective::neighbor_alltoall), at, r));
    lines.push_back(network.connect(r));
    in_nodes.push_back(std::make_unique<testing::matched_by_order>(*lines.back(), *at.nodes));
    transport& over = programs.back().shared_memory ? *in_nodes.back() : *lines.back();
    exchanges.push_back(std::make_unique<exchange>(pool, over, inline_bytes));
  }
  for (int r = 0; r < at.ranks; ++r)
    exchanges[r]->start(programs[r], {view(memory[r].send, memory[r].send_counts, memory[r].send_at),
                                      view(memory[r].recv, memory[r].recv_counts, memory[r].recv_at),
                                      {}});
  bool done = false;
  for (int idle = 0; idle < 100000 && !done; ++idle) {
    bool moved = false;
    exchanges[random() % static_cast<unsigned>(at.ranks)]->progress(moved);
    if (moved) idle = 0;
    done = std::all_of(exchanges.begin(), exchanges.end(), [](auto& e) { return e->done(); });
  }
  ASSERT_TRUE(done);
  for (int r = 0; r < at.ranks; ++r) {
    EXPECT_FALSE(exchanges[r]->failure());
    EXPECT_EQ(memory[r].recv, memory[r].expected) << "rank " << r;
  }
  EXPECT_EQ(network.unmatched(), 0u);
  EXPECT_EQ(pool.in_use(), 0u);
  EXPECT_LE(static_cast<std::int64_t>(pool.peak()), bound_of(programs, sizes, inline_bytes));
}

TEST(NeighborExchange, DeliversEveryBlockOfRandomGraphs) {
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    problem at;
    at.ranks = 1 + static_cast<int>(random() % 16);
    at.neighbors = std::make_shared<const neighbor_graph>(testing::random_graph(at.ranks, at.ranks + 3, random));
    std::vector<int> node_of(static_cast<std::size_t>(at.ranks));
    for (int& node : node_of) node = static_cast<int>(random() % 4);
    at.nodes = std::make_shared<const node_layout>(node_layout::from_node_ids(node_of));
    for (const char* spec : {"direct", "gathered", "gathered:carriers=1", "gathered:local=messages"}) {
      SCOPED_TRACE(std::string(spec) + ", seed " + std::to_string(seed));
      expect_right(spec, at, seed);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace shoal
