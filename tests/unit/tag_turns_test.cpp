// Tags come round again, but an exchange that is under way or prepared shares its tags with no other.
#include "execute/tag_turns.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <optional>

namespace shoal {
namespace {

constexpr int highest = 63;

bool are_apart(tag_range a, tag_range b) { return a.beside() < b.first || b.beside() < a.first; }

void expect_right(tag_range tags) {
  EXPECT_GE(tags.first, 1);
  EXPECT_GE(tags.count, 1);
  EXPECT_LE(tags.beside(), highest);
}

TEST(tag_turns, one_turn_and_one_place_stay_open_over_two_wraps) {
  tag_turns all(highest);
  const tag_turns::place held = all.hold(all.next_place());
  std::optional<tag_turns::turn> open(all.take());
  expect_right(held.tags());
  expect_right(open->tags());
  EXPECT_TRUE(are_apart(held.tags(), open->tags()));
  for (int i = 1; i < all.places(); ++i) {
    const tag_turns::turn one = all.take();
    EXPECT_TRUE(one.has_come());
    expect_right(one.tags());
    EXPECT_TRUE(are_apart(one.tags(), open->tags()) && are_apart(one.tags(), held.tags()));
  }
  std::deque<tag_turns::turn> waiting;
  for (int i = 0; i < 2 * all.places(); ++i) EXPECT_FALSE(waiting.emplace_back(all.take()).has_come());
  open.reset();
  for (; !waiting.empty(); waiting.pop_front()) {
    EXPECT_TRUE(waiting.front().has_come());
    for (std::size_t i = 1; i < waiting.size() && waiting[i].has_come(); ++i)
      EXPECT_TRUE(are_apart(waiting.front().tags(), waiting[i].tags()));
    EXPECT_TRUE(are_apart(waiting.front().tags(), held.tags()));
  }
}

TEST(tag_turns, a_place_that_is_held_is_told_when_its_number_comes_again) {
  tag_turns all(highest);
  const int number = all.next_place();
  const tag_turns::place held = all.hold(number);
  int again = 0;
  for (int i = 0; i < 2 * all.places(); ++i) {
    const int next = all.next_place();
    EXPECT_EQ(all.is_held(next), next == number);
    if (!all.was_given(next)) expect_right(all.hold(next).tags());
    again += next == number;
  }
  EXPECT_EQ(again, 2);
}

}  // namespace
}  // namespace shoal
