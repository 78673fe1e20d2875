// Messages through the memory of a node match in the order in which both ranks start them, whatever their tags. So
// these tests prove that every schedule that goes through this memory starts them in the same order on both ranks.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "algorithms/algorithm.hpp"
#include "random_graph.hpp"
#include "schedule/builder.hpp"
#include "schedule/checker.hpp"
#include "topology/layout_tree.hpp"
#include "topology/node_layout.hpp"

namespace shoal {
namespace {

constexpr const char* layouts[] = {"1x1",
                                   "1x2",
                                   "1x8",
                                   "2x4",
                                   "3,2,2",
                                   "5,1,3",
                                   "3x3",
                                   "cyclic:3x4",
                                   "0,3/1,2,4",
                                   "node:2 socket:2 core:3",
                                   "group:2 node:2 socket:2 core:2"};

// All algorithms that go through memory, with the parameters that change what two ranks of a node send each other.
constexpr const char* alltoalls[] = {"shared",
                                     "hierarchical:local=shared",
                                     "hierarchical:local=shared,carriers=1",
                                     "hierarchical:local=shared,carriers=2",
                                     "hierarchical:local=shared,carriers=1/2",
                                     "hierarchical:local=shared,overlap=off",
                                     "hierarchical:local=shared,block_count=1",
                                     "hierarchical:local=shared,global=pairwise,carriers=2",
                                     "hierarchical:local=shared,global=radix,global_radix=2",
                                     "hierarchical:local=shared,pattern=staggered",
                                     "hierarchical:local=shared,pattern=staggered,overlap=off,carriers=1",
                                     "hierarchical:local=shared/radix",
                                     "hierarchical:local=radix/shared",
                                     "hierarchical:local=none/shared"};
constexpr const char* among_neighbors[] = {"direct", "gathered", "gathered:carriers=1", "gathered:carriers=2"};

struct job {
  std::string text;
  problem at;
  std::vector<schedule> programs;

  std::optional<fault> check_order() const {
    return shoal::check_order(programs, [&](int a, int b) { return at.nodes->node_of(a) == at.nodes->node_of(b); });
  }
};

void add(std::vector<job>& jobs, const selection& how, const problem& at, const char* layout) {
  if (how.which->refuses && how.which->refuses(at, how.with)) return;
  jobs.push_back({to_string(how) + " on " + layout, at, generate_all(how, at)});
  if (!jobs.back().programs[0].shared_memory) jobs.pop_back();
}

// A job for every schedule that goes through memory.
std::vector<job> jobs_through_memory() {
  std::vector<job> jobs;
  std::mt19937 random(11);
  for (const char* layout : layouts) {
    problem at = placed(layout_tree::parse(layout));
    for (const char* spec : alltoalls) add(jobs, parse_selection(spec), at, layout);
    for (int i = 0; i < 5; ++i) {
      at.neighbors = std::make_shared<const neighbor_graph>(testing::random_graph(at.ranks, 2 * at.ranks, random));
      for (const char* spec : among_neighbors)
        add(jobs, parse_selection(spec, collective::neighbor_alltoall), at, layout);
    }
  }
  return jobs;
}

TEST(check_order, holds_for_every_schedule_through_memory) {
  for (const job& one : jobs_through_memory()) {
    const auto fault = one.check_order();
    EXPECT_FALSE(fault) << one.text << ": " << fault->text;
  }
}

TEST(check_order, leaves_out_no_algorithm_through_memory) {
  std::set<std::string> checked, all;
  for (const job& one : jobs_through_memory()) checked.insert(one.text.substr(0, one.text.find_first_of(": ")));
  for (const algorithm& a : algorithms()) {
    const auto takes_it = [](const parameter& p) {
      return std::find(p.words.begin(), p.words.end(), "shared") != p.words.end();
    };
    if (a.name == "shared" || std::any_of(a.parameters.begin(), a.parameters.end(), takes_it)) all.insert(a.name);
  }
  EXPECT_EQ(checked, all);
}

// If the dependencies of an operation are taken away, it may be started before messages that precede it.
TEST(check_order, finds_what_may_overtake) {
  int found = 0;
  for (job& one : jobs_through_memory())
    for (schedule& program : one.programs)
      for (operation& op : program.operations) {
        const auto waits_for = std::exchange(op.after_count, 0);
        found += waits_for > 0 && one.check_order();
        op.after_count = waits_for;
      }
  EXPECT_GT(found, 20);
}

TEST(check_order, names_the_message_that_may_overtake) {
  builder b(3, 0);
  const slot from_two = b.new_temp(), own = send_slot(1);
  b.recv(2, {&from_two, 1});
  b.send(1, {&from_two, 1});
  b.send(1, {&own, 1});
  const schedule program = b.finish();
  const auto fault = check_order(std::span(&program, 1), [](int, int) { return true; });
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, fault_kind::any_order);
  EXPECT_EQ(fault->op, 2);
  EXPECT_NE(fault->text.find("may be started before operation 1"), std::string::npos) << fault->text;
  EXPECT_FALSE(check_order(std::span(&program, 1), [](int, int) { return false; }));
}

}  // namespace
}  // namespace shoal
