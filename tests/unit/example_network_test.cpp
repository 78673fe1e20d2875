// The network of docs/add-an-algorithm.md: one file, and one line that puts it into the table.
#include "../../examples/algorithm/line.cpp"

#include <gtest/gtest.h>

#include "intergroup_fixture.hpp"
#include "model/intergroup.hpp"

namespace shoal {
namespace {

using testing::two_groups;

constexpr link_cost link{10e-6, 1e-9};

// Does what the page's line in families.hpp does.
std::vector<algorithm> table_with_line() {
  std::vector<algorithm> table = algorithms();
  table.push_back(line_family().front());
  return table;
}

TEST(example_network, costs_what_its_file_says) {
  const auto along_the_line = [](int a, int b) { return a - b == 1 || b - a == 1; };
  for (int p = 1; p <= 12; ++p)
    for (int q = 1; q <= 12; ++q) {
      const problem at = two_groups(p, q);
      std::vector<schedule> programs;
      for (int rank = 0; rank < at.ranks; ++rank) programs.push_back(generate_line(at, rank, {}));
      const auto wrong = check(programs, allgather_meaning(p, q));
      ASSERT_FALSE(wrong) << p << " to " << q << ": " << wrong->text;
      const step_report report = follow_steps(programs, allgather_meaning(p, q), along_the_line);
      ASSERT_FALSE(report.fault) << report.fault->text;
      EXPECT_EQ(report.steps, line_cost(at, {}).steps);
      EXPECT_EQ(report.volume, line_cost(at, {}).volume);
    }
}

TEST(example_network, is_known_by_its_entry) {
  const std::vector<algorithm> table = table_with_line();
  EXPECT_EQ(to_string(schedule_of("line", table)), "line");
  EXPECT_THROW(schedule_of("line"), std::invalid_argument);
  const auto found = predict_intergroup(two_groups(3, 4), "line", 1000, link, table);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].spec, "line");
  EXPECT_DOUBLE_EQ(found[0].seconds, 6 * link.startup + 1.05 * 6 * 1000 * link.per_byte);
}

// Other algorithms may serve the network too.
TEST(example_network, takes_what_algorithms_offer_for_it) {
  std::vector<algorithm> table = table_with_line();
  for (algorithm& a : table)
    if (a.name == "circulant")
      a.on_network = [](const problem&, std::string_view network, double, const link_cost&) {
        return only_on("line", network, {"circulant"});
      };
  const auto found = predict_intergroup(two_groups(6, 2), "line", 8, link, table);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].spec, "circulant");
}

}  // namespace
}  // namespace shoal
