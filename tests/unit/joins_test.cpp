// A schedule means the same if its joins are replaced by dependencies.
#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/algorithm.hpp"
#include "schedule/checker.hpp"

namespace shoal {
namespace {

TEST(WithoutJoins, KeepsOrderTransfersAndDelivery) {
  const selection chosen = parse_selection("scattered:block_count=3");
  for (int ranks = 1; ranks <= 14; ++ranks) {
    problem at;
    at.ranks = ranks;
    std::vector<schedule> plain;
    for (const schedule& program : generate_all(chosen, at)) plain.push_back(without_joins(program));
    for (const schedule& program : plain)
      for (const operation& op : program.operations) EXPECT_TRUE(op.kind != op_kind::copy || op.slot_count == 2);
    EXPECT_FALSE(check(plain, alltoall_meaning(ranks)));
  }
}

// In batches of 3, an operation of the second batch waits for all of the first: three receives and three sends.
TEST(WithoutJoins, AnOperationWaitsForAllThatTheJoinStoodFor) {
  problem at;
  at.ranks = 8;
  const schedule plain = without_joins(generate(parse_selection("scattered:block_count=3"), at, 0));
  const auto& ops = plain.operations;
  const auto second_batch = std::find_if(ops.begin(), ops.end(), [](const operation& op) { return op.step == 1; });
  ASSERT_NE(second_batch, ops.end());
  EXPECT_EQ(second_batch->after_count, 6u);
}

}  // namespace
}  // namespace shoal
