// Schedules of the tree algorithm: checked symbolically, on the links, and in time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <random>

#include "algorithms/algorithm.hpp"
#include "algorithms/exchange_plan.hpp"
#include "schedule/checker.hpp"
#include "topology/link_checker.hpp"
#include "tree_inputs.hpp"

namespace shoal {
namespace {

bool exhaustive() { return std::getenv("SHOAL_EXHAUSTIVE") != nullptr; }

std::vector<schedule> programs_of(const switch_network& network, const std::string& spec) {
  problem at;
  at.ranks = network.ranks();
  at.switches = std::make_shared<const switch_network>(network);
  return generate_all(parse_selection(spec), at);
}

std::string text_of(const std::optional<fault>& found) { return found ? found->text : ""; }
std::string text_of(const std::optional<std::string>& found) { return found.value_or(""); }

// All that the three conditions of the specification ask for.
void expect_optimal(const switch_network& network, const std::vector<message>& messages) {
  const rank_tree tree(network);
  ASSERT_EQ(text_of(find_contention(tree, messages)), "");
  ASSERT_EQ(text_of(find_incompleteness(tree, messages)), "");
  ASSERT_EQ(text_of(find_excess(tree, messages)), "");
}

void expect_correct(const switch_network& network, const std::string& spec) {
  const auto programs = programs_of(network, spec);
  ASSERT_EQ(text_of(check(programs, alltoall_meaning(network.ranks(), programs[0].parts))), "") << spec;
  expect_optimal(network, messages_of(programs));
}

// ---- time: a message takes the time it is given, a token none ------------------------------------------------

struct interval {
  int from, to;
  double start, end;
};

// Runs schedules in which every transfer is a rendezvous: it starts when both ends may.
class timed_run {
 public:
  timed_run(const std::vector<schedule>& programs, std::function<double(int from, int to)> duration)
      : programs_(programs), duration_(std::move(duration)), end_(programs.size()) {
    for (std::size_t r = 0; r < programs.size(); ++r) end_[r].assign(programs[r].operations.size(), -1);
    run();
  }
  const std::vector<interval>& transfers() const { return transfers_; }
  double makespan() const {
    double last = 0;
    for (const interval& t : transfers_) last = std::max(last, t.end);
    return last;
  }

 private:
  using end_of_transfer = std::pair<int, op_id>;

  // When an operation may start. Negative if that is not known yet.
  double ready(int rank, op_id op) const {
    double start = 0;
    for (op_id earlier : programs_[rank].after_of(programs_[rank].operations[op])) {
      if (end_[rank][earlier] < 0) return -1;
      start = std::max(start, end_[rank][earlier]);
    }
    return start;
  }

  void run() {
    std::map<std::pair<int, int>, std::deque<op_id>> sends, receives;
    for (const schedule& program : programs_)
      for (op_id id = 0; id < static_cast<op_id>(program.operations.size()); ++id) {
        const operation& op = program.operations[id];
        if (op.kind == op_kind::copy) end_[program.rank][id] = 0;
        if (op.kind == op_kind::send) sends[{program.rank, op.peer}].push_back(id);
        if (op.kind == op_kind::recv) receives[{op.peer, program.rank}].push_back(id);
      }
    struct transfer {
      int from, to;
      op_id send, recv;
    };
    std::vector<transfer> open;
    for (auto& [pair, out] : sends)
      for (std::size_t k = 0; k < out.size(); ++k) open.push_back({pair.first, pair.second, out[k], receives[pair][k]});
    while (!open.empty()) {
      const std::size_t before = open.size();
      std::erase_if(open, [&](const transfer& t) { return finish(t.from, t.to, t.send, t.recv); });
      if (open.size() == before) throw std::logic_error("deadlock");
    }
  }

  bool finish(int from, int to, op_id send, op_id recv) {
    const double a = ready(from, send), b = ready(to, recv);
    if (a < 0 || b < 0) return false;
    const bool is_token = programs_[from].operations[send].slot_count == 0;
    const double start = std::max(a, b), end = start + (is_token ? 0 : duration_(from, to));
    end_[from][send] = end_[to][recv] = end;
    if (!is_token) transfers_.push_back({from, to, start, end});
    return true;
  }

  const std::vector<schedule>& programs_;
  std::function<double(int, int)> duration_;
  std::vector<std::vector<double>> end_;
  std::vector<interval> transfers_;
};

// By how many the transfers on an edge at one time exceed `allowed` times its streams, on the worst edge. Not above 0
// if all is well.
int overload(const rank_tree& tree, const std::vector<interval>& transfers, int allowed) {
  std::vector<std::vector<std::pair<double, int>>> changes(tree.edges());
  for (const interval& t : transfers)
    tree.path(t.from, t.to, [&](int edge) {
      changes[edge].push_back({t.start, +1});
      changes[edge].push_back({t.end, -1});
    });
  int worst = -allowed;
  for (int edge = 0; edge < tree.edges(); ++edge) {
    std::sort(changes[edge].begin(), changes[edge].end());  // at the same time, ends come before starts
    int now = 0;
    for (const auto& [time, change] : changes[edge]) {
      now += change;
      worst = std::max(worst, now - allowed * tree.streams(link_of(edge)));
    }
  }
  return worst;
}

std::function<double(int, int)> random_durations(std::mt19937& random, int ranks) {
  std::vector<double> times(static_cast<std::size_t>(ranks) * ranks);
  for (double& time : times) time = std::exponential_distribution<>(1)(random) + 0.01;
  return [times, ranks](int from, int to) { return times[static_cast<std::size_t>(from) * ranks + to]; };
}

// When the last message ends if each one itself waits for all earlier messages on its path that it must wait for.
double unreduced_makespan(const rank_tree& tree, const std::vector<message>& ordered, int window,
                          const std::function<double(int, int)>& duration) {
  std::vector<std::deque<double>> ends(tree.edges());  // when the last messages on each edge end
  double last = 0;
  for (const message& m : ordered) {
    double start = 0;
    tree.path(m.from, m.to, [&](int edge) {
      if (static_cast<int>(ends[edge].size()) == window * tree.streams(link_of(edge)))
        start = std::max(start, ends[edge].front());
    });
    const double end = start + duration(m.from, m.to);
    tree.path(m.from, m.to, [&](int edge) {
      if (static_cast<int>(ends[edge].size()) == window * tree.streams(link_of(edge))) ends[edge].pop_front();
      ends[edge].push_back(end);
    });
    last = std::max(last, end);
  }
  return last;
}

std::vector<schedule> programs_of(const exchange_plan& plan, int ranks) {
  std::vector<schedule> programs;
  for (int rank = 0; rank < ranks; ++rank) programs.push_back(plan.program(rank));
  return programs;
}

void expect_exclusive(const rank_tree& tree, const std::vector<message>& ordered, int window, reduction how,
                      std::mt19937& random) {
  const exchange_plan plan(tree, ordered, window, how);
  const auto programs = programs_of(plan, tree.ranks());
  ASSERT_EQ(text_of(check(programs, alltoall_meaning(tree.ranks()))), "");
  const auto durations = random_durations(random, tree.ranks());
  const timed_run run(programs, durations);
  ASSERT_LE(overload(tree, run.transfers(), window), 0);
  ASSERT_DOUBLE_EQ(run.makespan(), unreduced_makespan(tree, ordered, window, durations));
}

// ---- all small trees, random trees ------------------------------------------------------------------------------

TEST(Tree, IsOptimalOnAllSmallTreesFromEveryRoot) {
  int networks = 0, rooted = 0;
  for (int switches = 1; switches <= 4; ++switches)
    for (int machines = 1; machines <= 8; ++machines)
      for_each_network(switches, machines, [&](switch_network network) {
        ++networks;
        const std::vector<int> centroids = rank_tree(network).centroids();
        for (int root : centroids) {
          ++rooted;
          network.choose_root(network.nodes()[root].name);
          expect_optimal(network, closed_form_order(rank_tree(network)));
        }
      });
  EXPECT_EQ(networks, 8448);
  EXPECT_EQ(rooted, 10332);
}

TEST(Tree, SchedulesAllSmallTrees) {
  for (int switches = 1; switches <= 4; ++switches)
    for (int machines = 1; machines <= (exhaustive() ? 8 : 6); ++machines)
      for_each_network(switches, machines, [&](const switch_network& network) {
        for (const char* with : {"", ":window=1", ":window=1,sync=chain2", ":window=3,sync=chain2", ":sync=none"})
          expect_correct(network, std::string("tree") + with);
      });
}

TEST(Tree, SchedulesRandomTrees) {
  std::mt19937 random(11);
  for (int round = 0; round < (exhaustive() ? 3000 : 400); ++round) {
    const int most = round % 20 == 0 ? 200 : 40;
    const switch_network network = random_network(random, 40, most);
    SCOPED_TRACE("round " + std::to_string(round));
    const std::string window = std::to_string(1 + random() % 4);
    const std::string sync = std::vector<std::string>{"exact", "chain2", "none"}[random() % 3];
    expect_correct(network, "tree:window=" + window + ",sync=" + sync);
    if (HasFatalFailure()) return;
  }
}

TEST(Tree, PhasesOfLargerRandomTreesAreOptimal) {
  std::mt19937 random(12);
  for (int round = 0; round < (exhaustive() ? 3000 : 300); ++round) {
    const switch_network network = random_network(random, 60, 200);
    expect_optimal(network, closed_form_order(rank_tree(network)));
    if (HasFatalFailure()) return;
  }
}

TEST(Tree, SeveralRanksOnAMachine) {
  std::mt19937 random(13);
  int machine_roots = 0;
  for (int round = 0; round < 300; ++round) {
    switch_network network = random_network(random, 8, 10);
    std::vector<std::string> hosts;
    const auto skew = 1 + random() % 3;  // some machines get most of the ranks
    const auto machines = network.hosts();
    for (auto left = 1 + random() % 30; left > 0; --left)
      hosts.push_back(machines[random() % (1 + random() % machines.size()) / skew]);
    network.place_ranks(hosts);
    const rank_tree tree(network);
    machine_roots += network.nodes()[tree.root()].machine && tree.ranks() > 1;
    expect_optimal(network, closed_form_order(tree));
    if (round % 5 == 0) expect_correct(network, "tree:window=1");
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(machine_roots, 20);
}

TEST(Tree, AnyOrderOfRanks) {
  std::mt19937 random(14);
  for (int round = 0; round < 50; ++round) {
    switch_network network = random_network(random, 10, 20);
    auto hosts = network.hosts();
    std::shuffle(hosts.begin(), hosts.end(), random);
    hosts.resize(1 + random() % hosts.size());  // machines without a rank stay in the network
    network.place_ranks(hosts);
    expect_correct(network, "tree");
  }
}

TEST(Tree, RefusesOtherProblems) {
  problem at;
  at.ranks = 4;
  EXPECT_THROW(generate(parse_selection("tree"), at, 0), std::invalid_argument);
  at.switches = std::make_shared<const switch_network>(one_switch(5));
  EXPECT_THROW(generate(parse_selection("tree"), at, 0), std::invalid_argument);
  at.ranks = 5;
  EXPECT_NO_THROW(generate(parse_selection("tree"), at, 0));
}

// So many ranks on two switches have 46341 * 46341 phases: more than an operation can tell.
TEST(Tree, RefusesMoreRanksThanItCanNumberPhasesFor) {
  problem at;
  at.ranks = 2 * 46341;
  at.switches = std::make_shared<const switch_network>(switched({0, 0}, in_blocks(at.ranks, 2)));
  EXPECT_THROW(generate(parse_selection("tree:sync=none"), at, 0), std::invalid_argument);
}

TEST(Tree, WithoutTokensARankNeedsNoPlan) {
  const switch_network network = two_levels(24);
  const rank_tree tree(network);
  const auto direct = programs_of(network, "tree:window=2,sync=none,parts=1");
  const exchange_plan plan(tree, closed_form_order(tree), 2, std::nullopt);
  EXPECT_EQ(messages_of(direct), messages_of(programs_of(plan, 24)));
  EXPECT_EQ(sent_by(direct[3]).tokens, 0);
  EXPECT_EQ(sent_by(direct[3]).messages, 23);
}

// ---- synchronisation ----------------------------------------------------------------------------------------------

TEST(TreeTokens, KeepMessagesApartWhateverTheyTake) {
  std::mt19937 random(21);
  for (int round = 0; round < (exhaustive() ? 2000 : 150); ++round) {
    const switch_network network = random_network(random, 20, round % 10 ? 16 : 40);
    const rank_tree tree(network);
    SCOPED_TRACE("round " + std::to_string(round));
    for (int window : {1, 2, 3})
      for (reduction how : {reduction::exact, reduction::chain2})
        expect_exclusive(tree, closed_form_order(tree), window, how, random);
    if (HasFatalFailure()) return;
  }
}

TEST(TreeTokens, LetEqualMessagesEndInAsManyStepsAsThereArePhases) {
  for (const switch_network& network : {one_switch(12), star_of_4(16), line_of_4(16), two_levels(14)}) {
    const rank_tree tree(network);
    const auto programs = programs_of(network, "tree:window=1,parts=1");
    const timed_run run(programs, [](int, int) { return 1.0; });
    EXPECT_EQ(run.makespan(), static_cast<double>(uniform_bound(tree).phases));
  }
}

// Exact means that no token can be left out: without it, two messages meet on a link if the first is slow.
TEST(TreeTokens, AreAllNeeded) {
  std::mt19937 random(22);
  for (int round = 0; round < 40; ++round) {
    const rank_tree tree(random_network(random, 8, 9));
    const int window = 1 + round % 2;
    const std::vector<message> ordered = closed_form_order(tree);
    const auto waits = synchronise(tree, ordered, window, reduction::exact);
    for (std::size_t left_out = 0; left_out < waits.kept.size(); ++left_out) {
      std::vector<double> start(ordered.size(), 0), end(ordered.size(), 0);
      std::vector<std::vector<std::int32_t>> before(ordered.size());
      for (std::size_t w = 0; w < waits.kept.size(); ++w)
        if (w != left_out) before[waits.kept[w].after].push_back(waits.kept[w].before);
      for (const synchronisation& w : waits.own) before[w.after].push_back(w.before);
      std::map<int, std::deque<std::size_t>> own;
      for (std::size_t m = 0; m < ordered.size(); ++m) {
        for (std::int32_t b : before[m]) start[m] = std::max(start[m], end[b]);
        auto& sent = own[ordered[m].from];
        if (static_cast<int>(sent.size()) == window) start[m] = std::max(start[m], end[sent.front()]), sent.pop_front();
        sent.push_back(m);
        end[m] = start[m] + (static_cast<std::int32_t>(m) == waits.kept[left_out].before ? 1000 : 1);
      }
      EXPECT_LT(start[waits.kept[left_out].after], end[waits.kept[left_out].before]);
    }
  }
}

TEST(TreeTokens, OfTheNearLinearRuleAreFewMore) {
  std::mt19937 random(23);
  for (int round = 0; round < 60; ++round) {
    const rank_tree tree(random_network(random, 15, 40));
    const std::vector<message> ordered = closed_form_order(tree);
    for (int window : {1, 2}) {
      const auto exact = synchronise(tree, ordered, window, reduction::exact);
      const auto chain2 = synchronise(tree, ordered, window, reduction::chain2);
      EXPECT_EQ(exact.candidates, chain2.candidates);
      EXPECT_LE(exact.kept.size(), chain2.kept.size());
      EXPECT_LE(static_cast<double>(chain2.kept.size()), 1.1 * static_cast<double>(exact.kept.size()) + 2);
      const auto in_order = [](auto a, auto b) { return std::tie(a.after, b.before) < std::tie(b.after, a.before); };
      const auto &few = exact.kept, &more = chain2.kept;
      EXPECT_TRUE(std::includes(more.begin(), more.end(), few.begin(), few.end(), in_order));
    }
  }
}

// ---- faster links ---------------------------------------------------------------------------------------------------

struct figures {
  double speed;
  int bound, closed_form, greedy;
};

void expect_figures(const std::function<switch_network(double)>& shape, const std::vector<figures>& expected) {
  for (const figures& f : expected) {
    const switch_network network = shape(f.speed * standard_link_speed);
    const rank_tree tree(network);
    EXPECT_EQ(uniform_bound(tree).phases, f.bound) << f.speed;
    EXPECT_EQ(phases_of(closed_form_order(tree)), f.closed_form) << f.speed;
    EXPECT_LE(phases_of(greedy_order(tree)), f.greedy) << f.speed;
    const auto best = phased_order(tree);
    EXPECT_LE(phases_of(best), std::min(f.closed_form, f.greedy)) << f.speed;
    EXPECT_EQ(text_of(find_contention(tree, best)), "") << f.speed;
    EXPECT_EQ(text_of(find_incompleteness(tree, best)), "") << f.speed;
  }
}

TEST(TreeStreams, ReachTheSpecifiedPhases) {
  expect_figures(
      [](double speed) { return star_of_4(32, speed); },
      {{1, 192, 192, 192}, {2, 96, 112, 96}, {3, 64, 87, 66}, {4, 48, 60, 50}, {8, 31, 31, 34}, {10, 31, 31, 34}});
  expect_figures(
      [](double speed) { return line_of_4(32, speed); },
      {{1, 256, 256, 256}, {2, 128, 192, 128}, {3, 86, 156, 86}, {4, 64, 112, 64}, {8, 32, 60, 40}, {10, 31, 60, 36}});
}

TEST(TreeStreams, OnRandomTreesStayWithinTheLinks) {
  std::mt19937 random(31);
  for (int round = 0; round < 60; ++round) {
    const switch_network plain = random_network(random, 8, 24);
    std::vector<network_link> links = plain.links();
    for (network_link& link : links) link.bits_per_second *= std::vector<double>{1, 2, 4, 10}[random() % 4];
    const switch_network network(plain.nodes(), links);
    const rank_tree tree(network);
    for (const auto& order : {closed_form_order(tree), greedy_order(tree), phased_order(tree)}) {
      ASSERT_EQ(text_of(find_contention(tree, order)), "");
      ASSERT_EQ(text_of(find_incompleteness(tree, order)), "");
    }
    expect_exclusive(tree, phased_order(tree), 1 + round % 2, round % 3 ? reduction::exact : reduction::chain2, random);
    ASSERT_EQ(text_of(check(programs_of(network, "tree:sync=none,parts=1"), alltoall_meaning(network.ranks()))), "");
    if (HasFatalFailure()) return;
  }
}

// ---- known sizes --------------------------------------------------------------------------------------------

TEST(TreeSizes, ListGreedyIsNearTheBound) {
  std::mt19937 random(41);
  for (const switch_network& network : {star_of_4(32), line_of_4(32), one_switch(32), two_levels(24)}) {
    const rank_tree tree(network);
    for (int kind = 0; kind < 4; ++kind) {
      std::vector<std::int64_t> bytes;
      for (int i = 0; i < tree.ranks() * tree.ranks(); ++i) {
        const double u = std::uniform_real_distribution<>(0.001, 1)(random);
        const double sizes[] = {u, -std::log(u), std::pow(u, -1 / 1.3), u < 0.2 ? u : 0};  // the last kind is sparse
        bytes.push_back(static_cast<std::int64_t>(1e5 * sizes[kind]));
      }
      const sized_order order = list_greedy_order(tree, bytes);
      EXPECT_EQ(text_of(find_incompleteness(tree, order.messages)), "");
      EXPECT_GE(order.seconds, sized_bound(tree, bytes) * (1 - 1e-9));
      EXPECT_LE(order.seconds, sized_bound(tree, bytes) * 1.06) << "sizes " << kind;
      const auto size = [&](int from, int to) { return 8e-9 * static_cast<double>(bytes[from * tree.ranks() + to]); };
      const exchange_plan plan(tree, order.messages, 1, reduction::exact);
      const auto programs = programs_of(plan, tree.ranks());
      EXPECT_EQ(text_of(check(programs, alltoall_meaning(tree.ranks()))), "");
      const timed_run run(programs, size);
      EXPECT_LE(overload(tree, run.transfers(), 1), 0);
      EXPECT_LE(run.makespan(), order.seconds * (1 + 1e-9));
    }
  }
}

problem sized_problem(const switch_network& network, std::vector<std::int64_t> bytes) {
  problem at;
  at.ranks = network.ranks();
  at.switches = std::make_shared<const switch_network>(network);
  at.sizes = std::make_shared<const std::vector<std::int64_t>>(std::move(bytes));
  return at;
}

// What users of `tree` get if blocks are not equal and some are empty: no rank waits for an empty block.
TEST(TreeSizes, AreWhatTheScheduleIsMadeFor) {
  std::mt19937 random(42);
  for (const switch_network& network : {one_switch(9), star_of_4(16), line_of_4(16), two_levels(14)}) {
    const int ranks = network.ranks();
    std::vector<std::int64_t> bytes;
    for (int i = 0; i < ranks * ranks; ++i) bytes.push_back(random() % 3 ? random() % 65536 : 0);
    const problem at = sized_problem(network, bytes);
    for (const char* spec : {"tree", "tree:window=2,sync=chain2", "tree:sync=none"}) {
      const auto programs = generate_all(parse_selection(spec), at);
      ASSERT_EQ(text_of(check(programs, alltoall_meaning(ranks, programs[0].parts))), "") << spec;
    }
    const auto whole = generate_all(parse_selection("tree:parts=1"), at);
    const rank_tree tree(network);
    const timed_run run(whole, [&](int from, int to) { return 8e-9 * static_cast<double>(bytes[from * ranks + to]); });
    EXPECT_LE(run.makespan(), 1.1 * sized_bound(tree, bytes));
    std::int64_t tokens = 0, full = 0;
    for (const schedule& program : whole) tokens += sent_by(program).tokens;
    for (int i = 0; i < ranks * ranks; ++i) full += bytes[i] > 0 && i / ranks != i % ranks;
    EXPECT_LE(tokens, 3 * full);
  }
}

TEST(TreeSizes, AreLeftOutWhereTheyCostTooMuch) {
  const auto looks = [](const std::string& spec, int ranks) {
    const selection how = parse_selection(spec);
    return how.which->looks_at_sizes(sized_problem(one_switch(ranks), {}), how.with);
  };
  EXPECT_TRUE(looks("tree", 64));
  EXPECT_FALSE(looks("tree", 65));
  EXPECT_FALSE(looks("tree:order=phases", 8));
}

TEST(TreeSizes, OfNothing) {
  const rank_tree tree(one_switch(5));
  const sized_order order = list_greedy_order(tree, std::vector<std::int64_t>(25, 0));
  EXPECT_EQ(order.seconds, 0);
  EXPECT_EQ(order.messages.size(), 20u);
}

// Messages that never share a link cannot always meet the link bound: here the conflicts of five messages form a ring.
TEST(TreeSizes, ABoundOutOfReach) {
  const rank_tree tree(switched({0, 0}, {0, 0, 1, 1}));
  std::vector<std::int64_t> bytes(16, 0);
  const std::vector<std::pair<int, int>> pairs{{0, 1}, {0, 2}, {1, 3}, {2, 1}, {2, 3}};
  for (const auto& [from, to] : pairs) bytes[from * 4 + to] = 1000;
  EXPECT_DOUBLE_EQ(sized_bound(tree, bytes), 2 * 8e-6);
  EXPECT_DOUBLE_EQ(list_greedy_order(tree, bytes).seconds, 3 * 8e-6);
}

// ---- the checkers see what is wrong ---------------------------------------------------------------------------

TEST(LinkChecker, FindsEveryKindOfFault) {
  const switch_network network = line_of_4(8);
  const rank_tree tree(network);
  const std::vector<message> good = closed_form_order(tree);
  expect_optimal(network, good);
  std::mt19937 random(51);
  int contended = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<message> bad = good;
    message& moved = bad[random() % bad.size()];
    moved.phase = static_cast<int>(random() % phases_of(good));
    if (bad != good && find_contention(tree, bad)) ++contended;
    EXPECT_EQ(text_of(find_incompleteness(tree, bad)), "");
  }
  EXPECT_GT(contended, 120);
  std::vector<message> bad = good;
  bad.pop_back();
  EXPECT_EQ(text_of(find_incompleteness(tree, bad)), "55 of 56 messages occur");
  bad = good;
  bad[0] = bad[1];
  EXPECT_NE(text_of(find_incompleteness(tree, bad)).find("occurs twice"), std::string::npos);
  bad = good;
  bad.back().phase = 16;
  EXPECT_EQ(text_of(find_excess(tree, bad)), "17 phases where the most loaded link needs 16");
}

TEST(LinkChecker, ARingOnATreeContends) {
  const switch_network network = line_of_4(16);
  const auto programs = programs_of(network, "pairwise");
  EXPECT_NE(text_of(find_contention(rank_tree(network), messages_of(programs))), "");
}

}  // namespace
}  // namespace shoal
