// The algorithm of docs/add-an-algorithm.md. That page shows the algorithm's file as it is.
#include "../../examples/algorithm/star.cpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/load.hpp"
#include "schedule/checker.hpp"

namespace shoal {
namespace {

std::vector<schedule> star_of(int ranks) {
  problem at;
  at.ranks = ranks;
  std::vector<schedule> programs;
  for (int rank = 0; rank < ranks; ++rank) programs.push_back(generate_star(at, rank, {}));
  return programs;
}

TEST(example_algorithm, delivers) {
  for (int ranks = 1; ranks <= 40; ++ranks) {
    const auto fault = check(star_of(ranks), alltoall_meaning(ranks));
    ASSERT_FALSE(fault) << ranks << " ranks: " << fault->text;
  }
}

TEST(example_algorithm, costs_what_its_file_says) {
  for (int ranks = 2; ranks <= 40; ++ranks) {
    const auto programs = star_of(ranks);
    EXPECT_EQ(sent_by(programs[0]).messages, ranks - 1);
    EXPECT_EQ(sent_by(programs[0]).blocks, (ranks - 1) * (ranks - 1));
    EXPECT_EQ(sent_by(programs[1]).messages, 1);
    EXPECT_EQ(sent_by(programs[1]).blocks, ranks - 1);
  }
}

// Does what the page's line in families.hpp does.
std::vector<algorithm> table_with_star() {
  std::vector<algorithm> table = algorithms();
  table.push_back(star_family().front());
  return table;
}

bool has_star(const std::vector<std::string>& specs) {
  return std::find(specs.begin(), specs.end(), "star") != specs.end();
}

TEST(example_algorithm, is_known_to_jobs_and_to_tune_by_its_entry) {
  const std::vector<algorithm> table = table_with_star();
  problem few, many;
  few.ranks = 4;
  many.ranks = 5;
  EXPECT_TRUE(has_star(worth_trying(collective::alltoall, few, table)));
  EXPECT_FALSE(has_star(worth_trying(collective::alltoall, many, table)));
  EXPECT_FALSE(has_star(worth_trying(collective::neighbor_alltoall, few, table)));
  for (const bool equal_blocks : {true, false}) {
    EXPECT_TRUE(has_star(worth_measuring(few, equal_blocks, table)));
    EXPECT_FALSE(has_star(worth_measuring(many, equal_blocks, table)));
  }
  EXPECT_FALSE(has_star(worth_measuring(few, true)));
}

TEST(example_algorithm, is_predicted_from_its_schedule) {
  const algorithm star = star_family().front();
  problem at;
  at.ranks = 4;
  const level_load counted = load_of(selection{&star, {}}, at).of(level::network);
  EXPECT_EQ(counted.messages, 3);
  EXPECT_EQ(counted.blocks, 9);
}

}  // namespace
}  // namespace shoal
