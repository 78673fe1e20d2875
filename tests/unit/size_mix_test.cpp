// Times of calls of different sizes.
#include "select/size_mix.hpp"

#include <gtest/gtest.h>

namespace shoal {
namespace {

// Else what was dropped long ago would seem to take no time.
TEST(size_mix, never_forgets_what_a_candidate_took) {
  size_mix usual;
  const int small = size_mix::class_of(100), large = size_mix::class_of(1e6);
  usual.add(1, small, 6e-6);
  usual.add(1, large, 60e-6);
  for (int call = 0; call < 1'000'000; ++call) usual.add(0, call % 2 ? small : large, call % 2 ? 1e-6 : 10e-6);
  EXPECT_NEAR(usual.mean(1), 33e-6, 1e-6);
  EXPECT_NEAR(usual.mean(0), 5.5e-6, 1e-6);
  usual.add(1, small, 2e-6);
  EXPECT_NEAR(usual.mean(1, small), 2e-6, 1e-9);
}

}  // namespace
}  // namespace shoal
