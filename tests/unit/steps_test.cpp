// The step checker catches each deliberate fault by name. The step table shows the specification's worked examples.
#include <gtest/gtest.h>

#include "intergroup_fixture.hpp"
#include "schedule/builder.hpp"
#include "schedule/step_table.hpp"

namespace shoal {
namespace {

using testing::intergroup_run;
using testing::parse_intergroup;
using testing::run_intergroup;
using testing::two_groups;

// ---- faults -------------------------------------------------------------------------------------------------------

std::optional<step_fault> fault_of(const std::vector<schedule>& programs, int p, int q,
                                   const neighbour_test& linked = {}) {
  return follow_steps(programs, allgather_meaning(p, q), linked).fault;
}

std::vector<schedule> programs_of(const std::string& spec, int p, int q) {
  return generate_all(parse_intergroup(spec), two_groups(p, q));
}

operation& first(schedule& program, op_kind kind, int step) {
  for (operation& op : program.operations)
    if (op.kind == kind && op.step == step) return op;
  throw std::logic_error("no such operation");
}

void expect_fault(const std::vector<schedule>& programs, int p, int q, step_fault_kind kind, int step, int rank,
                  const neighbour_test& linked = {}) {
  const auto fault = fault_of(programs, p, q, linked);
  ASSERT_TRUE(fault) << "expected: " << to_string(kind);
  EXPECT_EQ(fault->kind, kind) << fault->text;
  EXPECT_EQ(fault->step, step) << fault->text;
  EXPECT_EQ(fault->rank, rank) << fault->text;
}

TEST(Steps, FindNoFaultInARightSchedule) {
  EXPECT_FALSE(fault_of(programs_of("ring", 4, 6), 4, 6, ring_neighbours(10)));
  EXPECT_FALSE(fault_of(programs_of("full", 6, 2), 6, 2));
}

// 4 -> 5 carries m3 in step 2. Both ends move that to step 1, in which rank 4 is still receiving m3.
TEST(Steps, CatchABlockThatHasNotArrived) {
  auto programs = programs_of("ring", 4, 4);
  first(programs[4], op_kind::send, 2).step = 1;
  first(programs[5], op_kind::recv, 2).step = 1;
  expect_fault(programs, 4, 4, step_fault_kind::not_available, 1, 4);
}

TEST(Steps, CatchATransferWhoseEndsDisagree) {
  auto programs = programs_of("ring", 4, 4);
  first(programs[4], op_kind::send, 2).step = 3;
  expect_fault(programs, 4, 4, step_fault_kind::other_step, 3, 4);
}

// 2 -> 3 carries m2 in step 2, which moves to step 3. There rank 2 already sends m2 to rank 1.
TEST(Steps, CatchTwoSendsInAStep) {
  auto programs = programs_of("ring", 4, 4);
  first(programs[2], op_kind::send, 2).step = 3;
  first(programs[3], op_kind::recv, 2).step = 3;
  expect_fault(programs, 4, 4, step_fault_kind::two_sends, 3, 2);
}

// Rank 5 receives from rank 6 in step 3, which moves to step 4. There it already receives from rank 4.
TEST(Steps, CatchTwoReceivesInAStep) {
  auto programs = programs_of("ring", 4, 4);
  first(programs[5], op_kind::recv, 3).step = 4;
  first(programs[6], op_kind::send, 3).step = 4;
  expect_fault(programs, 4, 4, step_fault_kind::two_receives, 4, 5);
}

TEST(Steps, CatchATransferBetweenStrangers) {
  expect_fault(programs_of("full", 4, 4), 4, 4, step_fault_kind::not_neighbours, 1, 0, ring_neighbours(8));
  EXPECT_FALSE(fault_of(programs_of("full", 4, 4), 4, 4));
}

TEST(Steps, CatchATransferWithOneEnd) {
  auto programs = programs_of("ring", 4, 4);
  programs[7].operations.pop_back();
  const auto fault = fault_of(programs, 4, 4);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, step_fault_kind::unmatched) << fault->text;
}

TEST(Steps, CatchATransferOfUnequalLength) {
  auto programs = programs_of("full:prune=no", 6, 2);
  --first(programs[6], op_kind::recv, 3).slot_count;
  expect_fault(programs, 6, 2, step_fault_kind::unmatched, 3, 6);
}

// A transfer of the last step cannot move to any earlier step: a ring schedule has no slack.
TEST(Steps, NoTransferOfTheRingCanBeEarlier) {
  const auto right = programs_of("ring", 6, 4);
  const int steps = follow_steps(right, allgather_meaning(6, 4)).steps;
  for (int rank = 0; rank < 10; ++rank)
    for (const operation& op : right[rank].operations) {
      if (op.kind != op_kind::send || op.step != steps) continue;
      for (int earlier = 1; earlier < steps; ++earlier) {
        auto programs = right;
        first(programs[rank], op_kind::send, steps).step = earlier;
        first(programs[op.peer], op_kind::recv, steps).step = earlier;
        EXPECT_TRUE(fault_of(programs, 6, 4)) << rank << " to " << op.peer << " in step " << earlier;
      }
    }
}

TEST(Steps, CountVolumeByTheLargestTransferOfAStep) {
  const step_report report = follow_steps(programs_of("full", 6, 2), allgather_meaning(6, 2));
  EXPECT_EQ(report.steps, 4);
  EXPECT_EQ(report.volume, 1 + 1 + 2 + 2);
  EXPECT_EQ(report.traffic, 16);
  EXPECT_EQ(report.transfers.size(), 12u);
}

TEST(Steps, KnowTheLinksOfRingAndTorus) {
  const auto ring = ring_neighbours(5);
  EXPECT_TRUE(ring(0, 4) && ring(4, 0) && ring(2, 3));
  EXPECT_FALSE(ring(0, 2) || ring(0, 0));
  const auto torus = torus_neighbours({4, 5});
  EXPECT_TRUE(torus(0, 1) && torus(0, 4) && torus(0, 5) && torus(0, 15) && torus(7, 12));
  EXPECT_FALSE(torus(0, 6) || torus(0, 2) || torus(0, 10) || torus(4, 5) || torus(3, 3));
}

// ---- the table: examples of the intergroup specification, global ranks --------------------------------------------

std::string table_of(const std::string& spec, int p, int q) {
  const intergroup_run run = run_intergroup(spec, p, q);
  return step_table(run.report, run.parts);
}

TEST(StepTable, RingOfFourAndFour) {
  EXPECT_EQ(table_of("ring", 4, 4), R"(1: 0->7:m0 3->4:m3
2: 1->0:m1 2->3:m2 4->5:m3 7->6:m0
3: 0->7:m1 1->2:m1 2->1:m2 3->4:m2 5->6:m3 6->5:m0
4: 1->0:m2 2->3:m1 4->5:m2 5->4:m0 6->7:m3 7->6:m1
5: 0->7:m2 3->4:m1 5->6:m2 6->5:m1
)");
}

TEST(StepTable, RingOfFourAndSix) {
  EXPECT_EQ(table_of("ring", 4, 6), R"(1: 0->9:m0 3->4:m3
2: 1->0:m1 2->3:m2 4->5:m3 9->8:m0
3: 0->9:m1 1->2:m1 2->1:m2 3->4:m2 5->6:m3 8->7:m0
4: 1->0:m2 2->3:m1 4->5:m2 6->7:m3 7->6:m0 9->8:m1
5: 0->9:m2 3->4:m1 5->6:m2 6->5:m0 7->8:m3 8->7:m1
6: 4->5:m1 5->4:m0 6->7:m2 7->6:m1 8->9:m3 9->8:m2
)");
}

TEST(StepTable, RingOfSixAndFour) {
  EXPECT_EQ(table_of("ring", 6, 4), R"(1: 0->9:m0 5->6:m5
2: 1->0:m1 4->5:m4 6->7:m5 9->8:m0
3: 0->9:m1 2->1:m2 3->4:m3 5->6:m4 7->8:m5 8->7:m0
4: 1->0:m2 2->3:m2 3->2:m3 4->5:m3 6->7:m4 7->6:m0 8->9:m5 9->8:m1
5: 0->9:m2 2->1:m3 3->4:m2 5->6:m3 7->8:m4 8->7:m1
6: 1->0:m3 4->5:m2 6->7:m3 7->6:m1 8->9:m4 9->8:m2
7: 0->9:m3 5->6:m2 7->8:m3 8->7:m2
)");
}

TEST(StepTable, RingsWithOddGroups) {
  EXPECT_EQ(table_of("ring", 3, 3), R"(1: 2->3:m2
2: 0->5:m0 1->2:m1 3->4:m2
3: 1->0:m1 2->3:m1 4->5:m2 5->4:m0
4: 0->5:m1 3->4:m1 4->3:m0
)");
  EXPECT_EQ(table_of("ring", 4, 3), R"(1: 0->6:m0 3->4:m3
2: 1->0:m1 2->3:m2 4->5:m3
3: 1->2:m1 3->4:m2 5->6:m3 6->5:m0
4: 0->6:m1 2->3:m1 4->5:m2 5->4:m0
5: 3->4:m1 5->6:m2 6->5:m1
)");
  EXPECT_EQ(table_of("ring", 3, 4), R"(1: 0->6:m0 1->0:m1 2->3:m2
2: 0->6:m1 1->2:m1 3->4:m2 6->5:m0
3: 2->3:m1 4->5:m2 5->4:m0
4: 3->4:m1 4->3:m0 5->6:m2 6->5:m1
)");
}

TEST(StepTable, RingsWithOneSender) {
  EXPECT_EQ(table_of("ring", 1, 4), "1: 0->1:m0\n2: 0->4:m0 1->2:m0\n3: 4->3:m0\n");
  EXPECT_EQ(table_of("ring", 1, 1), "1: 0->1:m0\n");
}

TEST(StepTable, TwoPhasesOfSixAndTwo) {
  EXPECT_EQ(table_of("full:prune=no", 6, 2), R"(1: 0->6:m0 1->7:m1
2: 2->7:m2 3->2:m3 4->3:m4 5->4:m5 6->5:m0 7->6:m1
3: 2->6:m2,m3 3->7:m3,m4 4->2:m4,m5 5->3:m5,m0 6->4:m0,m1 7->5:m1,m2
4: 2->4:m2,m3 3->5:m3,m4 4->6:m4,m5 5->7:m5,m0 6->2:m0,m1 7->3:m1,m2
)");
}

TEST(StepTable, TwoPhasesOfTwoAndSix) {
  EXPECT_EQ(table_of("full", 2, 6), R"(1: 0->2:m0 1->3:m1
2: 0->4:m0 1->5:m1 2->6:m0 3->7:m1
3: 2->3:m0 3->2:m1 4->5:m0 5->4:m1 6->7:m0 7->6:m1
)");
}

TEST(StepTable, TwoPhasesOfThreeAndFive) {
  EXPECT_EQ(table_of("full:prune=no", 3, 5), R"(1: 0->3:m0 1->4:m1 2->5:m2
2: 0->6:m0 1->7:m1
3: 2->7:m2 3->5:m0 4->3:m1 5->4:m2 6->2:m0 7->6:m1
4: 2->6:m2 3->4:m0 4->5:m1 5->3:m2 6->7:m0 7->2:m1
)");
}

TEST(StepTable, CirculantOfSixAndTwo) {
  EXPECT_EQ(table_of("circulant", 6, 2), R"(1: 0->6:m0 2->1:m2 3->7:m3 5->4:m5
2: 1->6:m1,m2 4->7:m4,m5
3: 6->7:m0,m1,m2 7->6:m3,m4,m5
)");
}

TEST(StepTable, NamesTheParts) { EXPECT_EQ(table_of("ring:segments=2", 1, 1), "1: 0->1:m0.1\n2: 0->1:m0.0\n"); }

}  // namespace
}  // namespace shoal
