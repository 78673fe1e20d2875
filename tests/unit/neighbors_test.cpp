// Exchanges among neighbours: what a graph is, what its exchange means to the checker, and the algorithms for graphs.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <stdexcept>

#include "algorithms/algorithm.hpp"
#include "random_graph.hpp"
#include "schedule/builder.hpp"
#include "schedule/checker.hpp"
#include "topology/node_layout.hpp"

namespace shoal {
namespace {

using neighbors = neighbor_graph::neighbors;

TEST(neighbor_graph, matches_the_two_ends_of_every_edge) {
  const neighbor_graph graph({{{1, 1, -1}, {{1, 0}}}, {{0}, {{0, 1}, {}, {0, 0}}}});
  EXPECT_EQ(graph.arrival_of(0, 0), 2);
  EXPECT_EQ(graph.arrival_of(0, 1), 0);
  EXPECT_EQ(graph.arrival_of(0, 2), -1);
  EXPECT_EQ(graph.arrival_of(1, 0), 0);
}

TEST(neighbor_graph, refuses_edges_with_one_end) {
  const std::vector<std::vector<neighbors>> wrong = {
      {{{1}, {}}, {{}, {}}},                // nobody receives
      {{{}, {}}, {{}, {{0, 0}}}},           // nobody sends
      {{{1}, {}}, {{}, {{0, 0}, {0, 0}}}},  // one block for two places
      {{{1}, {}}, {{}, {{0, 1}}}},          // no such edge
      {{{7}, {}}, {{}, {}}},                // no such receiver
      {{{}, {{7, 0}}}, {{}, {}}},           // no such sender
      {{{1}, {{0, 0}}}, {{}, {}}},          // meant for another rank
  };
  for (const auto& lists : wrong) EXPECT_THROW(neighbor_graph{lists}, std::invalid_argument);
}

using list = std::vector<int>;

list destinations(const neighbor_graph& graph, int rank) {
  return {graph.destinations(rank).begin(), graph.destinations(rank).end()};
}

TEST(neighbor_graph, of_a_grid_is_in_the_order_of_mpi) {
  const neighbor_graph torus = neighbor_graph::grid(list{2, 3}, true), grid = neighbor_graph::grid(list{2, 3}, false);
  EXPECT_EQ(destinations(torus, 4), (list{1, 1, 3, 5}));
  EXPECT_EQ(destinations(torus, 0), (list{3, 3, 2, 1}));
  EXPECT_EQ(destinations(grid, 4), (list{1, 3, 5}));
  EXPECT_EQ(destinations(grid, 0), (list{3, 1}));
}

TEST(neighbor_graph, of_random_partners_is_the_same_each_time) {
  const neighbor_graph once = neighbor_graph::random(20, 5), again = neighbor_graph::random(20, 5);
  for (int rank = 0; rank < 20; ++rank) {
    const list to = destinations(once, rank);
    EXPECT_EQ(std::set<int>(to.begin(), to.end()).size(), 5u);
    EXPECT_EQ(std::count(to.begin(), to.end(), rank), 0);
    EXPECT_EQ(to, destinations(again, rank));
  }
  EXPECT_EQ(destinations(neighbor_graph::random(3, 9), 0).size(), 2u);
}

TEST(neighbor_graph, of_everyone_is_an_alltoall) {
  for (const int ranks : {1, 2, 5, 8}) {
    problem at;
    at.ranks = ranks;
    const neighbor_graph all = neighbor_graph::complete(ranks);
    const auto exchange = generate_all(parse_selection("tuna:radix=2"), at);
    EXPECT_FALSE(check(exchange, neighbor_meaning(all)));
    at.neighbors = std::make_shared<const neighbor_graph>(all);
    for (const char* spec : {"direct", "gathered"}) {
      const auto among = generate_all(parse_selection(spec, collective::neighbor_alltoall), at);
      EXPECT_FALSE(check(among, alltoall_meaning(ranks))) << spec;
    }
  }
}

// Two ranks with two edges from 0 to 1. The blocks of the two edges may change places, or the second may be left out.
std::vector<schedule> swapped(bool swap, bool leave_out) {
  builder from(2, 0), to(2, 1);
  const slot both[] = {send_slot(swap), send_slot(!swap)}, places[] = {recv_slot(0), recv_slot(1)};
  const std::size_t sent = leave_out ? 1 : 2;
  from.send(1, std::span(both).first(sent));
  to.recv(0, std::span(places).first(sent));
  return {from.finish(), to.finish()};
}

TEST(neighbor_graph, is_what_the_checker_compares_with) {
  const neighbor_graph graph({{{1, 1}, {}}, {{}, {{0, 0}, {0, 1}}}});
  EXPECT_FALSE(check(swapped(false, false), neighbor_meaning(graph)));
  EXPECT_EQ(check(swapped(true, false), neighbor_meaning(graph))->kind, fault_kind::wrong_slot);
  EXPECT_EQ(check(swapped(false, true), neighbor_meaning(graph))->kind, fault_kind::lost_block);
  const neighbor_graph to_nobody({{{1, -1}, {}}, {{}, {{0, 0}, {}}}});
  EXPECT_FALSE(check(swapped(false, true), neighbor_meaning(to_nobody)));
  EXPECT_EQ(check(swapped(false, false), neighbor_meaning(to_nobody))->kind, fault_kind::wrong_slot);
}

problem random_problem(std::mt19937& random, int ranks) {
  problem at;
  at.ranks = ranks;
  at.neighbors = std::make_shared<const neighbor_graph>(testing::random_graph(ranks, 2 * ranks, random));
  std::vector<int> node_of(static_cast<std::size_t>(ranks));
  for (int& node : node_of) node = static_cast<int>(random() % 4);
  if (random() % 6) at.nodes = std::make_shared<const node_layout>(node_layout::from_node_ids(node_of));
  return at;
}

TEST(neighbors, are_served_on_random_graphs) {
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    std::mt19937 random(seed);
    const problem at = random_problem(random, 1 + static_cast<int>(random() % 16));
    for (const char* spec : {"direct", "gathered", "gathered:carriers=1", "gathered:carriers=2,local=messages"}) {
      const auto programs = generate_all(parse_selection(spec, collective::neighbor_alltoall), at);
      const auto fault = check(programs, neighbor_meaning(*at.neighbors));
      ASSERT_FALSE(fault) << spec << ", seed " << seed << ": " << fault->text;
    }
  }
}

// How many messages go from one node to another, by the two nodes.
std::map<std::pair<int, int>, int> between_nodes(const std::vector<schedule>& programs, const node_layout& nodes) {
  std::map<std::pair<int, int>, int> messages;
  for (const schedule& of : programs)
    for (const operation& op : of.operations)
      if (op.kind == op_kind::send && nodes.node_of(of.rank) != nodes.node_of(op.peer))
        ++messages[{nodes.node_of(of.rank), nodes.node_of(op.peer)}];
  return messages;
}

TEST(neighbors, send_one_message_between_nodes_where_they_gather) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const problem at = random_problem(random, 16);
    if (!at.nodes) continue;
    std::set<std::pair<int, int>> pairs;
    for (int rank = 0; rank < at.ranks; ++rank)
      for (const int to : at.neighbors->destinations(rank))
        if (to >= 0 && at.nodes->node_of(rank) != at.nodes->node_of(to))
          pairs.insert({at.nodes->node_of(rank), at.nodes->node_of(to)});
    for (const char* spec : {"gathered", "gathered:carriers=1"}) {
      const auto programs = generate_all(parse_selection(spec, collective::neighbor_alltoall), at);
      const auto messages = between_nodes(programs, *at.nodes);
      EXPECT_EQ(messages.size(), pairs.size());
      for (const auto& [pair, count] : messages) EXPECT_EQ(count, 1) << pair.first << " to " << pair.second;
    }
  }
}

TEST(neighbors, spread_the_messages_of_a_node_over_its_carriers) {
  problem at;
  at.ranks = 32;
  at.nodes = std::make_shared<const node_layout>(node_layout::parse("8x4"));
  const auto most = [&](const char* spec) {
    std::map<int, int> sent;
    for (const schedule& of : generate_all(parse_selection(spec, collective::neighbor_alltoall), at))
      for (const operation& op : of.operations)
        sent[of.rank] += op.kind == op_kind::send && at.nodes->node_of(of.rank) != at.nodes->node_of(op.peer);
    return std::max_element(sent.begin(), sent.end(), [](auto& a, auto& b) { return a.second < b.second; })->second;
  };
  EXPECT_EQ(most("gathered"), 2);
  EXPECT_EQ(most("gathered:carriers=1"), 7);
  EXPECT_EQ(most("direct"), 28);
}

TEST(neighbors, refuse_what_is_of_other_ranks) {
  problem at;
  at.ranks = 4;
  at.neighbors = std::make_shared<const neighbor_graph>(neighbor_graph::complete(3));
  EXPECT_THROW(generate(parse_selection("direct", collective::neighbor_alltoall), at, 0), std::invalid_argument);
}

}  // namespace
}  // namespace shoal
