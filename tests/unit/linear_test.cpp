#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "algorithms/algorithm.hpp"
#include "schedule/checker.hpp"

namespace shoal {
namespace {

std::vector<schedule> programs_of(const std::string& spec, int ranks) {
  problem at;
  at.ranks = ranks;
  return generate_all(parse_selection(spec), at);
}

const std::vector<std::string> all_specs{"spread_out",
                                         "scattered:block_count=1",
                                         "scattered:block_count=3",
                                         "scattered",
                                         "scattered:block_count=all",
                                         "linear",
                                         "pairwise",
                                         "exclusive_or",
                                         "shared"};

TEST(linear, delivers) {
  for (int ranks = 1; ranks <= 40; ++ranks)
    for (const auto& spec : all_specs) {
      const auto fault = check(programs_of(spec, ranks), alltoall_meaning(ranks));
      ASSERT_FALSE(fault) << spec << " on " << ranks << " ranks: " << fault->text;
    }
}

TEST(linear, sends_one_message_of_one_block_to_every_other_rank) {
  for (int ranks = 1; ranks <= 40; ++ranks)
    for (const auto& spec : all_specs)
      for (const auto& program : programs_of(spec, ranks)) {
        const traffic sent = sent_by(program);
        ASSERT_EQ(sent.messages, ranks - 1);
        ASSERT_EQ(sent.blocks, ranks - 1);
        ASSERT_EQ(sent.metadata_messages, 0);
        ASSERT_EQ(program.temp_slots, 0);
      }
}

// For each step, ["r" or "s", peer] in the order of posting. Steps in which a rank does nothing are left out.
nlohmann::json batches_of(const schedule& program) {
  nlohmann::json batches = nlohmann::json::array();
  int step = -1;
  for (const operation& op : program.operations) {
    if (op.kind == op_kind::copy) continue;
    if (op.step != step) batches.push_back(nlohmann::json::array());
    step = op.step;
    batches.back().push_back({op.kind == op_kind::send ? "s" : "r", op.peer});
  }
  return batches;
}

TEST(linear, posts_in_the_order_of_the_vectors) {
  std::ifstream file(std::string(SHOAL_VECTORS) + "/vectors-radix.json");
  const auto baselines = nlohmann::json::parse(file).at("baselines");
  const std::tuple<const char*, const char*, int> cases[] = {
      {"scattered P=5 block_count=2 dir=-1", "scattered:block_count=2", 5},
      {"spread_out P=4 dir=-1", "spread_out", 4},
      {"linear_ascending P=4", "linear", 4},
      {"pairwise P=4", "pairwise", 4},
      {"xor P=4", "exclusive_or", 4},
      {"mutual_pairs P=5", "exclusive_or", 5},
      {"mutual_pairs P=6", "exclusive_or", 6}};
  for (const auto& [key, spec, ranks] : cases) {
    const auto programs = programs_of(spec, ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      nlohmann::json expected = baselines.at(key)[rank];
      for (auto it = expected.begin(); it != expected.end();) it = it->empty() ? expected.erase(it) : it + 1;
      EXPECT_EQ(batches_of(programs[rank]), expected) << key << ", rank " << rank;
    }
  }
}

TEST(linear, meets_in_mutual_pairs_in_as_few_rounds_as_there_can_be) {
  for (int ranks = 2; ranks <= 33; ++ranks) {
    std::map<std::pair<int, int>, int> partner;  // by rank and round
    int rounds = 0;
    for (const auto& program : programs_of("exclusive_or", ranks))
      for (const operation& op : program.operations)
        if (op.kind == op_kind::send) {
          partner[{program.rank, op.step}] = op.peer;
          rounds = std::max(rounds, op.step + 1);
        }
    EXPECT_EQ(rounds, ranks % 2 == 0 ? ranks - 1 : ranks);
    for (const auto& [who, peer] : partner) EXPECT_EQ((partner[{peer, who.second}]), who.first);
  }
}

// An operation comes after everything in the batches before its own, and after nothing in its own.
TEST(linear, runs_batch_after_batch) {
  const auto programs = programs_of("scattered:block_count=3", 12);
  for (const auto& program : programs) {
    std::vector<std::vector<char>> comes_after(program.operations.size());
    for (std::size_t id = 0; id < program.operations.size(); ++id) {
      comes_after[id].assign(id, 0);
      for (op_id direct : program.after_of(program.operations[id])) {
        comes_after[id][direct] = 1;
        for (op_id other = 0; other < direct; ++other) comes_after[id][other] |= comes_after[direct][other];
      }
      const operation& op = program.operations[id];
      for (std::size_t other = 1; other < id && op.kind != op_kind::copy; ++other)
        if (program.operations[other].kind != op_kind::copy) {
          ASSERT_EQ(comes_after[id][other] != 0, program.operations[other].step < op.step);
        }
    }
  }
}

TEST(linear, has_dependencies_in_proportion_to_its_operations) {
  const auto program = programs_of("scattered:block_count=64", 1000)[0];
  EXPECT_LT(program.after.size(), 2 * program.operations.size());
}

}  // namespace
}  // namespace shoal
