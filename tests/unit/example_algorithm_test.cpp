// The algorithm of docs/add-an-algorithm.md, which shows its file as it is.
#include "../../examples/algorithm/star.cpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace shoal
