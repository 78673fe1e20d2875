// What gain is hoped for from exchanges of which none was tried yet.
#include "select/hoped_gain.hpp"

#include <gtest/gtest.h>

#include "select/ledger.hpp"

namespace shoal {
namespace {

TEST(hoped_gain, is_a_quarter_of_slow_calls_and_no_more) {
  for (const int sharing : {1, 2, 4})
    for (const double call : {50e-6, 500e-6, 5e-3}) {
      const double hoped = hoped_gain(100 * call, 100, 512, 2 * sharing, sharing);
      EXPECT_LE(hoped, 100 * call / 4);
      if (call > 100e-6) {
        EXPECT_GE(hoped, 100 * call / 5);
      }
    }
}

TEST(hoped_gain, is_little_where_the_mpi_is_as_fast_as_memory) {
  constexpr double share = ledger::share / 2;
  EXPECT_DOUBLE_EQ(hoped_gain(1000 * 17e-6, 1000, 104, 8, 4), share * 1000 * 17e-6);      // 8 ranks on 2 cores
  EXPECT_DOUBLE_EQ(hoped_gain(1000 * 0.35e-6, 1000, 512, 2, 1), share * 1000 * 0.35e-6);  // a core for each rank
  EXPECT_GT(hoped_gain(1000 * 15e-6, 1000, 40, 5, 3), 3 * share * 1000 * 15e-6);          // 5 ranks on 2 cores
}

TEST(hoped_gain, counts_what_has_to_be_copied) {
  const double small = hoped_gain(100 * 400e-6, 100, 8 * 1024, 8, 4),
               large = hoped_gain(100 * 400e-6, 100, 8 << 16, 8, 4);
  EXPECT_GT(small, 1.5 * large);
  EXPECT_DOUBLE_EQ(hoped_gain(100 * 200e-6, 100, 8 << 16, 8, 4), ledger::share / 2 * 100 * 200e-6);
}

// As if most blocks are empty.
TEST(hoped_gain, is_more_where_a_rank_meets_fewer_others) {
  EXPECT_GT(hoped_gain(1000 * 18e-6, 1000, 4096, 2, 4), 4 * hoped_gain(1000 * 18e-6, 1000, 4096, 8, 4));
}

TEST(hoped_gain, grows_with_the_calls) {
  EXPECT_DOUBLE_EQ(hoped_gain(2 * 100 * 80e-6, 2 * 100, 512, 8, 4), 2 * hoped_gain(100 * 80e-6, 100, 512, 8, 4));
  EXPECT_EQ(hoped_gain(0, 0, 0, 8, 4), 0);
}

}  // namespace
}  // namespace shoal
