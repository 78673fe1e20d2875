#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "model/best_radices.hpp"
#include "model/hockney.hpp"

namespace shoal {
namespace {

// ---- best_radices ------------------------------------------------------------------------------------------------

// All digit systems up to the size of the top radix, which does not matter.
void for_each_system(int ranks, const std::function<void(const digit_system&)>& visit) {
  std::vector<int> radices;
  const std::function<void(std::int64_t)> extend = [&](std::int64_t weight) {
    radices.push_back(static_cast<int>((ranks + weight - 1) / weight));
    visit({ranks, radices});
    for (radices.back() = 2; weight * radices.back() < ranks; ++radices.back()) extend(weight * radices.back());
    radices.pop_back();
  };
  if (ranks > 1) extend(1);
}

TEST(best_radices, cost_what_the_vectors_say) {
  std::ifstream file(std::string(SHOAL_VECTORS) + "/vectors-radix.json");
  const auto vectors = nlohmann::json::parse(file);
  for (const auto& v : vectors.at("best_cost")) {
    const int ranks = v[0];
    const digit_cost cost{0, v[1], v[2], 0};
    const priced_radices best = best_radices(ranks, cost);
    EXPECT_EQ(best.cost, v[3].get<double>()) << v;
    EXPECT_EQ(cost_of({ranks, best.radices}, cost), v[3].get<double>()) << v;
    const int radix = v[6];
    EXPECT_EQ(cost_of({ranks, radix}, cost), v[5].get<double>()) << v;
    EXPECT_LE(best.cost, v[5].get<double>());
  }
}

TEST(best_radices, is_the_least_of_all_systems) {
  std::mt19937 random(5);
  std::uniform_int_distribution<int> price(0, 12);  // whole numbers: sums are exact
  for (int ranks = 2; ranks <= 40; ++ranks)
    for (int i = 0; i < 20; ++i) {
      const digit_cost cost{price(random) * 1.0, price(random) * 1.0, price(random) * 0.25, price(random) * 1.0};
      double least = std::numeric_limits<double>::infinity();
      for_each_system(ranks, [&](const digit_system& s) { least = std::min(least, cost_of(s, cost)); });
      const priced_radices best = best_radices(ranks, cost);
      ASSERT_EQ(best.cost, least) << ranks << " ranks";
      ASSERT_EQ(cost_of({ranks, best.radices}, cost), least) << ranks << " ranks";
    }
}

TEST(best_radices, has_nothing_to_choose_for_one_rank) {
  EXPECT_TRUE(best_radices(1, {1, 1, 1, 1}).radices.empty());
  EXPECT_EQ(best_radices(1, {1, 1, 1, 1}).cost, 0);
  EXPECT_EQ(best_radices(2, {1, 1, 1, 1}).radices, std::vector<int>{2});
}

// Specification 7.1: with sizes sent apart from data only below the top digit, the top radix is twice the others.
TEST(best_radices, enlarges_the_digit_without_metadata) {
  EXPECT_EQ(best_radices(1024, {0, 1, 0.035, 1}).radices, (std::vector<int>{8, 8, 16}));
  EXPECT_EQ(best_radices(512, {0, 1, 0.2, 1}).radices, (std::vector<int>{16, 32}));
}

// ---- loads: closed forms against schedules ---------------------------------------------------------------------

// The longest chain of messages, over all ranks: each is sent after the one before has arrived, or was sent.
class message_chains {
 public:
  explicit message_chains(const std::vector<schedule>& programs) : programs_(programs), links_(programs.size()) {
    for (const schedule& p : programs)
      for (std::size_t id = 0; id < p.operations.size(); ++id)
        if (p.operations[id].kind == op_kind::send) sent_[{p.rank, p.operations[id].peer}].push_back(id);
    for (const schedule& p : programs) links_[p.rank].assign(p.operations.size(), -1);
  }

  std::int64_t longest() {
    std::int64_t most = 0;
    for (const schedule& p : programs_)
      for (std::size_t id = 0; id < p.operations.size(); ++id) most = std::max(most, links_to(p.rank, id));
    return most;
  }

 private:
  std::int64_t links_to(int rank, std::size_t id) {
    std::int64_t& links = links_[rank][id];
    if (links >= 0) return links;
    const schedule& p = programs_[rank];
    const operation& op = p.operations[id];
    std::int64_t most = 0;
    for (op_id earlier : p.after_of(op)) most = std::max(most, links_to(rank, earlier));
    if (op.kind == op_kind::recv) most = std::max(most, links_to(op.peer, sent_[{op.peer, rank}][number_of(p, id)]));
    return links = most + (op.kind == op_kind::send);
  }

  // Which of the receives from its peer this is.
  static std::size_t number_of(const schedule& p, std::size_t id) {
    std::size_t number = 0;
    for (std::size_t i = 0; i < id; ++i)
      number += p.operations[i].kind == op_kind::recv && p.operations[i].peer == p.operations[id].peer;
    return number;
  }

  const std::vector<schedule>& programs_;
  std::vector<std::vector<std::int64_t>> links_;
  std::map<std::pair<int, int>, std::vector<std::size_t>> sent_;
};

enum class waves { exactly, at_most };

void expect_load(const std::string& spec, int ranks, waves how = waves::exactly) {
  SCOPED_TRACE(spec + " on " + std::to_string(ranks));
  const selection chosen = parse_selection(spec);
  problem at;
  at.ranks = ranks;
  const auto programs = generate_all(chosen, at);
  const traffic sent = sent_by(programs[ranks / 3]);
  const flat_load load = flat_load_of(chosen, ranks).value();
  EXPECT_EQ(load.messages, sent.messages);
  EXPECT_EQ(load.blocks, sent.blocks);
  if (!chosen.which->uniform_only) {
    EXPECT_EQ(load.metadata_messages, sent.metadata_messages);
  }
  const std::int64_t chain = message_chains(programs).longest();
  EXPECT_GE(load.waves, chain);
  if (how == waves::exactly) {
    EXPECT_EQ(load.waves, chain);
  }
}

TEST(hockney, counts_what_schedules_do) {
  for (int ranks = 1; ranks <= 40; ++ranks) {
    for (const char* spec : {"tuna:inflight=1", "tuna:radix=2,inflight=1", "tuna:radix=80", "bruck:radix=3",
                             "bruck:variant=basic", "two_phase", "spread_out", "linear", "scattered", "pairwise",
                             "scattered:block_count=7", "scattered:block_count=all"})
      expect_load(spec, ranks);
    if (ranks % 2 == 0) expect_load("exclusive_or", ranks);
    for (const char* spec : {"tuna", "tuna:radix=3", "tuna:radices=2x3x12", "tuna:radix=9,inflight=2"})
      expect_load(spec, ranks, waves::at_most);
  }
  EXPECT_FALSE(flat_load_of(parse_selection("native"), 4));
  EXPECT_FALSE(flat_load_of(parse_selection("hierarchical"), 4));
}

// On a full digit system every digit waits for the one before.
TEST(hockney, waits_once_per_digit_in_flight) {
  for (const auto& [ranks, radix] : {std::pair{64, 4}, {125, 5}, {81, 3}, {128, 2}})
    expect_load("tuna:radix=" + std::to_string(radix), ranks);
}

TEST(hockney, adds_up_what_a_machine_takes) {
  const flat_load load{2, 14, 7, 112, 175};
  EXPECT_DOUBLE_EQ(seconds(load, 8, {1, 0, 0, 0, 0}), 2);
  EXPECT_DOUBLE_EQ(seconds(load, 8, {0, 1, 0, 0, 0}), 14);
  EXPECT_DOUBLE_EQ(seconds(load, 8, {0, 0, 1, 0, 0}), 7);
  EXPECT_DOUBLE_EQ(seconds(load, 8, {0, 0, 0, 1, 0}), 8 * 112);
  EXPECT_DOUBLE_EQ(seconds(load, 8, {0, 0, 0, 0, 1}), 8 * 175);
}

// ---- best_flat -----------------------------------------------------------------------------------------------------

// Specification 7's example machine: alpha = 2 us, 10 GB/s, one port.
const hockney one_port{0, 2e-6, 0, 1e-10, 0};

TEST(best_flat, is_no_worse_than_the_best_radix_of_the_specification) {
  struct row {
    int ranks;
    double bytes, best_us, linear_us;
  };
  for (const row& r : {row{4096, 8, 43.7, 8193}, row{4096, 64, 147.8, 8216}, row{4096, 1024, 1078, 8609},
                       row{4096, 16384, 13464, 14899}, row{4096, 65536, 35027, 35027}, row{512, 8, 19.8, 1022},
                       row{512, 1024, 179.6, 1074}, row{512, 4096, 488.6, 1231}}) {
    const prediction best = best_flat(r.ranks, r.bytes, one_port);
    EXPECT_LT(best.seconds * 1e6, r.best_us * 1.003) << best.reason;
    EXPECT_GT(best.seconds * 1e6, r.best_us * 0.94) << best.reason;
    const flat_load linear = flat_load_of(parse_selection("spread_out"), r.ranks).value();
    EXPECT_NEAR(seconds(linear, r.bytes, one_port) * 1e6, r.linear_us, 0.5);
  }
}

// The spec it names can be parsed, and has the time it names; nothing flat that it could have named is faster.
TEST(best_flat, names_the_fastest) {
  const hockney machine{3e-6, 0.4e-6, 0.2e-6, 2e-10, 1e-10};
  for (int ranks = 1; ranks <= 130; ++ranks)
    for (double bytes : {0.0, 8.0, 300.0, 4096.0, 1e5}) {
      const prediction best = best_flat(ranks, bytes, machine);
      const auto time = [&](const std::string& spec) {
        return seconds(flat_load_of(parse_selection(spec), ranks).value(), bytes, machine);
      };
      EXPECT_DOUBLE_EQ(time(best.spec), best.seconds) << best.spec << " on " << ranks;
      EXPECT_EQ(best.reason.find(best.spec), 0u);
      for (const char* spec : {"spread_out", "tuna", "tuna:radix=2", "tuna:radix=3", "tuna:radix=4", "tuna:radix=8",
                               "tuna:inflight=1", "two_phase", "scattered", "pairwise", "exclusive_or"})
        EXPECT_LE(best.seconds, time(spec) * (1 + 1e-12)) << spec << " on " << ranks << ": " << best.reason;
    }
}

TEST(best_flat, explains_itself_in_one_line) {
  EXPECT_EQ(best_flat(64, 8, one_port).reason,
            "tuna:radix=2: 6 messages, 192 blocks of 8 bytes, 12.15 us; spread_out: 63 messages, 63 blocks of 8 bytes, "
            "126.1 us");
  EXPECT_EQ(best_flat(64, 65536, one_port).reason, "spread_out: 63 messages, 63 blocks of 6.554e+04 bytes, 538.9 us");
}

}  // namespace
}  // namespace shoal
