#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "algorithms/algorithm.hpp"

namespace shoal {
namespace {

std::string refusal(const std::string& spec) {
  try {
    parse_selection(spec);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(selection, reads_names_and_parameters) {
  const selection tuna = parse_selection("tuna:radix=8,inflight=2");
  EXPECT_EQ(tuna.which, find_algorithm("tuna"));
  EXPECT_EQ(tuna.with.number("radix", 0), 8);
  EXPECT_EQ(tuna.with.number("inflight", 0), 2);
  EXPECT_EQ(tuna.with.word("radices"), "none");
  EXPECT_EQ(parse_selection("tuna").with.number("radix", 77), 77);
  EXPECT_EQ(parse_selection("tuna:radices=3x4x2").with.list("radices"), (std::vector<int>{3, 4, 2}));
  EXPECT_EQ(parse_selection("tuna:radices=5").with.list("radices"), std::vector<int>{5});
  EXPECT_TRUE(parse_selection("native").with.values().empty());
  EXPECT_EQ(parse_selection("scattered:block_count=all").with.word("block_count"), "all");
}

TEST(selection, reads_a_value_for_each_level) {
  const arguments with = parse_selection("hierarchical:local=shared/linear,radix=4/auto/2").with;
  EXPECT_EQ(with.word_at(0, "local"), "shared");
  EXPECT_EQ(with.word_at(1, "local"), "linear");
  EXPECT_EQ(with.word_at(5, "local"), "linear");  // the last holds for all further levels
  EXPECT_EQ(with.number_at(0, "radix", 77), 4);
  EXPECT_EQ(with.number_at(1, "radix", 77), 77);
  EXPECT_EQ(with.number_at(3, "radix", 77), 2);
  EXPECT_EQ(with.levels("radix"), 3);
  EXPECT_EQ(with.levels("carriers"), 1);
}

TEST(selection, writes_the_shortest_spec_with_the_same_meaning) {
  for (const char* spec :
       {"tuna", "tuna:radix=8", "tuna:radix=8,inflight=2", "tuna:radices=8x8x16", "bruck:variant=basic",
        "scattered:block_count=all", "native", "hierarchical:global=radix,global_radix=3,overlap=off"})
    EXPECT_EQ(to_string(parse_selection(spec)), spec);
  EXPECT_EQ(to_string(parse_selection("tuna:inflight=2,radix=8")), "tuna:radix=8,inflight=2");
  EXPECT_EQ(to_string(parse_selection("tuna:radix=auto,inflight=all,radices=none")), "tuna");
  EXPECT_EQ(parse_selection("tuna:radix=auto"), parse_selection("tuna"));
  EXPECT_FALSE(parse_selection("tuna:radix=9") == parse_selection("tuna"));
}

TEST(selection, names_the_algorithms_there_are) {
  const std::string text = refusal("tunna:radix=8");
  EXPECT_EQ(text.find("there is no algorithm 'tunna'; there are "), 0u) << text;
  for (const algorithm& a : algorithms())
    if (a.what == collective::alltoall) {
      EXPECT_NE(text.find(a.name), std::string::npos) << a.name;
    }
  EXPECT_EQ(refusal("").find("there is no algorithm ''"), 0u);
}

TEST(selection, keeps_the_collectives_apart) {
  EXPECT_EQ(find_algorithm("tuna", collective::allgather), nullptr);
  EXPECT_THROW(parse_selection("tuna", collective::allgather), std::invalid_argument);
}

TEST(selection, says_what_is_wrong) {
  const std::pair<const char*, const char*> wrong[] = {
      {"tuna:", "'' is not of the form parameter=value, as in tuna:radix=auto"},
      {"tuna:radix", "'radix' is not of the form parameter=value, as in tuna:radix=auto"},
      {"tuna:radix=8,", "'' is not of the form parameter=value, as in tuna:radix=auto"},
      {"pairwise:fast", "'fast' is not of the form parameter=value, as in pairwise:..."},
      {"tuna:base=8", "algorithm tuna has no parameter 'base'; it has radix, radices, inflight"},
      {"tuna:=8", "algorithm tuna has no parameter ''; it has radix, radices, inflight"},
      {"pairwise:radix=8", "algorithm pairwise has no parameter 'radix'; it has none"},
      {"tuna:radix=1", "tuna: radix=1 is out of range; allowed: auto, a whole number from 2 to 1048576"},
      {"tuna:radix=", "tuna: radix= is out of range; allowed: auto, a whole number from 2 to 1048576"},
      {"tuna:radix=8.0", "tuna: radix=8.0 is out of range; allowed: auto, a whole number from 2 to 1048576"},
      {"tuna:radix= 8", "tuna: radix= 8 is out of range; allowed: auto, a whole number from 2 to 1048576"},
      {"tuna:radix=-8", "tuna: radix=-8 is out of range; allowed: auto, a whole number from 2 to 1048576"},
      {"tuna:radix=99999999999",
       "tuna: radix=99999999999 is out of range; allowed: auto, a whole number from 2 to 1048576"},
      {"tuna:radix=8x8", "tuna: radix=8x8 is out of range; allowed: auto, a whole number from 2 to 1048576"},
      {"tuna:radices=8x1",
       "tuna: radices=8x1 is out of range; allowed: none, whole numbers 2 to 1048576 joined by x, "
       "such as 8x8x16"},
      {"tuna:radices=8x",
       "tuna: radices=8x is out of range; allowed: none, whole numbers 2 to 1048576 joined by x, "
       "such as 8x8x16"},
      {"bruck:variant=modifed", "bruck: variant=modifed is out of range; allowed: basic, modified"},
      {"hierarchical:local=radix/tree",
       "hierarchical: local=radix/tree is out of range; allowed: radix, linear, shared, scattered, pairwise, none; or "
       "these for "
       "each level, the innermost first, joined by /"},
      {"hierarchical:carriers=2/",
       "hierarchical: carriers=2/ is out of range; allowed: all, a whole number from 1 to 1048576; or these for each "
       "level, the innermost first, joined by /"},
      {"scattered:block_count=0",
       "scattered: block_count=0 is out of range; allowed: all, a whole number from 1 to 1048576"},
  };
  for (const auto& [spec, text] : wrong) EXPECT_EQ(refusal(spec), text);
}

TEST(selection, has_no_schedule_for_the_mpi_library) {
  problem at;
  at.ranks = 4;
  EXPECT_THROW(generate(parse_selection("native"), at, 0), std::invalid_argument);
}

TEST(algorithms, have_one_name_each_and_parameters_that_accept_their_defaults) {
  std::set<std::pair<std::string, collective>> names;
  for (const algorithm& a : algorithms()) {
    EXPECT_TRUE(names.emplace(a.name, a.what).second) << a.name;
    EXPECT_FALSE(a.summary.empty() || a.source.empty()) << a.name;
    std::string spec = a.name;
    for (const parameter& p : a.parameters) spec += (spec == a.name ? ":" : ",") + p.name + "=" + p.standard;
    EXPECT_EQ(to_string(parse_selection(spec, a.what)), a.name);
  }
}

}  // namespace
}  // namespace shoal
