// Every allgather between two groups delivers all messages. It uses one port of each rank, and only links that exist.
// It takes exactly the steps and the volume of its formula, which are no less than the lower bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "algorithms/ring_routes.hpp"
#include "intergroup_fixture.hpp"
#include "model/intergroup.hpp"

namespace shoal {
namespace {

using testing::exhaustive;
using testing::intergroup_run;
using testing::parse_intergroup;
using testing::run_intergroup;
using testing::two_groups;

int largest() { return exhaustive() ? 40 : 16; }

// Lower bounds for p senders and q receivers. A receiver takes in p messages through one port.
int least_volume(int p, int /*q*/) { return p; }

// On fully connected networks. This bound cannot always be attained: p = q = 3 needs 3 rounds.
int least_rounds(int p, int q) { return std::max(ceil_log2(p + 1), ceil_log2(q + 1)); }

// On a ring, where the bound is exact. The middle receiver is ceil(q/2) hops from the nearest sender. With one sender,
// at most two ranks get the message in a step.
int least_ring_steps(int p, int q) { return p == 1 && q % 2 == 0 ? q / 2 + 1 : p + ceil_div(q, 2) - 1; }

// How many messages the schedule `ring` without segments sends in all.
std::int64_t ring_traffic(int p, int q) {
  std::int64_t sum = std::int64_t{p} * q;
  for (int j = 0; j < p; ++j) {
    const int served_upwards = std::clamp(2 * j + 1 - p + ceil_div(q, 2), 0, q);
    sum += (served_upwards > 0 ? p - 1 - j : 0) + (served_upwards < q ? j : 0);
  }
  return sum;
}

template <typename Visit>
void for_all_groups(int largest, Visit visit) {
  for (int p = 1; p <= largest; ++p)
    for (int q = 1; q <= largest; ++q) visit(p, q);
}

bool serves(const std::string& spec, int p, int q) {
  const selection chosen = parse_intergroup(spec);
  return !chosen.which->refuses(two_groups(p, q), chosen.with);
}

int transit_buffers(const intergroup_run& run) {
  int most = 0;
  for (const schedule& program : run.programs) most = std::max(most, temp_peak(program));
  return most;
}

// For the algorithms whose formula gives the exact cost.
void expect_cost(const std::string& spec, int p, int q, const intergroup_run& run) {
  const intergroup_cost cost = cost_of(parse_intergroup(spec), two_groups(p, q));
  EXPECT_EQ(run.report.steps, cost.steps) << spec << " " << p << " " << q;
  EXPECT_DOUBLE_EQ(run.volume(), cost.volume) << spec << " " << p << " " << q;
  EXPECT_GE(run.report.steps, least_rounds(p, q));
  EXPECT_GE(run.volume(), least_volume(p, q));
}

// ---- fully connected ---------------------------------------------------------------------------------------------

void check_full(const std::string& spec, int largest) {
  for_all_groups(largest, [&](int p, int q) {
    if (serves(spec, p, q)) expect_cost(spec, p, q, run_intergroup(spec, p, q));
  });
}

TEST(IntergroupFull, HasItsCostForAllGroups) { check_full("full", largest()); }
TEST(IntergroupFull, WithBruckHasItsCostForAllGroups) { check_full("full:allgather=bruck", largest()); }
TEST(IntergroupFull, WithRecursiveDoublingHasItsCost) { check_full("full:allgather=recursive_doubling", largest()); }
TEST(IntergroupFull, WithRingHasItsCostForAllGroups) { check_full("full:allgather=ring", largest()); }
TEST(IntergroupFull, SplitHasItsCostForAllGroups) { check_full("full:spread=split", largest()); }
TEST(IntergroupFull, SplitWithRingHasItsCostForAllGroups) {
  check_full("full:spread=split,allgather=ring", largest() / 2);
}
TEST(IntergroupFull, PacedHasTheSameCost) { check_full("full:spread=split,paced=yes", largest() / 2); }
TEST(IntergroupFull, UnprunedHasTheSameCost) { check_full("full:prune=no", largest()); }

TEST(IntergroupFull, SplitMovesLittleMoreThanTheBound) {
  for_all_groups(60, [](int p, int q) {
    const double extra = cost_of(parse_intergroup("full:spread=split"), two_groups(p, q)).volume - p;
    EXPECT_LE(extra, q % p == 0 ? 1.0 : 1.12) << p << " " << q;
  });
}

TEST(IntergroupFull, PruningDropsExactlyWhatSendersGetForNothing) {
  EXPECT_EQ(run_intergroup("full:prune=no", 6, 2).report.traffic, 32);
  EXPECT_EQ(run_intergroup("full", 6, 2).report.traffic, 16);
  EXPECT_EQ(run_intergroup("full:prune=no", 192, 64).report.traffic, 36736);
  EXPECT_EQ(run_intergroup("full", 192, 64).report.traffic, 20352);
}

// A copy that a sender keeps serves a receiver if and only if it is read.
void expect_every_copy_read(const std::string& spec, int p, int q) {
  const intergroup_run run = run_intergroup(spec, p, q);
  for (int sender = 0; sender < p; ++sender) {
    std::vector<char> read(run.programs[sender].temp_slots, 0);
    for (const operation& op : run.programs[sender].operations)
      if (op.kind == op_kind::send)
        for (slot s : run.programs[sender].slots_of(op))
          if (s.at() == place::temp) read[s.index] = 1;
    EXPECT_EQ(std::count(read.begin(), read.end(), 0), 0) << spec << " " << p << " " << q << " sender " << sender;
  }
}

TEST(IntergroupFull, LeavesNoCopyUnused) {
  for_all_groups(12, [](int p, int q) {
    for (const char* spec : {"full", "full:allgather=bruck", "full:allgather=ring", "full:spread=split", "circulant"})
      expect_every_copy_read(spec, p, q);
  });
}

// ---- fewest rounds ------------------------------------------------------------------------------------------------

TEST(IntergroupCirculant, TakesTheLeastRoundsOfAnyBruckAndLittleMoreVolume) {
  for_all_groups(largest(), [](int p, int q) {
    const intergroup_run run = run_intergroup("circulant", p, q);
    const intergroup_cost cost = cost_of(parse_intergroup("circulant"), two_groups(p, q));
    EXPECT_EQ(run.report.steps, ceil_log2(p + q));
    EXPECT_EQ(run.report.steps, cost.steps);
    EXPECT_LE(run.volume(), cost.volume) << p << " " << q;
    EXPECT_GE(run.volume(), p);
    EXPECT_LE(run.volume(), p + 5) << p << " " << q;
    EXPECT_LE(run.report.steps, cost_of(parse_intergroup("full"), two_groups(p, q)).steps);
  });
}

// ---- ring ---------------------------------------------------------------------------------------------------------

TEST(IntergroupRing, IsOptimalForAllGroups) {
  for_all_groups(exhaustive() ? 64 : 24, [](int p, int q) {
    const intergroup_run run = run_intergroup("ring", p, q, ring_neighbours(p + q));
    expect_cost("ring", p, q, run);
    EXPECT_EQ(run.report.steps, least_ring_steps(p, q)) << p << " " << q;
    EXPECT_EQ(run.report.traffic, ring_traffic(p, q)) << p << " " << q;
    EXPECT_LE(transit_buffers(run), 2) << p << " " << q;
  });
}

TEST(IntergroupRing, InSegmentsHasItsCost) {
  const int most = exhaustive() ? 12 : 5;
  for_all_groups(exhaustive() ? 20 : 12, [most](int p, int q) {
    for (int segments = 2; segments <= most; ++segments) {
      const std::string spec = "ring:segments=" + std::to_string(segments);
      const intergroup_run run = run_intergroup(spec, p, q, ring_neighbours(p + q));
      expect_cost(spec, p, q, run);
      if ((p + q) % 2 == 0) {
        EXPECT_EQ(run.report.steps, p * segments + ceil_div(q, 2) - 1);
      }
      EXPECT_LE(transit_buffers(run), 2) << p << " " << q;
    }
  });
}

TEST(IntergroupRing, PacedHasTheSameCost) {
  for_all_groups(largest() / 2, [](int p, int q) {
    for (const char* spec : {"ring:paced=yes", "ring:segments=3,paced=yes"})
      expect_cost(spec, p, q, run_intergroup(spec, p, q, ring_neighbours(p + q)));
  });
}

TEST(IntergroupRing, OneSenderInSegmentsTakesTheBetterOfTwoLayouts) {
  for (int q = 2; q <= 20; q += 2)
    for (int segments = 1; segments <= 20; ++segments)
      EXPECT_EQ(optimal_ring(1, q, segments).steps(), std::min(2 * segments + q / 2 - 1, segments + q - 1));
}

// The bound is p s + ceil(q/2) - 1 steps, for s segments.
TEST(IntergroupRing, InSegmentsReachesTheBoundForMostOddGroups) {
  int reached = 0, all = 0;
  for_all_groups(40, [&](int p, int q) {
    if (p < 4 || (p + q) % 2 == 0) return;
    for (int segments = 2; segments <= 10; ++segments, ++all)
      reached += optimal_ring(p, q, segments).steps() == p * segments + ceil_div(q, 2) - 1;
  });
  EXPECT_GT(reached, all * 98 / 100) << reached << " of " << all;
}

TEST(IntergroupRing, PaperTakesItsSteps) {
  for_all_groups(largest(), [](int p, int q) {
    const intergroup_run run = run_intergroup("ring_paper", p, q, ring_neighbours(p + q));
    const auto cost = cost_of(parse_intergroup("ring_paper"), two_groups(p, q));
    const bool whole = q % 2 == 0 && (p >= q || p % 2 == 0);
    if (whole) {
      EXPECT_EQ(run.report.steps, p + q / 2);
    }
    EXPECT_LE(run.report.steps, cost.steps);
    EXPECT_LE(cost.steps, p + q / 2 + 2);
    EXPECT_GE(run.report.steps, least_ring_steps(p, q));
  });
}

std::int64_t published_traffic(int p, int q) {
  const paper_ring ring(p, q);
  std::int64_t hops = 0;
  for (int message = 0; message < p; ++message)
    hops += ring.published_route(message).up.hops + ring.published_route(message).down.hops;
  return hops;
}

TEST(IntergroupRing, PaperMovesWhatTheSpecificationCounts) {
  EXPECT_EQ(published_traffic(4, 4), 23);
  EXPECT_EQ(published_traffic(4, 6), 37);
  EXPECT_EQ(published_traffic(6, 4), 40);
  EXPECT_EQ(published_traffic(16, 32), 778);
  EXPECT_EQ(published_traffic(32, 16), 1036);
  EXPECT_EQ(published_traffic(64, 192), 16712);
  EXPECT_EQ(published_traffic(192, 64), 31120);
  EXPECT_EQ(run_intergroup("ring_paper", 15, 16).report.traffic, 373);
  EXPECT_EQ(run_intergroup("ring_paper", 16, 15).report.traffic, 381);
}

TEST(IntergroupRing, UnionPassesEveryMessageAllAround) {
  for_all_groups(largest(), [](int p, int q) {
    const intergroup_run run = run_intergroup("union_ring", p, q, ring_neighbours(p + q));
    expect_cost("union_ring", p, q, run);
    EXPECT_EQ(run.report.traffic, std::int64_t{p} * (p + q - 1));
  });
}

struct ring_row {
  int p, q, steps, traffic, union_steps, union_traffic;
};

TEST(IntergroupRing, MatchesTheTableOfTheSpecification) {
  for (const ring_row& row : {ring_row{4, 4, 5, 22, 7, 28},
                              {4, 6, 6, 30, 9, 36},
                              {6, 4, 7, 36, 9, 54},
                              {16, 32, 31, 752, 47, 752},
                              {32, 16, 39, 892, 47, 1504},
                              {15, 16, 22, 350, 30, 450},
                              {16, 15, 23, 361, 30, 480},
                              {64, 192, 159, 16320, 255, 16320},
                              {192, 64, 223, 24720, 255, 48960}}) {
    EXPECT_EQ(optimal_ring(row.p, row.q).steps(), row.steps);
    EXPECT_EQ(ring_traffic(row.p, row.q), row.traffic);
    EXPECT_EQ(cost_of(parse_intergroup("union_ring"), two_groups(row.p, row.q)).steps, row.union_steps);
    EXPECT_EQ(row.p * (row.p + row.q - 1), row.union_traffic);
  }
}

// ---- torus --------------------------------------------------------------------------------------------------------

void check_torus(int sender_rows, int receiver_rows, const std::vector<int>& further) {
  std::vector<int> shape = {sender_rows + receiver_rows};
  shape.insert(shape.end(), further.begin(), further.end());
  std::string spec = "torus:shape=" + std::to_string(shape[0]);
  int row = 1;
  for (int extent : further) {
    spec += "x" + std::to_string(extent);
    row *= extent;
  }
  const int p = sender_rows * row, q = receiver_rows * row;
  const intergroup_run run = run_intergroup(spec, p, q, torus_neighbours(shape));
  expect_cost(spec, p, q, run);
  const int one_more = sender_rows == 1 && receiver_rows % 2 == 0;
  EXPECT_EQ(run.report.volume, p + ceil_div(receiver_rows, 2) - 1 + one_more) << spec;
}

TEST(IntergroupTorus, MeetsTheReceiveBoundOnItsLinks) {
  for (int a = 1; a <= 6; ++a)
    for (int b = 1; b <= 6; ++b)
      for (int c = 1; c <= 5; ++c) {
        check_torus(a, b, {c});
        if (a <= 3 && b <= 3 && c <= 4) check_torus(a, b, {c, 3});
      }
  check_torus(2, 3, {2, 3, 4});
}

// ---- baseline -----------------------------------------------------------------------------------------------------

TEST(IntergroupRootGathering, HasItsCost) {
  for_all_groups(largest(), [](int p, int q) {
    expect_cost("root_gathering", p, q, run_intergroup("root_gathering", p, q));
    const intergroup_run split = run_intergroup("root_gathering:broadcast=split", p, q);
    const auto cost = cost_of(parse_intergroup("root_gathering:broadcast=split"), two_groups(p, q));
    EXPECT_EQ(split.report.steps, cost.steps);
    EXPECT_GE(split.volume(), cost.volume - 1e-9);
    EXPECT_LE(split.volume(), cost.volume + 0.125 * p) << p << " " << q;
  });
}

// ---- the specification's comparison -------------------------------------------------------------------------------

struct full_row {
  int p, q, rounds, volume, circulant_rounds, circulant_volume, root_rounds, root_volume, least_rounds;
};

TEST(Intergroup, MatchesTheComparisonOfTheSpecification) {
  for (const full_row& row : {full_row{4, 4, 3, 4, 3, 4, 5, 15, 3},
                              {6, 2, 4, 6, 3, 6, 5, 17, 3},
                              {2, 6, 3, 3, 3, 3, 5, 9, 3},
                              {5, 3, 4, 5, 3, 6, 6, 19, 3},
                              {3, 5, 4, 4, 3, 4, 6, 14, 3},
                              {12, 5, 5, 12, 5, 13, 8, 59, 4},
                              {5, 12, 5, 6, 5, 8, 8, 29, 4},
                              {100, 10, 8, 100, 7, 101, 12, 599, 7},
                              {10, 100, 8, 13, 7, 14, 12, 89, 7},
                              {128, 128, 8, 128, 8, 128, 15, 1151, 8}}) {
    const intergroup_run full = run_intergroup("full", row.p, row.q), least = run_intergroup("circulant", row.p, row.q);
    EXPECT_EQ(full.report.steps, row.rounds);
    EXPECT_EQ(full.report.volume, row.volume);
    EXPECT_EQ(least.report.steps, row.circulant_rounds);
    EXPECT_EQ(least.report.volume, row.circulant_volume);
    const intergroup_cost root = cost_of(parse_intergroup("root_gathering"), two_groups(row.p, row.q));
    EXPECT_EQ(root.steps, row.root_rounds);
    EXPECT_EQ(root.volume, row.root_volume);
    EXPECT_EQ(least_rounds(row.p, row.q), row.least_rounds);
  }
}

// ---- order --------------------------------------------------------------------------------------------------------

// What a rank does in a step waits for all that it did in the step before. So it never has two transfers one way.
void expect_steps_in_turn(const schedule& program) {
  std::vector<op_id> before, current;
  int step = 0;
  for (op_id id = 0; id < static_cast<op_id>(program.operations.size()); ++id) {
    const operation& op = program.operations[id];
    if (op.step != step) before.swap(current), current.clear();
    EXPECT_GE(op.step, step);
    step = op.step;
    const auto after = program.after_of(op);
    for (op_id earlier : before) EXPECT_NE(std::find(after.begin(), after.end(), earlier), after.end());
    current.push_back(id);
  }
}

TEST(Intergroup, RanksGoStepByStep) {
  for (const char* spec : {"full", "full:spread=split", "circulant", "ring", "ring:segments=3", "ring_paper",
                           "union_ring", "root_gathering", "torus:shape=4x3"})
    for (const schedule& program : run_intergroup(spec, 3, 9).programs) expect_steps_in_turn(program);
}

// A rank posts its send first, so that it lets no message of a peer through before its own is on its way to that peer.
TEST(Intergroup, SendsGoBeforeTheReceivesOfTheirStep) {
  for (const char* spec : {"full", "full:spread=split", "circulant", "ring", "ring:paced=yes", "root_gathering"})
    for (const schedule& program : run_intergroup(spec, 4, 4).programs)
      for (std::size_t id = 1; id < program.operations.size(); ++id) {
        const operation &earlier = program.operations[id - 1], &later = program.operations[id];
        const bool received_first = earlier.kind == op_kind::recv && later.kind == op_kind::send;
        EXPECT_FALSE(received_first && earlier.slot_count > 0 && earlier.step == later.step) << spec << " " << id;
      }
}

// Every message comes after a token from its receiver, sent in the same step.
TEST(Intergroup, PacedMessagesWaitForTheirReceivers) {
  for (const char* spec : {"full:paced=yes", "ring:paced=yes"})
    for (const schedule& program : run_intergroup(spec, 3, 6).programs)
      for (const operation& op : program.operations) {
        if (op.kind != op_kind::send || op.slot_count == 0) continue;
        const auto after = program.after_of(op);
        EXPECT_TRUE(std::any_of(after.begin(), after.end(), [&](op_id earlier) {
          const operation& token = program.operations[earlier];
          return token.kind == op_kind::recv && token.slot_count == 0 && token.peer == op.peer && token.step == op.step;
        })) << spec;
      }
}

// ---- samples of larger groups -------------------------------------------------------------------------------------

TEST(Intergroup, LargeGroupsAreRight) {
  std::mt19937 random(7);
  for (int sample = 0; sample < (exhaustive() ? 40 : 1); ++sample) {
    const int ranks = exhaustive() ? 100 + static_cast<int>(random() % 901) : 150;
    const int p = 1 + static_cast<int>(random() % (ranks - 1)), q = ranks - p;
    for (const char* spec : {"full", "full:spread=split", "full:allgather=ring", "root_gathering"})
      expect_cost(spec, p, q, run_intergroup(spec, p, q));
    run_intergroup("circulant", p, q);
    run_intergroup("root_gathering:broadcast=split", p, q);
    for (const char* spec : {"ring", "ring:segments=3", "union_ring"})
      expect_cost(spec, p, q, run_intergroup(spec, p, q, ring_neighbours(ranks)));
    run_intergroup("ring_paper", p, q, ring_neighbours(ranks));
  }
}

// A rank of a large job makes only the operations that it performs.
TEST(Intergroup, OneRankOfAMillionMakesOnlyItsOwnProgram) {
  const problem at = two_groups(1000, 1000000);
  const schedule last = generate(parse_intergroup("ring"), at, 1000999);
  EXPECT_LE(last.operations.size(), 2000u);
  const schedule receiver = generate(parse_intergroup("full"), at, 500000);
  EXPECT_LE(receiver.operations.size(), 2u * 24);
  EXPECT_LE(receiver.slots.size(), 2048u);
}

// ---- refusals -----------------------------------------------------------------------------------------------------

std::string refusal(const std::string& spec, int p, int q) {
  try {
    generate(parse_intergroup(spec), two_groups(p, q), 0);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Intergroup, RefusesWhatItCannotServe) {
  for (const algorithm& a : algorithms())
    if (a.what == collective::allgather && a.generate) {
      EXPECT_NE(refusal(a.name, 0, 4).find("at least one sender and one receiver"), std::string::npos) << a.name;
      EXPECT_NE(refusal(a.name, 4, 0).find("at least one sender and one receiver"), std::string::npos) << a.name;
    }
  EXPECT_NE(refusal("torus", 4, 8).find("shape of the torus is not given"), std::string::npos);
  EXPECT_NE(refusal("torus:shape=4x8", 4, 8).find("a torus of 4x8 has 32 ranks"), std::string::npos);
  EXPECT_NE(refusal("torus:shape=3x4", 5, 7).find("5 senders are not whole rows of 4 ranks"), std::string::npos);
  EXPECT_NE(refusal("full:allgather=recursive_doubling", 6, 2).find("of two of senders, not 6"), std::string::npos);
  EXPECT_NE(refusal("ring:segments=65536", 10000, 3).find("segments of 10000 messages"), std::string::npos);
}

}  // namespace
}  // namespace shoal
