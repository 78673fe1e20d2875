// How long a waiting rank sleeps, and how often it looks.
#include "transport/waiting.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace shoal {
namespace {

// How long the next sleeps are, in microseconds. The rank looks between any two of them.
std::vector<int> sleeps(waiting& wait, int number) {
  std::vector<int> all;
  while (static_cast<int>(all.size()) < number)
    if (const int us = wait.pause()) all.push_back(us);
  return all;
}

TEST(Waiting, LooksTwiceBeforeEverySleep) {
  waiting wait(wait_mode::sleep);
  for (int i = 0; i < 3000; ++i) {
    ASSERT_EQ(wait.pause(), 0) << i;
    ASSERT_GT(wait.pause(), 0) << i;
  }
}

TEST(Waiting, SleepsAQuarterLongerEachTimeUpToAMillisecond) {
  waiting wait(wait_mode::sleep);
  EXPECT_EQ(sleeps(wait, 5), (std::vector{20, 25, 31, 38, 47}));
  EXPECT_EQ(sleeps(wait, 100).back(), 1000);
}

// As in agreements by the MPI's own collectives, in which ranks need each other's looks for every step.
TEST(Waiting, SleepsForASmallPartOfTheWaitWhereOthersNeedItsLooks) {
  EXPECT_EQ(waiting(wait_mode::sleep, 64).parts_among_lookers(), waiting::usual_parts);
  waiting wait(wait_mode::sleep);
  int waited = 0;
  while (waited < 30000) {
    const int us = wait.pause(wait.parts_among_lookers());
    EXPECT_LE(us, 32 + waited / 32) << waited;
    waited += us;
  }
}

TEST(Waiting, BeginsWithAQuarterOfTheWaitBefore) {
  waiting wait(wait_mode::sleep);
  sleeps(wait, 10);  // 633 microseconds
  wait.progressed();
  EXPECT_EQ(sleeps(wait, 2), (std::vector{158, 197}));
  wait.progressed();
  wait.progressed();  // what arrives at once says nothing about the next wait
  EXPECT_EQ(sleeps(wait, 1), (std::vector{88}));
  sleeps(wait, 100);
  wait.progressed();
  EXPECT_EQ(sleeps(wait, 1), (std::vector{1000}));
  wait.progressed();
  EXPECT_EQ(sleeps(wait, 1), (std::vector{250}));
}

TEST(Waiting, InsideANodeBeginsWithTheShortestSleep) {
  waiting wait(wait_mode::yield);
  EXPECT_EQ(sleeps(wait, 2), (std::vector{20, 25}));
  sleeps(wait, 50);
  wait.progressed();
  for (int i = 0; i < 299; ++i) EXPECT_EQ(wait.pause(), 0) << i;
  EXPECT_EQ(sleeps(wait, 1), (std::vector{20}));
}

TEST(Waiting, OthersThatMoveEndTheWait) {
  waiting wait(wait_mode::sleep);
  bool moves = false;
  wait.move_meanwhile([&] { return moves; });
  sleeps(wait, 100);
  moves = true;
  EXPECT_EQ(wait.pause(), 0);
  moves = false;
  EXPECT_EQ(sleeps(wait, 2), (std::vector{1000, 1000}));
}

}  // namespace
}  // namespace shoal
