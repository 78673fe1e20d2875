// shoal_exchange(), compared with a list of all blocks that every rank knows.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "execute/sparse_exchange.hpp"
#include "transport/mpi_transport.hpp"
#include "allocations.hpp"
#include "oracle.hpp"
#include "shoal/shoal.h"
#include "together.hpp"

namespace shoal {
namespace {

struct block {
  int origin, destination;
  MPI_Count count;
  bool operator==(const block&) const = default;
};
using pattern = std::vector<block>;  // the blocks of all ranks, the same on each

// Element k of the i-th block of a pattern.
int element(std::size_t i, MPI_Count k) { return static_cast<int>(i * 100003 + static_cast<std::size_t>(k) * 7); }

pattern random_pattern(std::mt19937& random, int ranks) {
  const int largest = std::array{0, 1, 40, 300, 3000, 20000}[random() % 6];
  const int most = std::array{0, 1, 3, 2 * ranks}[random() % 4];
  pattern all;
  for (int o = 0; o < ranks; ++o)
    for (int i = static_cast<int>(random() % (most + 1)); i > 0; --i)
      all.push_back({o, static_cast<int>(random() % ranks), static_cast<MPI_Count>(random() % (largest + 1))});
  return all;
}

struct sent {
  std::vector<int> destinations, data;
  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> displacements;
};

// What a rank sends, with gaps between the blocks.
sent sent_by(const pattern& all, int rank) {
  sent mine;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].origin != rank) continue;
    mine.destinations.push_back(all[i].destination);
    mine.counts.push_back(all[i].count);
    mine.displacements.push_back(static_cast<MPI_Aint>(mine.data.size()));
    for (MPI_Count k = 0; k < all[i].count; ++k) mine.data.push_back(element(i, k));
    mine.data.push_back(-1);
  }
  return mine;
}

void expect_arrived(const shoal_arrivals& got, const pattern& all, int rank) {
  int n = 0;
  MPI_Count at = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].destination != rank) continue;
    ASSERT_LT(n, got.blocks);
    ASSERT_EQ((block{got.sources[n], rank, got.counts[n]}), all[i]);
    ASSERT_EQ(got.displs[n], at);
    for (MPI_Count k = 0; k < all[i].count; ++k)
      ASSERT_EQ(static_cast<const int*>(got.data)[at + k], element(i, k)) << "element " << k << " of block " << n;
    at += all[i].count;
    ++n;
  }
  ASSERT_EQ(n, got.blocks);
}

void perform(const pattern& all, MPI_Comm comm) {
  const sent mine = sent_by(all, rank_in(comm));
  shoal_arrivals* got = nullptr;
  ASSERT_EQ(shoal_exchange(static_cast<int>(mine.counts.size()), mine.destinations.data(), mine.data.data(),
                           mine.counts.data(), mine.displacements.data(), MPI_INT, comm, &got),
            MPI_SUCCESS);
  expect_arrived(*got, all, rank_in(comm));
  EXPECT_EQ(shoal_arrivals_free(&got), MPI_SUCCESS);
  EXPECT_EQ(got, nullptr);
}

// Between two exchanges no rank waits for the others.
TEST(Sparse, AnyPatternArrivesAndExchangesDoNotMix) {
  for (int ranks = 1; ranks <= world_ranks(); ranks += ranks < 3 ? 1 : 2) {
    const scoped_comm comm(first_ranks(ranks));
    if (comm == MPI_COMM_NULL) continue;
    std::mt19937 random(static_cast<unsigned>(ranks));
    for (int i = 0; i < 60; ++i) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, exchange " + std::to_string(i));
      ASSERT_NO_FATAL_FAILURE(perform(random_pattern(random, ranks), comm));
    }
  }
}

TEST(Sparse, EveryRankToEveryRankAndNothingAtAll) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  pattern all;
  for (int o = 0; o < world_ranks(); ++o)
    for (int d = 0; d < world_ranks(); ++d) all.push_back({o, d, o + d});
  perform(all, comm);
  perform({}, comm);
}

// A column of a matrix arrives without its gaps.
TEST(Sparse, TypesWithGapsArriveWithoutThem) {
  MPI_Datatype column;
  MPI_Type_vector(3, 1, 4, MPI_INT, &column);
  MPI_Type_commit(&column);
  const int ranks = world_ranks(), rank = world_rank(), to[] = {(rank + 1) % ranks, MPI_PROC_NULL};
  const std::array<int, 9> matrix{rank, 1, 2, 3, rank + 4, 5, 6, 7, rank + 8};
  const MPI_Count counts[] = {1, 1};
  const MPI_Aint at[] = {0, 0};
  shoal_arrivals* got = nullptr;
  ASSERT_EQ(shoal_exchange(2, to, matrix.data(), counts, at, column, MPI_COMM_WORLD, &got), MPI_SUCCESS);
  ASSERT_EQ(got->blocks, 1);
  const int from = (rank + ranks - 1) % ranks;
  EXPECT_EQ(got->sources[0], from);
  EXPECT_EQ(got->counts[0], 1);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(static_cast<const int*>(got->data)[k], from + 4 * k);
  shoal_arrivals_free(&got);
  MPI_Type_free(&column);
}

int class_of(int code) {
  int found = code;
  MPI_Error_class(code, &found);
  return found;
}

// The rank with the wrong arguments gets the error that fits, all others MPI_ERR_OTHER. The next exchange is right.
TEST(Sparse, WrongArgumentsOfOneRankAreEveryonesError) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int rank = world_rank(), bad = world_ranks() / 2, value = 7, far = world_ranks(), here = 0;
  const MPI_Count one = 1, negative = -1;
  const MPI_Aint at = 0;
  shoal_arrivals* got = nullptr;
  const auto exchange = [&](int blocks, const int* to, const void* from, const MPI_Count* counts, MPI_Datatype type,
                            shoal_arrivals** into) {
    const bool mine = rank == bad;
    return class_of(mine ? shoal_exchange(blocks, to, from, counts, &at, type, comm, into)
                         : shoal_exchange(1, &here, &value, &one, &at, MPI_INT, comm, &got));
  };
  const auto expected = [&](int error_class) { return rank == bad ? error_class : MPI_ERR_OTHER; };
  EXPECT_EQ(exchange(1, &far, &value, &one, MPI_INT, &got), expected(MPI_ERR_RANK));
  EXPECT_EQ(exchange(1, &here, &value, &negative, MPI_INT, &got), expected(MPI_ERR_COUNT));
  EXPECT_EQ(exchange(-1, &here, &value, &one, MPI_INT, &got), expected(MPI_ERR_COUNT));
  EXPECT_EQ(exchange(1, &here, &value, &one, MPI_DATATYPE_NULL, &got), expected(MPI_ERR_TYPE));
  EXPECT_EQ(exchange(1, &here, nullptr, &one, MPI_INT, &got), expected(MPI_ERR_BUFFER));
  EXPECT_EQ(exchange(1, nullptr, &value, &one, MPI_INT, &got), expected(MPI_ERR_ARG));
  EXPECT_EQ(exchange(1, &here, &value, &one, MPI_INT, nullptr), expected(MPI_ERR_ARG));
  EXPECT_EQ(got, nullptr);
  perform({{world_ranks() - 1, 0, 5}}, comm);
}

TEST(Sparse, NotBetweenGroupsNorOnNoCommunicator) {
  shoal_arrivals* got = nullptr;
  EXPECT_EQ(class_of(shoal_exchange(0, nullptr, nullptr, nullptr, nullptr, MPI_INT, MPI_COMM_NULL, &got)),
            MPI_ERR_COMM);
  if (world_ranks() < 2) return;
  const bool first = world_rank() == 0;
  MPI_Comm half, both;
  MPI_Comm_split(MPI_COMM_WORLD, first, world_rank(), &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first, 3, &both);
  MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
  EXPECT_EQ(class_of(shoal_exchange(0, nullptr, nullptr, nullptr, nullptr, MPI_INT, both, &got)), MPI_ERR_COMM);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

// On a communicator of one rank, Shoal has no communicator of its own for its messages.
TEST(Sparse, MessagesOfTheProgramToItselfStayItsOwn) {
  std::vector<char> block(5000, 'x');
  char mine = 0;
  MPI_Request open;
  MPI_Irecv(&mine, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, &open);
  const int here = 0;
  const MPI_Count count = 5000;
  const MPI_Aint at = 0;
  shoal_arrivals* got = nullptr;
  ASSERT_EQ(shoal_exchange(1, &here, block.data(), &count, &at, MPI_CHAR, MPI_COMM_SELF, &got), MPI_SUCCESS);
  ASSERT_EQ(got->counts[0], count);
  EXPECT_TRUE(std::equal(block.begin(), block.end(), static_cast<const char*>(got->data)));
  shoal_arrivals_free(&got);
  const char hers = 'y';
  MPI_Send(&hers, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF);
  MPI_Wait(&open, MPI_STATUS_IGNORE);
  EXPECT_EQ(mine, hers);
}

// The transport is told to split messages into pieces, as it does with messages of more than 2 GiB.
TEST(Sparse, LongBlocksTravelInPieces) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  mpi_transport over(comm, 10000);
  waiting wait(wait_mode::yield);
  sparse_exchange exchange(over, wait);
  const int ranks = world_ranks(), rank = world_rank();
  const std::vector<std::byte> mine(static_cast<std::size_t>(30000 + rank), static_cast<std::byte>(rank));
  const outgoing_block out{(rank + 1) % ranks, mine.data(), mine.size()};
  arrived_blocks got;
  ASSERT_TRUE(exchange.run({&out, 1}, false, got));
  const int from = (rank + ranks - 1) % ranks;
  ASSERT_EQ(got.sources, std::vector<int>{from});
  ASSERT_EQ(got.bytes[0], static_cast<std::size_t>(30000 + from));
  for (std::size_t k = 0; k < got.bytes[0]; ++k) ASSERT_EQ(got.data[k], static_cast<std::byte>(from));
}

// Several exchanges are under way on two communicators. Each rank ends them in its own order, perhaps after a blocking
// one on one of the communicators.
TEST(Sparse, NonblockingOnesEndInAnyOrder) {
  const scoped_comm one(duplicate_of(MPI_COMM_WORLD)), other(duplicate_of(MPI_COMM_WORLD));
  std::mt19937 random(3), own(static_cast<unsigned>(world_rank()));
  for (int i = 0; i < 20; ++i) {
    SCOPED_TRACE("turn " + std::to_string(i));
    struct started {
      pattern all;
      sent mine;
      shoal_arrivals* got = nullptr;
      shoal_request open = SHOAL_REQUEST_NULL;
    };
    std::vector<started> all(1 + random() % 5);
    for (started& each : all) {
      each.all = random_pattern(random, world_ranks());
      each.mine = sent_by(each.all, world_rank());
      ASSERT_EQ(shoal_iexchange(static_cast<int>(each.mine.counts.size()), each.mine.destinations.data(),
                                each.mine.data.data(), each.mine.counts.data(), each.mine.displacements.data(), MPI_INT,
                                random() % 2 ? one : other, &each.got, &each.open),
                MPI_SUCCESS);
    }
    if (random() % 2) {
      ASSERT_NO_FATAL_FAILURE(perform(random_pattern(random, world_ranks()), one));
    }
    std::vector<started*> order;
    for (started& each : all) order.push_back(&each);
    std::shuffle(order.begin(), order.end(), own);
    for (started* const each : order) {
      int ended = own() % 2 ? 0 : -1;
      while (!ended) ASSERT_EQ(shoal_test(&each->open, &ended), MPI_SUCCESS);
      ASSERT_EQ(shoal_wait(&each->open), MPI_SUCCESS);
      EXPECT_EQ(each->open, SHOAL_REQUEST_NULL);
      ASSERT_NO_FATAL_FAILURE(expect_arrived(*each->got, each->all, world_rank()));
      shoal_arrivals_free(&each->got);
    }
  }
}

TEST(Sparse, NonblockingOneOutlivesItsCommunicator) {
  MPI_Comm comm = duplicate_of(MPI_COMM_WORLD);
  const int next = (world_rank() + 1) % world_ranks();
  const std::vector<char> block(5000, static_cast<char>(world_rank()));
  const MPI_Count count = 5000;
  const MPI_Aint at = 0;
  shoal_arrivals* got = nullptr;
  shoal_request open = SHOAL_REQUEST_NULL;
  ASSERT_EQ(shoal_iexchange(1, &next, block.data(), &count, &at, MPI_CHAR, comm, &got, &open), MPI_SUCCESS);
  MPI_Comm_free(&comm);
  ASSERT_EQ(shoal_wait(&open), MPI_SUCCESS);
  EXPECT_EQ(got->sources[0], (world_rank() + world_ranks() - 1) % world_ranks());
  shoal_arrivals_free(&got);
}

std::vector<int> raised;  // classes of errors
void note_raised(MPI_Comm*, int* code, ...) { raised.push_back(class_of(*code)); }

// The errors go to the error handler that the program's communicator had.
TEST(Sparse, ErrorsAreRaisedThoughTheCommunicatorIsFreed) {
  raised.clear();
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(note_raised, &handler);
  MPI_Comm comm = duplicate_of(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
  const int bad = world_ranks() / 2, to = world_rank() == bad ? world_ranks() : 0, value = 7;
  const MPI_Count one = 1;
  const MPI_Aint at = 0;
  shoal_arrivals* got = nullptr;
  shoal_request open = SHOAL_REQUEST_NULL;
  ASSERT_EQ(shoal_iexchange(1, &to, &value, &one, &at, MPI_INT, comm, &got, &open), MPI_SUCCESS);
  MPI_Comm_free(&comm);
  const int expected = world_rank() == bad ? MPI_ERR_RANK : MPI_ERR_OTHER;
  EXPECT_EQ(class_of(shoal_wait(&open)), expected);
  EXPECT_EQ(raised, std::vector<int>{expected});
  EXPECT_EQ(open, SHOAL_REQUEST_NULL);
}

// A rank gives more bytes to pack than there can be. That is an error like other wrong arguments.
TEST(Sparse, WhatCannotBePackedIsEveryonesError) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Datatype gaps;
  MPI_Type_vector(3, 1, 4, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  const int bad = world_ranks() / 2, here = 0;
  const std::array<int, 9> matrix{};
  const MPI_Aint at = 0;
  for (const MPI_Count many : {MPI_Count(1) << 50, MPI_Count(900) << 50}) {
    const MPI_Count count = world_rank() == bad ? many : 1;
    shoal_arrivals* got = nullptr;
    const int code = shoal_exchange(1, &here, matrix.data(), &count, &at, gaps, comm, &got);
    EXPECT_EQ(class_of(code), world_rank() == bad ? MPI_ERR_NO_MEM : MPI_ERR_OTHER);
    EXPECT_EQ(got, nullptr);
  }
  MPI_Type_free(&gaps);
  perform({{world_ranks() - 1, 0, 5}}, comm);
}

// Wherever the rank runs out of memory.
TEST(Sparse, ARankAloneGoesOnWhenItHasMemoryAgain) {
  const scoped_comm comm(split_of(MPI_COMM_WORLD, world_rank(), 0));
  perform({}, comm);
  MPI_Datatype gaps;
  MPI_Type_vector(3, 1, 4, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  const int here = 0;
  const std::vector<int> matrix(9);
  const MPI_Count count = 1;
  const MPI_Aint at = 0;
  int code = MPI_ERR_NO_MEM;
  for (int left = 0; left < 100 && code != MPI_SUCCESS; ++left) {
    shoal_arrivals* got = nullptr;
    {
      const scarce_memory scarce(left);
      code = shoal_exchange(1, &here, matrix.data(), &count, &at, gaps, comm, &got);
    }
    EXPECT_TRUE(code == MPI_SUCCESS ? left > 5 : class_of(code) == MPI_ERR_NO_MEM) << left;
    EXPECT_EQ(code == MPI_SUCCESS, got != nullptr);
    shoal_arrivals_free(&got);
    ASSERT_NO_FATAL_FAILURE(perform({{0, 0, 5}, {0, 0, 5000}}, comm));
  }
  EXPECT_EQ(code, MPI_SUCCESS);
  MPI_Type_free(&gaps);
}

TEST(Sparse, NonblockingOnesTellOfWrongArgumentsAtTheirEnd) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int bad = world_ranks() / 2, to = world_rank() == bad ? world_ranks() : 0, value = 7;
  const MPI_Count one = 1;
  const MPI_Aint at = 0;
  shoal_arrivals* got = nullptr;
  shoal_request open = SHOAL_REQUEST_NULL;
  ASSERT_EQ(shoal_iexchange(1, &to, &value, &one, &at, MPI_INT, comm, &got, &open), MPI_SUCCESS);
  EXPECT_EQ(class_of(shoal_start(open)), MPI_ERR_REQUEST);
  EXPECT_EQ(class_of(shoal_wait(&open)), world_rank() == bad ? MPI_ERR_RANK : MPI_ERR_OTHER);
  EXPECT_EQ(open, SHOAL_REQUEST_NULL);
  EXPECT_EQ(got, nullptr);
  perform({{world_ranks() - 1, 0, 5}}, comm);
}

// Odd ranks first wait for the all-to-all. The others, which wait for them in shoal_exchange(), move it meanwhile.
TEST(Sparse, OpenRequestsMoveMeanwhile) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  const int ranks = world_ranks(), rank = world_rank();
  std::vector<int> out(ranks, rank), in(ranks, -1);
  shoal_request open = SHOAL_REQUEST_NULL;
  ASSERT_EQ(shoal_ialltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm, &open), MPI_SUCCESS);
  if (rank % 2) shoal_wait(&open);
  perform({{0, ranks - 1, 9}}, comm);
  shoal_wait(&open);
  for (int i = 0; i < ranks; ++i) EXPECT_EQ(in[i], i);
}

}  // namespace
}  // namespace shoal
