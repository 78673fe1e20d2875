// Profiles: how they are read and written, and that one mistake refuses the whole profile.
#include <gtest/gtest.h>

#include "select/choose.hpp"
#include "select/profile.hpp"

namespace shoal {
namespace {

constexpr const char* head =
    "format = 1\nmpi = \"MPICH 5.0.2\"\nmachine = \"M, 2 cores\"\nlayout = \"1x8\"\nranks = 8\n";

profile parse(const std::string& text) { return parse_profile(text, "p.toml"); }

std::string refused(const std::string& text) {
  try {
    parse(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

// What is said when a profile with this row in line 8 is refused.
std::string refused_row(const std::string& row) {
  return refused(head + std::string("[alltoall]\nmicroseconds = [\n") + row + ",\n  { block = 64, native = 2 },\n]\n");
}

profile two_kinds() {
  return parse(head + std::string(R"(
[alltoall]
microseconds = [
  { block = 8, shared = 2, "tuna:radix=2" = 5, native = 9.5 },
  { block = 64, shared = 3, native = 9 },
  { block = 512, native = 20, "tuna:radix=2" = 40, shared = 30 },
]
[alltoallv]
asking = 3.5
microseconds = [{ block = 8, native = 1 }, { block = 9, native = 1e3 }]
)"));
}

TEST(profile, says_what_was_measured) {
  const profile p = two_kinds();
  EXPECT_EQ(p.ranks, 8);
  EXPECT_EQ(p.mpi.text, "MPICH 5.0.2");
  EXPECT_EQ(p.layout.line, 4);
  ASSERT_TRUE(p.kinds[0] && p.kinds[1]);
  EXPECT_DOUBLE_EQ(p.kinds[0]->measured("m", 8).asking, 3.5e-6);
  const measured_exchanges all = p.kinds[1]->measured("by the profile", 8);
  EXPECT_EQ(all.specs, (std::vector<std::string>{"native", "shared", "tuna:radix=2"}));
  ASSERT_EQ(all.points.size(), 3u);
  EXPECT_DOUBLE_EQ(all.points[1].seconds[1], 3e-6);
}

TEST(profile, joins_what_rows_leave_out_by_straight_lines) {
  const measured_exchanges all = two_kinds().kinds[1]->measured("m", 8);
  EXPECT_DOUBLE_EQ(all.points[0].seconds[2], 5e-6);
  EXPECT_NEAR(all.points[1].seconds[2], (5 + 35.0 * 56 / 504) * 1e-6, 1e-12);
  EXPECT_DOUBLE_EQ(all.points[2].seconds[2], 40e-6);
}

TEST(profile, decides) {
  const measured_exchanges all = two_kinds().kinds[1]->measured("by the profile", 8);
  const auto spec = [&](std::int64_t block) { return to_string(choose(all, {static_cast<double>(block)}).algorithm); };
  EXPECT_EQ(spec(8), "shared");
  EXPECT_EQ(spec(100), "shared");
  EXPECT_EQ(spec(600), "native");
  EXPECT_NE(choose(all, {8}).reason.find("by the profile, for 8 bytes"), std::string::npos);
}

profile with_sparse(const std::string& rows) {
  return parse(head + std::string("[alltoallv]\nmicroseconds = [{ block = 8, native = 1, shared = 2 }, ") +
               "{ block = 64, native = 4, shared = 6 }]\nsparse = [" + rows + "]\n");
}

TEST(profile, may_know_mostly_empty_exchanges) {
  const profile p = with_sparse("{ block = 8, native = 1, shared = 0.5 }, { block = 1000, native = 3, shared = 9 }");
  const measured_exchanges all = p.kinds[0]->measured("m", 8);
  EXPECT_NEAR(all.nonempty_share, 0.1, 0.03);
  EXPECT_EQ(to_string(choose(all, {8, 0.1}).algorithm), "shared");
  EXPECT_EQ(to_string(choose(all, {8, 1}).algorithm), "native");
  EXPECT_TRUE(p.kinds[0]->measured("m", 3).sparse.empty());  // of 3 ranks none has a partner
  const std::string text = to_toml(p);
  EXPECT_EQ(to_toml(parse_profile(text, "again")), text);
  profile again = p;
  again.kinds[0] = profile::table::of(all);
  EXPECT_EQ(to_toml(again), text);
}

TEST(profile, is_refused_for_sparse_rows_of_other_algorithms) {
  EXPECT_THROW(with_sparse("{ block = 8, native = 1 }, { block = 9, native = 1 }"), std::invalid_argument);
  EXPECT_THROW(with_sparse("{ block = 8, native = 1, shared = 1 }"), std::invalid_argument);
  EXPECT_EQ(refused(head + std::string("[alltoall]\nmicroseconds = [{ block = 8, native = 1 }, { block = 9, native = 1 "
                                       "}]\nsparse = [{ block = 8, native = 1 }, { block = 9, native = 1 }]")),
            "p.toml:8: sparse belongs in [alltoallv]");
}

TEST(profile, is_the_same_when_written_and_read_again) {
  const profile p = two_kinds();
  const std::string text = to_toml(p);
  EXPECT_EQ(to_toml(parse_profile(text, "again")), text);
  EXPECT_NE(text.find("{ block = 8, shared = 2, \"tuna:radix=2\" = 5, native = 9.5 }"), std::string::npos) << text;
  profile odd = p;
  odd.machine.text = "a \"quoted\" \\ name\n";
  EXPECT_EQ(parse(to_toml(odd)).machine.text, "a \"quoted\" \\ name ");
}

TEST(profile, is_refused_whole_with_file_line_and_expectation) {
  EXPECT_EQ(refused(""), "p.toml:1: format is missing; write, for example, format = 1");
  EXPECT_EQ(refused("format = 2\nranks = 8\n"), "p.toml:1: format is unknown; this version of Shoal reads format = 1");
  EXPECT_EQ(refused("format = 1\n"), "p.toml:1: ranks is missing; write, for example, ranks = 1");
  EXPECT_EQ(refused("format = 1\nranks = 0\n"), "p.toml:2: ranks must be a whole number from 1 to 2147483647");
  EXPECT_EQ(refused("format = 1\nranks = 2\nlayout = \"3x8\""), "p.toml:3: layout = \"3x8\" is not for 2 ranks");
  EXPECT_EQ(refused(head), "p.toml:1: there is no [alltoall] and no [alltoallv]");
  EXPECT_EQ(refused("format = 1\nranks = 2\nspeed = 3"),
            "p.toml:3: 'speed' is unknown; the profile may have alltoall, alltoallv, format, layout, machine, mpi, "
            "ranks, shoal");
  EXPECT_EQ(refused("format = 1\nmpi = 3\nranks = 2"), "p.toml:2: mpi must be a text in quotes");
  EXPECT_EQ(refused("format = 1\n\nranks = = 2").substr(0, 9), "p.toml:3:");
  EXPECT_EQ(refused("format = 1\nranks = \u2009 2").substr(0, 32), "p.toml:2: this character is not ");
  EXPECT_NE(refused(std::string(head) + "[alltoall]\n").find("p.toml:6: alltoall needs microseconds"),
            std::string::npos);
}

TEST(profile, is_refused_for_one_wrong_row) {
  EXPECT_EQ(refused_row("{ block = 8, native = 1 }"), "accepted");
  EXPECT_EQ(refused_row("{ block = 8, native = 0 }"), "p.toml:8: native must be a time in microseconds above 0");
  EXPECT_EQ(refused_row("{ block = 8, native = nan }"), "p.toml:8: native must be a time in microseconds above 0");
  EXPECT_EQ(refused_row("{ block = 8, native = inf }"), "p.toml:8: native must be a time in microseconds above 0");
  EXPECT_EQ(refused_row("{ block = 8, native = 9007199254740993 }"),  // no double is that number
            "p.toml:8: native must be a time in microseconds above 0");
  EXPECT_EQ(refused_row("{ block = 8, native = \"1\" }"), "p.toml:8: native must be a time in microseconds above 0");
  EXPECT_EQ(refused_row("{ block = 64, native = 1 }"), "p.toml:9: blocks must ascend from row to row");
  EXPECT_EQ(refused_row("{ block = 8 }"),
            "p.toml:8: the row names no algorithm; write one as in { block = 8, native = 1.5 }");
  EXPECT_EQ(refused_row("{ native = 1 }"), "p.toml:8: block is missing; write, for example, block = 0");
  EXPECT_EQ(refused_row("{ block = 8, shared = 1, native = 2 }"),
            "p.toml:8: shared must have a time in the first and the last row too");
  EXPECT_NE(refused_row("{ block = 8, tunna = 1 }").find("p.toml:8: "), std::string::npos);
  EXPECT_NE(refused_row("{ block = 8, tunna = 1 }").find("tuna"), std::string::npos);
  EXPECT_EQ(
      refused(head + std::string("[alltoallv]\nmicroseconds = [\n{ block = 8, bruck = 1 }, { block = 9, bruck = 1 }]")),
      "p.toml:8: bruck needs equal blocks; it belongs in [alltoall]");
}

TEST(profile, fits_where_nothing_it_says_differs) {
  const profile p = two_kinds();
  const job_description here{"MPICH 5.0.2", "M, 2 cores", node_layout::parse("8")};
  EXPECT_FALSE(misfit(p, here));
  EXPECT_EQ(
      misfit(p, {"Open MPI 5.0.11", "M, 2 cores", node_layout::parse("8")}),
      "p.toml:2: mpi = \"MPICH 5.0.2\", but here it is \"Open MPI 5.0.11\"; run shoal tune here, or take the line out "
      "to use the profile all the same");
  EXPECT_TRUE(misfit(p, {"MPICH 5.0.2", "M, 4 cores", node_layout::parse("8")}));
  EXPECT_NE(misfit(p, {"MPICH 5.0.2", "M, 2 cores", node_layout::parse("2x4")})->find("\"2x4\""), std::string::npos);
  EXPECT_EQ(misfit(p, {"MPICH 5.0.2", "M, 2 cores", node_layout::parse("4")}),
            "p.toml:5: for 8 ranks, but here are 4; run shoal tune -n 4");
  profile any = p;
  any.mpi = any.machine = any.layout = {};
  EXPECT_FALSE(misfit(any, {"Open MPI 5.0.11", "another", node_layout::parse("2x4")}));
}

TEST(node_layout, is_written_as_it_is_read) {
  for (const char* text : {"1x8", "8x8", "4,4,3", "0,3/1,4/2,5", "1x1", "3x1"})
    EXPECT_EQ(to_string(node_layout::parse(text)), text);
  EXPECT_EQ(to_string(node_layout::parse("cyclic:2x2")), "0,2/1,3");
}

}  // namespace
}  // namespace shoal
