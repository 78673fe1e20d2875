// What goes wrong while blocks are under way.
#include <gtest/gtest.h>

#include "transport/failure.hpp"

namespace shoal {
namespace {

int failing() { throw std::runtime_error("first"); }
int without_memory() { throw std::bad_alloc(); }

TEST(failure, ends_a_body_that_fails_and_says_what_went_wrong_first) {
  bool has_ended = false;
  const auto end = [&] {
    has_ended = true;
    throw std::logic_error("second");
  };
  EXPECT_THROW(ended_by(failing, end), std::runtime_error);
  EXPECT_TRUE(has_ended);
  EXPECT_THROW(ended_by([] { return 0; }, end), std::logic_error);
  EXPECT_EQ(ended_by([] { return 7; }, end), 7);
}

TEST(failure, without_memory_nothing_waits_for_others) {
  bool has_ended = false;
  EXPECT_THROW(ended_by(without_memory, [&] { has_ended = true; }), std::bad_alloc);
  EXPECT_FALSE(has_ended);
}

}  // namespace
}  // namespace shoal
