// Compares runs of bytes in loops with a list of all the bytes.
#include "execute/strided.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace shoal {
namespace {

// Loops, beside a list of the places of all their bytes, in order.
class listed {
 public:
  explicit listed(std::int64_t run) : of_(strided::run(run)) {
    for (std::int64_t i = 0; i < run; ++i) places_.push_back(i);
  }
  void move(std::int64_t bytes) {
    of_ = of_->moved(bytes);
    for (auto& place : places_) place += bytes;
  }
  void repeat(std::int64_t times, std::int64_t stride) {
    if (of_) of_ = of_->repeated(times, stride);
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < times; ++i)
      for (const std::int64_t place : places_) all.push_back(place + i * stride);
    places_ = all;
  }
  const std::optional<strided>& of() const { return of_; }
  const std::vector<std::int64_t>& places() const { return places_; }

 private:
  std::optional<strided> of_;
  std::vector<std::int64_t> places_;
};

listed random_loops(std::mt19937& random) {
  constexpr std::int64_t runs[] = {1, 3, 4, 8, 12, 16, 100, 5000};
  std::int64_t reach = runs[random() % 8];
  listed made(reach);
  for (int loops = static_cast<int>(random() % 4); loops > 0; --loops) {
    const std::int64_t times = random() % 4, stride = reach + random() % 3 * 8;
    made.repeat(times, stride);
    reach = std::max<std::int64_t>(1, times) * stride;
  }
  made.move(random() % 40);
  return made;
}

TEST(Strided, CopiesTheBytesOfItsLoopsAndNoOthers) {
  for (std::uint32_t seed = 1; seed <= 2000; ++seed) {
    std::mt19937 random(seed);
    const listed one = random_loops(random);
    ASSERT_TRUE(one.of()) << seed;
    const std::size_t bytes = one.places().size();
    ASSERT_EQ(one.of()->bytes(), static_cast<std::int64_t>(bytes)) << seed;
    const std::size_t reach = bytes ? *std::max_element(one.places().begin(), one.places().end()) + 1 : 1;
    std::vector<std::byte> memory(reach), packed(bytes + 1, std::byte{0xEE}), back(reach, std::byte{0xEE});
    for (auto& byte : memory) byte = static_cast<std::byte>(random());
    std::vector<std::byte> expected = packed, restored = back;
    for (std::size_t i = 0; i < bytes; ++i) restored[one.places()[i]] = expected[i] = memory[one.places()[i]];
    one.of()->pack(memory.data(), packed.data());
    EXPECT_EQ(packed, expected) << seed;
    one.of()->unpack(packed.data(), back.data());
    EXPECT_EQ(back, restored) << seed;
  }
}

TEST(Strided, WhatLiesOneBehindTheOtherIsOneRun) {
  EXPECT_TRUE(strided::run(8).repeated(5, 8)->repeated(3, 40)->is_run());
  EXPECT_FALSE(strided::run(8).repeated(5, 16)->is_run());
  EXPECT_TRUE(strided::run(8).repeated(1, 1000)->is_run());
}

TEST(Strided, HasNoMoreLoopsThanItHasRoomFor) {
  std::optional<strided> all = strided::run(1);
  for (int i = 0; i < strided::most_loops; ++i) all = all->repeated(2, std::int64_t{3} << 2 * i);
  ASSERT_TRUE(all);
  EXPECT_FALSE(all->repeated(2, 1 << 20));
  EXPECT_TRUE(all->repeated(1, 1 << 20));
}

}  // namespace
}  // namespace shoal
