// Real data through every algorithm over the in-memory transport, against the definition of an all-to-all.
#include "execute/exchange.hpp"

#include <gtest/gtest.h>

#include <random>

#include "algorithms/algorithm.hpp"
#include "execute/memory_transport.hpp"
#include "user_memory.hpp"
#include "topology/node_layout.hpp"

namespace shoal {
namespace {

using testing::place_blocks;
using testing::reversing;
using testing::view;

// Byte k of the block from o to d.
std::byte content(int o, int d, std::size_t k) { return static_cast<std::byte>(o * 151 + d * 31 + k * 7 + (k >> 8)); }

struct job {
  int ranks;
  bool uniform;
  std::vector<std::vector<int>> sizes;  // [origin][destination]
};

job random_job(std::mt19937& random, int ranks) {
  job j{ranks, random() % 3 == 0, {}};
  const int largest = std::vector<int>{0, 1, 9, 300, 6000}[random() % 5];
  const double empty = std::vector<double>{0, 0.3, 0.9}[random() % 3];
  std::uniform_int_distribution<int> size(0, largest);
  std::bernoulli_distribution none(empty);
  for (int o = 0; o < ranks; ++o) {
    j.sizes.emplace_back();
    for (int d = 0; d < ranks; ++d)
      j.sizes[o].push_back(j.uniform ? largest : none(random) ? 0 : size(random) * (random() % 50 == 0 ? 9 : 1));
  }
  return j;
}

// One rank's buffers: blocks in shuffled order with gaps of guard bytes.
struct rank_memory {
  std::vector<int> send_counts, send_at, recv_counts, recv_at;
  std::vector<std::byte> send, recv;

  rank_memory(const job& j, int rank, std::mt19937& random, bool reversed) {
    for (int i = 0; i < j.ranks; ++i) {
      send_counts.push_back(j.sizes[rank][i]);
      recv_counts.push_back(j.sizes[i][rank]);
    }
    send_at = place_blocks(send_counts, random, send);
    recv_at = place_blocks(recv_counts, random, recv);
    for (int d = 0; d < j.ranks; ++d)
      for (int k = 0; k < send_counts[d]; ++k)
        send[send_at[d] + (reversed ? send_counts[d] - 1 - k : k)] = content(rank, d, k);
  }

  std::vector<std::byte> expected(const job& j, int rank, bool reversed) const {
    std::vector<std::byte> memory(recv.size(), std::byte{0xEE});
    for (int o = 0; o < j.ranks; ++o)
      for (int k = 0; k < recv_counts[o]; ++k)
        memory[recv_at[o] + (reversed ? recv_counts[o] - 1 - k : k)] = content(o, rank, k);
    return memory;
  }
};

struct run_result {
  bool finished = false;
  std::size_t unmatched = 0;
  std::int64_t counted_messages = 0, counted_bytes = 0, sent_messages = 0, sent_bytes = 0;
  std::size_t scratch_left = 0;
};

// Runs all ranks to the end and checks every byte of every buffer.
run_result run(const selection& how, const job& j, std::uint32_t seed, memory_network_options options,
               std::size_t inline_bytes) {
  std::mt19937 random(seed);
  problem at;
  at.ranks = j.ranks;
  std::vector<int> node_of(j.ranks);
  for (int& node : node_of) node = static_cast<int>(random() % 4);
  at.nodes = std::make_shared<node_layout>(node_layout::from_node_ids(node_of));
  memory_network network(j.ranks, options);
  const reversing backwards;
  const bool reverse_send = random() % 4 == 0, reverse_recv = random() % 4 == 0;
  std::vector<rank_memory> memory;
  std::vector<program> programs;
  std::vector<std::unique_ptr<transport>> lines;
  std::vector<std::unique_ptr<exchange>> exchanges;
  memory_pool pool;
  for (int r = 0; r < j.ranks; ++r) {
    memory.emplace_back(j, r, random, reverse_send);
    programs.emplace_back(generate(how, at, r));
    lines.push_back(network.connect(r));
    exchanges.push_back(std::make_unique<exchange>(pool, *lines.back(), inline_bytes));
  }
  const auto sent = [&] { std::vector<std::vector<std::byte>> all; for (auto& m : memory) all.push_back(m.send); return all; };
  const auto before = sent();
  for (int r = 0; r < j.ranks; ++r) {
    payload what{view(memory[r].send, memory[r].send_counts, memory[r].send_at),
                 view(memory[r].recv, memory[r].recv_counts, memory[r].recv_at), {}};
    if (j.uniform) what.uniform = static_cast<std::size_t>(j.sizes[0][0]);
    if (reverse_send) what.send.layout = &backwards;
    if (reverse_recv) what.recv.layout = &backwards;
    exchanges[r]->start(programs[r], what);
  }
  run_result result;
  for (int idle = 0; idle < 2000 && !result.finished;) {
    bool moved = false;
    exchanges[random() % j.ranks]->progress(moved);
    result.finished = std::all_of(exchanges.begin(), exchanges.end(), [](auto& e) { return e->done(); });
    idle = moved ? 0 : idle + 1;
  }
  for (int r = 0; r < j.ranks; ++r) {
    EXPECT_EQ(memory[r].recv, memory[r].expected(j, r, reverse_recv)) << "rank " << r;
    result.counted_messages += exchanges[r]->counters().messages;
    result.counted_bytes += exchanges[r]->counters().bytes;
  }
  EXPECT_EQ(before, sent()) << "the send buffer was written";
  result.unmatched = network.unmatched();
  result.sent_messages = network.messages();
  result.sent_bytes = network.bytes();
  result.scratch_left = pool.in_use();
  return result;
}

std::string random_spec(std::mt19937& random, int ranks, bool uniform) {
  std::vector<const algorithm*> fitting;
  for (const algorithm& a : algorithms())
    if (a.generate && a.what == collective::alltoall && (uniform || !a.uniform_only) && a.name != "tree") fitting.push_back(&a);
  const std::string name = fitting[random() % fitting.size()]->name;
  const std::string radix = std::to_string(2 + random() % (ranks + 1));
  if (name == "tuna") return "tuna:radix=" + radix + (random() % 2 ? "" : ",inflight=" + std::to_string(1 + random() % 3));
  if (name == "bruck") return "bruck:radix=" + radix + (random() % 2 ? "" : ",variant=basic");
  if (name == "hierarchical") {
    const char* globals[] = {"global=pairwise", "global=radix", "block_count=2", "pattern=staggered", "overlap=off"};
    return "hierarchical:radix=" + radix + "," + globals[random() % 5] + (random() % 2 ? "" : ",local=linear");
  }
  if (name == "scattered") return "scattered:block_count=" + std::to_string(1 + random() % ranks);
  return name;
}

TEST(Exchange, DeliversEveryByteWhateverTheSizesTypesAndDelays) {
  for (std::uint32_t seed = 0; seed < 1500; ++seed) {
    std::mt19937 random(seed);
    const int ranks = 1 + static_cast<int>(random() % (seed % 10 == 0 ? 40 : 12));
    const job j = random_job(random, ranks);
    const std::string spec = random_spec(random, ranks, j.uniform);
    memory_network_options options{seed, random() % 2 == 0, random() % 2 ? 0.7 : 0.0};
    const std::size_t inline_bytes = std::vector<std::size_t>{0, 100, 4096}[random() % 3];
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + spec + ", " + std::to_string(ranks) + " ranks");
    const run_result result = run(parse_selection(spec), j, seed, options, inline_bytes);
    ASSERT_TRUE(result.finished) << "the exchange does not end";
    ASSERT_EQ(result.unmatched, 0u);
    ASSERT_EQ(result.scratch_left, 0u) << "scratch memory is not given back";
    ASSERT_EQ(result.counted_messages, result.sent_messages);
    ASSERT_EQ(result.counted_bytes, result.sent_bytes);
    if (HasFailure()) return;
  }
}

TEST(Exchange, SkewedSizesCostScratchForWhatTheyWeigh) {
  job j{32, false, std::vector<std::vector<int>>(32, std::vector<int>(32, 8))};
  j.sizes[3][17] = 1 << 20;
  problem at;
  at.ranks = j.ranks;
  memory_network network(j.ranks);
  memory_pool pool;
  std::mt19937 random(1);
  std::vector<rank_memory> memory;
  std::vector<program> programs;
  std::vector<std::unique_ptr<transport>> lines;
  std::vector<std::unique_ptr<exchange>> exchanges;
  for (int r = 0; r < j.ranks; ++r) {
    memory.emplace_back(j, r, random, false);
    programs.emplace_back(generate(parse_selection("tuna:radix=2"), at, r));
    lines.push_back(network.connect(r));
    exchanges.push_back(std::make_unique<exchange>(pool, *lines.back(), 256));
  }
  for (int r = 0; r < j.ranks; ++r)
    exchanges[r]->start(programs[r], {view(memory[r].send, memory[r].send_counts, memory[r].send_at),
                                      view(memory[r].recv, memory[r].recv_counts, memory[r].recv_at), {}});
  for (bool moved = true; moved;) {
    moved = false;
    for (auto& e : exchanges) {
      bool one = false;
      e->progress(one);
      moved = moved || one;
    }
  }
  // All ranks together: the large block is in at most a few pieces at once, never in a slot per block.
  EXPECT_LT(pool.peak(), std::size_t{8} << 20);
}

}  // namespace
}  // namespace shoal
