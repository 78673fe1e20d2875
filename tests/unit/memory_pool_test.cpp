// Scratch memory between exchanges.
#include "execute/memory_pool.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace shoal {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

TEST(MemoryPool, KeepsWhatIsUsedNowRatherThanWhatWasUsedOnce) {
  memory_pool pool(64 * mib);
  pool.give_back(pool.take(60 * mib), 60 * mib);
  std::byte* const first = pool.take(8 * mib);
  pool.give_back(first, 8 * mib);
  EXPECT_EQ(pool.kept(), 8 * mib);
  std::byte* const again = pool.take(8 * mib);
  EXPECT_EQ(again, first);
  pool.give_back(again, 8 * mib);
}

TEST(MemoryPool, LetsGoFirstOfWhatWasNotTakenForLongest) {
  memory_pool pool(64 * mib);
  for (const std::size_t once : {10 * mib, 3 * mib}) pool.give_back(pool.take(once), once);
  for (int i = 0; i < 3; ++i) {
    std::byte *const large = pool.take(40 * mib), *const small = pool.take(20 * mib);
    pool.give_back(small, 20 * mib);
    pool.give_back(large, 40 * mib);
  }
  EXPECT_EQ(pool.kept(), 63 * mib) << "what was taken later";
}

TEST(MemoryPool, NeverKeepsMoreThanItMay) {
  memory_pool pool(mib);
  std::vector<std::pair<std::byte*, std::size_t>> taken;
  for (std::size_t bytes : {mib / 4, mib / 3, mib / 4, 2 * mib, mib, mib / 2, std::size_t{100}, mib / 2, mib / 8})
    taken.emplace_back(pool.take(bytes), bytes);
  for (const auto& [buffer, bytes] : taken) {
    pool.give_back(buffer, bytes);
    EXPECT_LE(pool.kept(), mib);
  }
  memory_pool::tally again;
  for (int i = 0; i < 3; ++i) pool.give_back(pool.take(mib / 2, again), mib / 2);
  pool.make_ready(again);
  EXPECT_LE(pool.kept(), mib);
  EXPECT_EQ(pool.in_use(), 0u);
}

// In an exchange that takes more memory than the pool keeps.
TEST(MemoryPool, KeepsNothingThatWasUnusedForLongerThanWhatItHas) {
  memory_pool pool(64 * mib);
  pool.give_back(pool.take(10 * mib), 10 * mib);
  std::byte *const first = pool.take(40 * mib), *const second = pool.take(60 * mib);
  pool.give_back(second, 60 * mib);
  pool.give_back(first, 40 * mib);
  EXPECT_EQ(pool.kept(), 64 * mib) << "64 MiB are the class of 60";
  std::byte* const again = pool.take(60 * mib);
  EXPECT_EQ(again, second);
  pool.give_back(again, 60 * mib);
}

TEST(MemoryPool, LetsGoOfNoMorePiecesThanItMust) {
  memory_pool pool(mib);
  std::vector<std::byte*> small(1024);
  for (std::byte*& buffer : small) buffer = pool.take(1024);
  for (std::byte* buffer : small) pool.give_back(buffer, 1024);
  EXPECT_EQ(pool.kept(), mib);
  pool.give_back(pool.take(mib / 2), mib / 2);
  EXPECT_EQ(pool.kept(), mib);
  std::byte* const large = pool.take(mib / 2);
  EXPECT_EQ(pool.kept(), mib / 2) << "half of the small ones";
  pool.give_back(large, mib / 2);
}

// A buffer that is given back is no better than those of its size that the pool has.
TEST(MemoryPool, AFullOneStaysAsItIsWhereItIsFullOfTheSame) {
  memory_pool pool(2 * mib);
  std::byte* const buffers[] = {pool.take(mib), pool.take(mib), pool.take(mib)};
  for (std::byte* buffer : buffers) pool.give_back(buffer, mib);
  EXPECT_EQ(pool.kept(), 2 * mib);
}

}  // namespace
}  // namespace shoal
