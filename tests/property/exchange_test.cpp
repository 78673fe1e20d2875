// Sends real data through every algorithm over the in-memory transport, and compares what arrives with the definition
// of an all-to-all.
#include "execute/exchange.hpp"

#include <gtest/gtest.h>

#include <random>

#include "algorithms/algorithm.hpp"
#include "memory_transport.hpp"
#include "../unit/tree_inputs.hpp"
#include "execute/scratch.hpp"
#include "schedule/builder.hpp"
#include "topology/layout_tree.hpp"
#include "matched_by_order.hpp"
#include "user_memory.hpp"

namespace shoal {
namespace {

using testing::place_blocks;
using testing::reversing;
using testing::view;

// Byte k of the block from o to d, in the exchange with this number.
std::byte content(int o, int d, std::size_t k, int number) {
  return static_cast<std::byte>(o * 151 + d * 31 + k * 7 + (k >> 8) + number * 13);
}

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
    fill(j, rank, reversed, 0);
  }

  void fill(const job& j, int rank, bool reversed, int number) {
    std::fill(recv.begin(), recv.end(), std::byte{0xEE});
    for (int d = 0; d < j.ranks; ++d)
      for (int k = 0; k < send_counts[d]; ++k)
        send[send_at[d] + (reversed ? send_counts[d] - 1 - k : k)] = content(rank, d, k, number);
  }

  std::vector<std::byte> expected(const job& j, int rank, bool reversed, int number) const {
    std::vector<std::byte> memory(recv.size(), std::byte{0xEE});
    for (int o = 0; o < j.ranks; ++o)
      for (int k = 0; k < recv_counts[o]; ++k)
        memory[recv_at[o] + (reversed ? recv_counts[o] - 1 - k : k)] = content(o, rank, k, number);
    return memory;
  }
};

struct run_result {
  bool finished = false;
  std::size_t unmatched = 0;
  std::int64_t counted_messages = 0, counted_bytes = 0, sent_messages = 0, sent_bytes = 0;
  std::size_t scratch_left = 0, scratch_peak = 0;
};

// All ranks of one exchange in one process.
class whole_exchange {
 public:
  whole_exchange(const selection& how, const job& j, std::uint32_t seed, memory_network_options options,
                 std::size_t inline_bytes)
      : job_(j), random_(seed), network_(j.ranks, options) {
    std::vector<int> group_of(j.ranks), node_of(j.ranks);
    for (int& group : group_of) group = static_cast<int>(random_() % 2);
    for (int& node : node_of) node = static_cast<int>(random_() % 3);
    problem at = placed(layout_tree::from_ids({{"group", group_of}, {"node", node_of}}));
    nodes_ = at.nodes;
    if (how.which->name == "tree") add_switches(at);
    reverse_send_ = random_() % 4 == 0, reverse_recv_ = random_() % 4 == 0;
    for (int r = 0; r < j.ranks; ++r) {
      memory_.emplace_back(j, r, random_, reverse_send_);
      programs_.emplace_back(generate(how, at, r));
      lines_.push_back(network_.connect(r));
      in_nodes_.push_back(std::make_unique<testing::matched_by_order>(*lines_.back(), *nodes_));
      const bool shared = programs_.back().shared_memory && how.which->name == "hierarchical";
      exchanges_.push_back(std::make_unique<exchange>(
          pool_, shared ? static_cast<transport&>(*in_nodes_.back()) : *lines_.back(), inline_bytes));
    }
  }

  // Runs all ranks to the end and checks every byte of every buffer.
  run_result run(int number = 0) {
    for (int r = 0; r < job_.ranks; ++r) memory_[r].fill(job_, r, reverse_send_, number);
    const auto before = sent();
    const std::int64_t messages = network_.messages(), bytes = network_.bytes();
    for (int r = 0; r < job_.ranks; ++r) exchanges_[r]->start(programs_[r], what(r));
    run_result result;
    for (int idle = 0; idle < 100000 && !result.finished;) {
      bool moved = false;
      exchanges_[random_() % job_.ranks]->progress(moved);
      result.finished = std::all_of(exchanges_.begin(), exchanges_.end(), [](auto& e) { return e->done(); });
      idle = moved ? 0 : idle + 1;
    }
    for (int r = 0; r < job_.ranks; ++r) {
      EXPECT_EQ(memory_[r].recv, memory_[r].expected(job_, r, reverse_recv_, number)) << "rank " << r;
      result.counted_messages += exchanges_[r]->counters().messages;
      result.counted_bytes += exchanges_[r]->counters().bytes;
    }
    EXPECT_EQ(before, sent()) << "the send buffer was written";
    result.unmatched = network_.unmatched();
    result.sent_messages = network_.messages() - messages;
    for (const linked_schedule& p : programs_) result.sent_messages -= sent_by(p).tokens;
    result.sent_bytes = network_.bytes() - bytes;
    result.scratch_left = pool_.in_use();
    result.scratch_peak = pool_.peak();
    return result;
  }

  // Scratch memory that all ranks together may need.
  std::int64_t scratch_bound(std::size_t inline_bytes) const {
    int largest = 0;
    for (const auto& sizes : job_.sizes) largest = std::max(largest, *std::max_element(sizes.begin(), sizes.end()));
    std::int64_t sum = 0;
    for (int r = 0; r < job_.ranks; ++r) {
      std::int64_t packed = 0;
      for (int size : memory_[r].send_counts) packed += reverse_send_ ? size + memory_pool::smallest : 0;
      for (int size : memory_[r].recv_counts) packed += reverse_recv_ ? size + memory_pool::smallest : 0;
      sum += bound_scratch(programs_[r], job_.uniform, inline_bytes).with(largest, packed);
    }
    return sum;
  }

 private:
  // Adds switches, and in some jobs the sizes of blocks, from which `tree` may make its order.
  void add_switches(problem& at) {
    std::vector<int> switch_of(at.ranks);
    for (int& s : switch_of) s = static_cast<int>(random_() % 4);
    at.switches = std::make_shared<const switch_network>(switched({0, 0, 1, 1}, switch_of));
    if (job_.uniform || random_() % 4 == 0) return;
    std::vector<std::int64_t> sizes;
    for (const auto& row : job_.sizes) sizes.insert(sizes.end(), row.begin(), row.end());
    at.sizes = std::make_shared<const std::vector<std::int64_t>>(std::move(sizes));
  }

  payload what(int r) {
    const rank_memory& m = memory_[r];
    payload blocks{
        view(memory_[r].send, m.send_counts, m.send_at), view(memory_[r].recv, m.recv_counts, m.recv_at), {}};
    if (job_.uniform) blocks.uniform = static_cast<std::size_t>(job_.sizes[0][0]);
    if (reverse_send_) blocks.send.type.layout = &backwards_;
    if (reverse_recv_) blocks.recv.type.layout = &backwards_;
    return blocks;
  }

  std::vector<std::vector<std::byte>> sent() const {
    std::vector<std::vector<std::byte>> all;
    for (const rank_memory& m : memory_) all.push_back(m.send);
    return all;
  }

  const job& job_;
  std::mt19937 random_;
  memory_network network_;
  const reversing backwards_;
  bool reverse_send_ = false, reverse_recv_ = false;
  std::vector<rank_memory> memory_;
  std::vector<linked_schedule> programs_;
  std::shared_ptr<const node_layout> nodes_;
  std::vector<std::unique_ptr<transport>> lines_;
  std::vector<std::unique_ptr<testing::matched_by_order>> in_nodes_;
  memory_pool pool_;
  std::vector<std::unique_ptr<exchange>> exchanges_;
};

std::string random_spec(std::mt19937& random, int ranks, bool uniform) {
  std::vector<const algorithm*> fitting;
  for (const algorithm& a : algorithms())
    if (a.generate && a.what == collective::alltoall && (uniform || !a.uniform_only)) fitting.push_back(&a);
  const std::string name = fitting[random() % fitting.size()]->name;
  const std::string radix = std::to_string(2 + random() % (ranks + 1));
  if (name == "tuna")
    return "tuna:radix=" + radix + (random() % 2 ? "" : ",inflight=" + std::to_string(1 + random() % 3));
  if (name == "bruck") return "bruck:radix=" + radix + (random() % 2 ? "" : ",variant=basic");
  if (name == "hierarchical") {
    const char* globals[] = {"global=pairwise", "global=radix", "block_count=2", "pattern=staggered", "overlap=off"};
    const char* locals[] = {"",
                            ",local=linear",
                            ",local=radix/pairwise,carriers=2/1",
                            ",local=linear/none,carriers=1",
                            ",local=shared",
                            ",local=shared,carriers=2"};
    return "hierarchical:radix=" + radix + "," + globals[random() % 5] + locals[random() % 6];
  }
  if (name == "tree") {
    const char* specs[] = {"tree", "tree:window=2", "tree:parts=3,last=100", "tree:sync=none", "tree:order=phases"};
    return specs[random() % 5];
  }
  if (name == "scattered") return "scattered:block_count=" + std::to_string(1 + random() % ranks);
  return name;
}

void expect_clean(const run_result& result) {
  ASSERT_TRUE(result.finished) << "the exchange does not end";
  ASSERT_EQ(result.unmatched, 0u);
  ASSERT_EQ(result.scratch_left, 0u) << "scratch memory is not given back";
  ASSERT_EQ(result.counted_messages, result.sent_messages);
  ASSERT_EQ(result.counted_bytes, result.sent_bytes);
}

TEST(Exchange, DeliversEveryByteWhateverTheSizesTypesAndDelays) {
  for (std::uint32_t seed = 0; seed < 1500; ++seed) {
    std::mt19937 random(seed);
    const int ranks = 1 + static_cast<int>(random() % (seed % 10 == 0 ? 40 : 12));
    const job j = random_job(random, ranks);
    const std::string spec = random_spec(random, ranks, j.uniform);
    memory_network_options options{seed, random() % 2 == 0, random() % 2 ? 0.7 : 0.0};
    if (random() % 3 == 0) options.slowest = static_cast<int>(random() % static_cast<unsigned>(ranks));
    const std::size_t inline_bytes = std::vector<std::size_t>{0, 100, 4096}[random() % 3];
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + spec + ", " + std::to_string(ranks) + " ranks");
    whole_exchange all(parse_selection(spec), j, seed, options, inline_bytes);
    const run_result result = all.run();
    expect_clean(result);
    EXPECT_LE(static_cast<std::int64_t>(result.scratch_peak), all.scratch_bound(inline_bytes));
    if (HasFailure()) return;
  }
}

TEST(Exchange, Repeats) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const job j = random_job(random, 1 + static_cast<int>(random() % 12));
    const std::string spec = random_spec(random, j.ranks, j.uniform);
    const memory_network_options options{seed, random() % 2 == 0, random() % 2 ? 0.7 : 0.0};
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + spec + ", " + std::to_string(j.ranks) + " ranks");
    whole_exchange all(parse_selection(spec), j, seed, options, std::vector<std::size_t>{0, 100, 4096}[random() % 3]);
    for (int number = 0; number < 4; ++number) expect_clean(all.run(number));
    if (HasFailure()) return;
  }
}

// The bound is a few times what an exchange needs that takes much scratch memory. It is 0 if all blocks go straight.
TEST(Exchange, NeedsAboutTheScratchThatIsBoundAndNoneForBlocksSentStraight) {
  const job j{16, true, std::vector<std::vector<int>>(16, std::vector<int>(16, 1000))};
  const auto peak_and_bound = [&](const char* spec) {
    whole_exchange all(parse_selection(spec), j, 4, {4, false, 0.7}, 0);
    const auto peak = static_cast<std::int64_t>(all.run().scratch_peak);
    return std::pair(peak, all.scratch_bound(0));
  };
  for (const char* spec : {"spread_out", "pairwise", "linear"}) EXPECT_EQ(peak_and_bound(spec), std::pair(0L, 0L));
  for (const char* spec : {"tuna:radix=2", "tuna:radix=4", "bruck"}) {
    const auto [peak, bound] = peak_and_bound(spec);
    EXPECT_GT(peak, 0) << spec;
    EXPECT_LT(bound, 8 * peak) << spec;
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
  std::vector<linked_schedule> programs;
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
                                      view(memory[r].recv, memory[r].recv_counts, memory[r].recv_at),
                                      {}});
  for (bool moved = true; moved;) {
    moved = false;
    for (auto& e : exchanges) {
      bool one = false;
      e->progress(one);
      moved = moved || one;
    }
  }
  // Of all ranks together. Only a few messages hold the large block at once, and no slot of a small block is as large.
  EXPECT_LT(pool.peak(), std::size_t{8} << 20);
}

// Notes to whom a rank of three sends, in order, and from where. Nothing arrives.
class noting : public transport {
 public:
  std::vector<int> sent_to;
  std::vector<const std::byte*> sent_from;

  int ranks() const override { return 3; }
  int rank() const override { return 0; }
  int highest_tag() const override { return 1000; }
  void send(int peer, int, const std::byte* from, std::size_t, int) override {
    sent_to.push_back(peer);
    sent_from.push_back(from);
  }
  void receive(int, int, std::byte*, std::size_t, int) override {}
  void poll(std::vector<ended_transfer>&) override {}
};

// The copy ends at once. What comes after it is started last all the same.
TEST(Exchange, StartsWhatWaitsForNothingFirst) {
  const slot to_one = send_slot(1), to_two = send_slot(2);
  builder b(3, 0);
  const op_id copied = b.copy(send_slot(0), recv_slot(0));
  b.send(1, {&to_one, 1}, {&copied, 1});
  b.send(2, {&to_two, 1});
  const linked_schedule steps(b.finish());
  noting line;
  memory_pool pool;
  exchange moves(pool, line);
  const std::vector<int> counts(3, 8), at{0, 8, 16};
  std::vector<std::byte> send(24), recv(24);
  moves.start(steps, {view(send, counts, at), view(recv, counts, at), {}});
  EXPECT_EQ(line.sent_to, (std::vector<int>{2, 1}));
}

// An error while a rank waits may end an exchange whose messages are still under way.
TEST(Exchange, OneThatIsLeftHalfWayNeverUsesItsPackedBlocksAgain) {
  const slot first_part_for_one = send_slot(2);
  builder b(3, 0);
  b.send(1, {&first_part_for_one, 1});
  schedule in_parts = b.finish();
  in_parts.parts = 2;
  const linked_schedule steps(std::move(in_parts));
  static noting& line = *new noting;  // keeps what it sends, so that leak checkers, which come last, find it
  memory_pool pool;
  exchange moves(pool, line);
  const reversing backwards;
  const std::vector<int> counts(3, 8), at{0, 8, 16};
  std::vector<std::byte> send(24), recv(24);
  payload what{view(send, counts, at), view(recv, counts, at), {}};
  what.send.type.layout = &backwards;
  for (int i = 0; i < 2; ++i) moves.start(steps, what);
  EXPECT_NE(line.sent_from.at(0), line.sent_from.at(1));
}

}  // namespace
}  // namespace shoal
