#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "algorithms/algorithm.hpp"
#include "model/best_radices.hpp"

namespace shoal {
namespace {

// ---- best_radices ------------------------------------------------------------------------------------------------

// Visits all digit systems, with the smallest top radix that reaches all ranks: a larger one changes nothing.
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

// Specification 7.1: if only digits below the top one send sizes apart from data, the top radix is twice the others.
TEST(best_radices, enlarges_the_digit_without_metadata) {
  EXPECT_EQ(best_radices(1024, {0, 1, 0.035, 1}).radices, (std::vector<int>{8, 8, 16}));
  EXPECT_EQ(best_radices(512, {0, 1, 0.2, 1}).radices, (std::vector<int>{16, 32}));
}

// ---- loads: closed forms against schedules ---------------------------------------------------------------------

// The longest chain of messages, over all ranks. Each message is sent after the one before it was sent or has arrived.
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

  // How many receives from the same peer come before this one.
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

enum class waits { exactly, at_most };

void expect_waves(const std::string& spec, int ranks, waits how = waits::exactly) {
  SCOPED_TRACE(spec + " on " + std::to_string(ranks));
  const selection chosen = parse_selection(spec);
  problem at;
  at.ranks = ranks;
  const auto programs = generate_all(chosen, at);
  const traffic sent = sent_by(programs[ranks / 3]);
  const auto waves = chosen.which->waves({ranks, 1}, chosen.with).value();
  wave all;
  for (const wave& one : waves) {
    all.crossing_messages += one.crossing_messages;
    all.crossing += one.crossing;
    all.announced += one.announced;
  }
  EXPECT_NEAR(all.crossing_messages, static_cast<double>(sent.messages), 1e-9);
  EXPECT_NEAR(all.crossing, static_cast<double>(sent.blocks), 1e-9);
  EXPECT_EQ(all.announced, static_cast<double>(sent.metadata_messages));
  const std::int64_t chain = message_chains(programs).longest();
  const auto count = static_cast<std::int64_t>(waves.size());
  EXPECT_GE(count, chain);
  if (how == waits::exactly) {
    EXPECT_EQ(count, chain);
  }
}

TEST(waves, count_what_schedules_do) {
  for (int ranks = 1; ranks <= 40; ++ranks) {
    for (const char* spec : {"tuna:inflight=1", "tuna:radix=2,inflight=1", "tuna:radix=80", "spread_out", "linear",
                             "scattered", "pairwise", "scattered:block_count=7", "scattered:block_count=all"})
      expect_waves(spec, ranks);
    if (ranks % 2 == 0) expect_waves("exclusive_or", ranks);
    for (const char* spec : {"tuna", "tuna:radix=3", "tuna:radices=2x3x12", "tuna:radix=9,inflight=2"})
      expect_waves(spec, ranks, waits::at_most);
  }
}

// On a full digit system every digit waits for the one before.
TEST(waves, are_one_for_each_digit_in_flight) {
  for (const auto& [ranks, radix] : {std::pair{64, 4}, {125, 5}, {81, 3}, {128, 2}})
    expect_waves("tuna:radix=" + std::to_string(radix), ranks);
}

}  // namespace
}  // namespace shoal
