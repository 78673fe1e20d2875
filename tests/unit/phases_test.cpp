// Where the time of an exchange goes: the phases add up to all of it, and each is told from the others.
#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "algorithms/algorithm.hpp"
#include "execute/exchange.hpp"
#include "../property/memory_transport.hpp"

namespace shoal {
namespace {

constexpr int ranks = 8, block_bytes = 100;

// The seconds of all ranks together, in one exchange whose messages announce the sizes of blocks. The sizes travel in
// front of the data if these have at most `inline_bytes` bytes, else in messages of their own.
phase_seconds phases_of(const char* spec, std::size_t inline_bytes, const node_layout* nodes) {
  memory_network network(ranks);
  memory_pool pool;
  problem at;
  at.ranks = ranks;
  std::vector<std::byte> send(ranks * block_bytes), recv(ranks * ranks * block_bytes);
  std::vector<phase_clock> clocks;
  std::vector<std::unique_ptr<transport>> lines;
  std::vector<std::unique_ptr<linked_schedule>> programs;
  std::vector<std::unique_ptr<exchange>> exchanges;
  for (int r = 0; r < ranks; ++r) clocks.emplace_back(nodes, r);
  for (int r = 0; r < ranks; ++r) {
    payload what;
    what.send.base = send.data();
    what.recv.base = recv.data() + r * ranks * block_bytes;
    what.send.counts = what.recv.counts = number_array::linear(block_bytes, 0);
    what.send.displacements = what.recv.displacements = number_array::linear(0, block_bytes);
    lines.push_back(network.connect(r));
    programs.push_back(std::make_unique<linked_schedule>(generate(parse_selection(spec), at, r)));
    exchanges.push_back(std::make_unique<exchange>(pool, *lines[r], inline_bytes));
    exchanges[r]->record_phases(&clocks[r]);
    clocks[r].begin();
    exchanges[r]->start(*programs[r], what);
  }
  bool done = false;
  for (int round = 0; round < 1000 && !done; ++round) {
    done = true;
    for (auto& one : exchanges) {
      bool moved = false;
      done = one->progress(moved) && done;
    }
  }
  EXPECT_TRUE(done);
  phase_seconds sum{};
  for (const phase_clock& clock : clocks)
    for (std::size_t p = 0; p < sum.size(); ++p) sum[p] += clock.seconds()[p];
  return sum;
}

double of(const phase_seconds& all, phase p) { return all[static_cast<std::size_t>(p)]; }

TEST(Phases, TellSizesAloneFromData) {
  for (const std::size_t inline_bytes : {0, 100000}) {
    const phase_seconds seconds = phases_of("tuna:radix=2", inline_bytes, nullptr);
    EXPECT_EQ(of(seconds, phase::metadata) > 0, inline_bytes == 0);
    for (phase p : {phase::prepare, phase::data, phase::replace, phase::rearrange}) EXPECT_GT(of(seconds, p), 0);
    EXPECT_EQ(of(seconds, phase::inter_node), 0);
  }
}

TEST(Phases, TellMessagesBetweenNodesFromOthers) {
  const node_layout apart = node_layout::one_rank_per_node(ranks), pairs = node_layout::parse("4x2");
  const phase_seconds all_apart = phases_of("tuna:radix=2", 0, &apart), in_pairs = phases_of("tuna:radix=2", 0, &pairs);
  EXPECT_EQ(of(all_apart, phase::metadata) + of(all_apart, phase::data), 0);
  EXPECT_GT(of(all_apart, phase::inter_node), 0);
  for (phase p : {phase::metadata, phase::data, phase::inter_node}) EXPECT_GT(of(in_pairs, p), 0);
}

// Every message is one block, which lies in its place at both ends. So no message is put together, and a rank copies
// only its own block.
TEST(Phases, NameNothingThatIsNotDone) {
  const phase_seconds seconds = phases_of("spread_out", 0, nullptr);
  EXPECT_EQ(of(seconds, phase::metadata) + of(seconds, phase::replace) + of(seconds, phase::inter_node), 0);
}

TEST(Phases, AddUpToTheTimeBetweenTheFirstMomentAndTheLast) {
  phase_clock clock(nullptr, 0);
  const auto before = std::chrono::steady_clock::now();
  clock.begin();
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) clock.lap(static_cast<phase>(i % 6));
  const auto middle = std::chrono::steady_clock::now();
  clock.lap(phase::data);
  const auto after = std::chrono::steady_clock::now();
  const double sum = std::accumulate(clock.seconds().begin(), clock.seconds().end(), 0.0);
  EXPECT_GE(sum, std::chrono::duration<double>(middle - begun).count() * 0.999999);
  EXPECT_LE(sum, std::chrono::duration<double>(after - before).count() * 1.000001);
}

}  // namespace
}  // namespace shoal
