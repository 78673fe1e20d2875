// Messages through the memory of a node match in the order in which both ranks start them, whatever their tags. So
// these tests prove that every schedule that goes through this memory starts them in the same order on both ranks.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <numeric>
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
                                   "node:1 socket:2 core:2",
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
                                     "hierarchical:local=none/shared",
                                     "hierarchical:local=shared/none,pattern=staggered"};
constexpr const char* among_neighbors[] = {"direct", "gathered", "gathered:carriers=1", "gathered:carriers=2"};

struct job {
  std::string text;
  problem at;
  std::vector<schedule> programs;

  std::optional<fault> check_order() const {
    return shoal::check_order(programs, [&](int a, int b) { return at.nodes->node_of(a) == at.nodes->node_of(b); });
  }
};

using visitor = std::function<void(job&)>;

void visit_if_through_memory(const selection& how, const problem& at, const std::string& layout, const visitor& visit) {
  if (how.which->refuses && how.which->refuses(at, how.with)) return;
  if (!generate(how, at, 0).shared_memory) return;
  job one{to_string(how) + " on " + layout, at, generate_all(how, at)};
  visit(one);
}

// Visits a job for each of these algorithms on each of these layouts that goes through memory.
void for_each_job(const std::vector<selection>& specs, const std::vector<std::string>& where, const visitor& visit) {
  std::mt19937 random(11);
  for (const std::string& layout : where) {
    const problem all = placed(layout_tree::parse(layout));
    problem few = all;
    for (const selection& how : specs)
      if (how.which->what == collective::alltoall) visit_if_through_memory(how, all, layout, visit);
    for (int i = 0; i < 5; ++i) {
      few.neighbors = std::make_shared<const neighbor_graph>(testing::random_graph(all.ranks, 2 * all.ranks, random));
      for (const selection& how : specs)
        if (how.which->what == collective::neighbor_alltoall) visit_if_through_memory(how, few, layout, visit);
    }
  }
}

std::vector<job> jobs_through_memory() {
  std::vector<selection> specs;
  for (const char* spec : alltoalls) specs.push_back(parse_selection(spec));
  for (const char* spec : among_neighbors) specs.push_back(parse_selection(spec, collective::neighbor_alltoall));
  std::vector<job> jobs;
  for_each_job(specs, {std::begin(layouts), std::end(layouts)}, [&](job& one) { jobs.push_back(std::move(one)); });
  return jobs;
}

TEST(check_order, holds_for_every_schedule_through_memory) {
  for (const job& one : jobs_through_memory()) {
    const auto fault = one.check_order();
    EXPECT_FALSE(fault) << one.text << ": " << fault->text;
  }
}

// ---- the full sweep, with SHOAL_EXHAUSTIVE=1 ----------------------------------------------------------------------

// All words and two numbers. If there is a value for each level, also each two words: one for the innermost level, and
// one for all others.
std::vector<std::string> values_of(const parameter& p) {
  std::vector<std::string> values = p.words;
  for (const std::string& inner : p.words)
    for (const std::string& outer : p.words)
      if (p.by_level && inner != outer) values.push_back(inner + "/" + outer);
  for (int number = p.lowest; number <= std::min(p.highest, p.lowest + 1); ++number)
    values.push_back(std::to_string(number));
  return values;
}

// Adds `so_far`, and all selections in which at most `most` of the parameters from `first` on have another value than
// there.
void add_selections(const selection& so_far, std::size_t first, int most, std::vector<selection>& to) {
  to.push_back(so_far);
  const auto& parameters = so_far.which->parameters;
  for (std::size_t i = first; most > 0 && i < parameters.size(); ++i)
    for (const std::string& value : values_of(parameters[i])) {
      if (value == parameters[i].standard) continue;
      selection next = so_far;
      next.with.set(parameters[i].name, value);
      add_selections(next, i + 1, most - 1, to);
    }
}

std::vector<selection> selections_of_the_table() {
  std::vector<selection> all;
  for (const algorithm& a : algorithms())
    if (a.generate && a.what != collective::allgather) add_selections(parse_selection(a.name, a.what), 0, 3, all);
  return all;
}

void add_levels(const std::string& outer, std::vector<std::string> names, int ranks, std::vector<std::string>& to) {
  const std::string name = names.front();
  names.erase(names.begin());
  for (int members = 1; members <= ranks; ++members) {
    const std::string layout = outer + name + ":" + std::to_string(members);
    if (names.empty()) to.push_back(layout);
    else add_levels(layout + " ", names, ranks / members, to);
  }
}

std::string joined(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

// Nodes of these sizes, with the ranks in order and shuffled.
void add_orders(const std::vector<int>& nodes, std::mt19937& random, std::vector<std::string>& to) {
  std::vector<int> order(static_cast<std::size_t>(std::accumulate(nodes.begin(), nodes.end(), 0)));
  std::iota(order.begin(), order.end(), 0);
  for (int time = 0; time < 2; ++time) {
    to.push_back("node:" + std::to_string(nodes.size()) + " core:" + joined(nodes) + " ranks:" + joined(order));
    std::shuffle(order.begin(), order.end(), random);
  }
}

// All sequences of nodes that begin with these and have at most `most` further ranks.
void add_nodes(std::vector<int> nodes, int most, std::mt19937& random, std::vector<std::string>& to) {
  if (!nodes.empty()) add_orders(nodes, random, to);
  nodes.push_back(0);
  while (most-- > 0) {
    ++nodes.back();
    add_nodes(nodes, most, random, to);
  }
}

// All sequences of nodes, and all machines of these further levels with equally many members in every group.
std::vector<std::string> layouts_of_up_to(int ranks) {
  std::mt19937 random(12);
  std::vector<std::string> all;
  add_nodes({}, ranks, random, all);
  add_levels("", {"node", "socket", "core"}, ranks, all);
  add_levels("", {"group", "node", "core"}, ranks, all);
  add_levels("", {"group", "node", "socket", "core"}, ranks, all);
  return all;
}

TEST(check_order, holds_for_every_algorithm_on_every_small_layout) {
  if (!std::getenv("SHOAL_EXHAUSTIVE")) GTEST_SKIP() << "takes a minute";
  int jobs = 0;
  for_each_job(selections_of_the_table(), layouts_of_up_to(8), [&](const job& one) {
    const auto fault = one.check_order();
    ASSERT_FALSE(fault) << one.text << ": " << fault->text;
    ++jobs;
  });
  RecordProperty("jobs", jobs);
  EXPECT_GT(jobs, 100000);
}

// ---- what the checker finds ---------------------------------------------------------------------------------------

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
