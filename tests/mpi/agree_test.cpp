// Agreements over MPI, compared with a flat reduction.
#include "transport/agree.hpp"

#include <gtest/gtest.h>

#include <random>

#include "transport/mpi_transport.hpp"
#include "together.hpp"

namespace shoal {
namespace {

std::int64_t value_of(int round, int rank, std::size_t i) {
  std::mt19937_64 random(static_cast<std::uint64_t>(round * 1000 + rank * 20) + i);
  return static_cast<std::int64_t>(random() >> 8) - (std::int64_t{1} << 54);
}

std::int64_t flat(int round, int ranks, std::size_t i, combine how) {
  std::int64_t result = value_of(round, 0, i);
  for (int rank = 1; rank < ranks; ++rank) {
    const std::int64_t value = value_of(round, rank, i);
    result = how == combine::sum ? result + value : std::max(result, value);
  }
  return result;
}

void agree_many_times(MPI_Comm comm, wait_mode mode) {
  mpi_transport over(comm);
  waiting wait(mode);
  agreement agree(over, wait);
  for (int round = 0; round < 40; ++round) {
    const std::size_t count = static_cast<std::size_t>(round) % (agreement::most_values + 1);
    std::vector<std::int64_t> values;
    std::vector<combine> how;
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(value_of(round, over.rank(), i));
      how.push_back((round + i) % 3 ? combine::sum : combine::maximum);
    }
    agree.reach(values, how);
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(values[i], flat(round, over.ranks(), i, how[i])) << "round " << round << ", value " << i;
  }
}

TEST(Agreement, EqualsAFlatReductionOnAnyNumberOfRanks) {
  for (int ranks = 1; ranks <= world_ranks(); ++ranks) {
    const scoped_comm comm(first_ranks(ranks));
    SCOPED_TRACE(std::to_string(ranks) + " ranks");
    if (comm != MPI_COMM_NULL) agree_many_times(comm, wait_mode::yield);
  }
}

TEST(Agreement, EqualsAFlatReductionWithEveryWayToWait) {
  const scoped_comm comm(split_of(MPI_COMM_WORLD, world_rank() % 2, -world_rank()));
  agree_many_times(comm, wait_mode::sleep);
  agree_many_times(comm, wait_mode::yield);
}

TEST(Agreement, RefusesMoreValuesThanItHasRoomFor) {
  mpi_transport over(MPI_COMM_SELF);
  waiting wait;
  std::vector<std::int64_t> values(agreement::most_values + 1);
  std::vector<combine> how(values.size());
  EXPECT_THROW(agreement(over, wait).reach(values, how), std::invalid_argument);
  EXPECT_THROW(agreement(over, wait).reach(std::span(values).first(2), std::span(how).first(1)), std::invalid_argument);
}

}  // namespace
}  // namespace shoal
