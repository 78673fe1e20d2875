// Exchanges that one call starts and another ends: nonblocking and persistent ones.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>

#include "allocations.hpp"
#include "info.hpp"
#include "oracle.hpp"
#include "shoal/shoal.h"
#include "together.hpp"

namespace shoal {
namespace {

const char* const specs[] = {
    "tuna:radix=2", "tuna:radix=3,inflight=1",   "spread_out", "pairwise", "two_phase", "hierarchical",
    "shared",       "hierarchical:local=shared", "native"};

// Blocks whose sizes and contents depend on their sender and receiver; the contents also on the number of the exchange.
class blocks {
 public:
  blocks(MPI_Comm comm, int largest) : comm_(comm), me_(rank_in(comm)), ranks_(ranks_of(comm)) {
    for (int peer = 0; peer < ranks_; ++peer) {
      at_.push_back(peer * largest);
      sent_.push_back((me_ * 7 + peer * 3) % (largest + 1));
      received_.push_back((peer * 7 + me_ * 3) % (largest + 1));
    }
    send_.resize(static_cast<std::size_t>(ranks_ * largest));
    recv_.resize(send_.size());
  }

  void fill(int number) {
    for (int peer = 0; peer < ranks_; ++peer)
      for (int k = 0; k < sent_[peer]; ++k) send_[at_[peer] + k] = content(me_, peer, k, number);
    std::fill(recv_.begin(), recv_.end(), -1);
  }

  void check(int number) const {
    for (int peer = 0; peer < ranks_; ++peer)
      for (int k = 0; k < received_[peer]; ++k)
        ASSERT_EQ(recv_[at_[peer] + k], content(peer, me_, k, number)) << "from " << peer << ", exchange " << number;
  }

  int blocking() {
    return shoal_alltoallv(send_.data(), sent_.data(), at_.data(), MPI_INT, recv_.data(), received_.data(), at_.data(),
                           MPI_INT, comm_);
  }
  int start(shoal_request* request) {
    return shoal_ialltoallv(send_.data(), sent_.data(), at_.data(), MPI_INT, recv_.data(), received_.data(), at_.data(),
                            MPI_INT, comm_, request);
  }
  int init(MPI_Info info, shoal_request* request) {
    return shoal_alltoallv_init(send_.data(), sent_.data(), at_.data(), MPI_INT, recv_.data(), received_.data(),
                                at_.data(), MPI_INT, comm_, info, request);
  }

 private:
  static int content(int from, int to, int k, int number) { return ((from * 100 + to) * 100 + k) * 100 + number; }

  MPI_Comm comm_;
  int me_, ranks_;
  std::vector<int> sent_, received_, at_, send_, recv_;
};

MPI_Comm asking_for(const char* spec) {
  const MPI_Comm comm = duplicate_of(MPI_COMM_WORLD);
  EXPECT_EQ(shoal_comm_set_info(comm, for_exchanges(spec)), MPI_SUCCESS);
  return comm;
}

void test_until_ended(shoal_request* request) {
  for (int ended = 0; !ended;) ASSERT_EQ(shoal_test(request, &ended), MPI_SUCCESS);
}

TEST(Request, NonblockingExchangesOverlapAndEndInAnyOrder) {
  for (const char* spec : specs) {
    SCOPED_TRACE(spec);
    const scoped_comm comm(asking_for(spec));
    std::vector<std::unique_ptr<blocks>> all;
    std::vector<shoal_request> requests(5);
    for (int i = 0; i < 5; ++i) {
      all.push_back(std::make_unique<blocks>(comm, i * 40));
      all.back()->fill(i);
      ASSERT_EQ(all.back()->start(&requests[i]), MPI_SUCCESS);
    }
    blocks between(comm, 9);
    between.fill(77);
    ASSERT_EQ(between.blocking(), MPI_SUCCESS);
    between.check(77);
    // Every rank tests the requests in another order.
    for (int left = 5; left > 0;) {
      left = 0;
      for (int i = 0; i < 5; ++i) {
        int ended = 0;
        ASSERT_EQ(shoal_test(&requests[(i + world_rank()) % 5], &ended), MPI_SUCCESS);
        left += !ended;
      }
    }
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(requests[i], SHOAL_REQUEST_NULL);
      all[i]->check(i);
    }
  }
}

MPI_Datatype committed(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return type;
}

// Two types of every second of five integers: one in order, as in a column, and one in an order that no loop has.
std::vector<MPI_Datatype> some_types() {
  const int lengths[] = {1, 1, 1}, places[] = {4, 0, 2};
  std::vector<MPI_Datatype> all(2);
  MPI_Type_vector(3, 1, 2, MPI_INT, &all[0]);
  MPI_Type_indexed(3, lengths, places, MPI_INT, &all[1]);
  for (MPI_Datatype& type : all) type = committed(type);
  return all;
}

TEST(Request, TypesMayBeFreedOnceItHasBegun) {
  constexpr int room = 5;
  for (const char* spec : specs)
    for (const std::size_t which : {0, 1}) {
      SCOPED_TRACE(spec + std::string(which ? ", indexed" : ", strided"));
      const scoped_comm comm(asking_for(spec));
      const int ranks = world_ranks(), rank = world_rank();
      std::vector<MPI_Datatype> types = some_types();
      std::vector<int> send(ranks * room), recv(send.size(), -1), ones(ranks, 1), at(ranks);
      const MPI_Datatype type = types[which];
      MPI_Aint lower = 0, extent = 0;
      MPI_Type_get_extent(type, &lower, &extent);
      ASSERT_EQ(extent, static_cast<MPI_Aint>(room * sizeof(int)));
      for (int i = 0; i < ranks * room; ++i) send[i] = rank * 1000 + i / room * 10 + i % room;
      for (int i = 0; i < ranks; ++i) at[i] = i;
      shoal_request request;
      ASSERT_EQ(shoal_ialltoallv(send.data(), ones.data(), at.data(), type, recv.data(), ones.data(), at.data(), type,
                                 comm, &request),
                MPI_SUCCESS);
      for (MPI_Datatype& one : types) MPI_Type_free(&one);
      std::vector<MPI_Datatype> later = some_types();  // perhaps under the same handles
      ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
      for (int i = 0; i < ranks * room; ++i)
        ASSERT_EQ(recv[i], i % room % 2 ? -1 : i / room * 1000 + rank * 10 + i % room) << i;
      for (MPI_Datatype& one : later) MPI_Type_free(&one);
    }
}

// A block of integers for each rank. Every second block has its integers in another order. The types are freed once the
// request is there.
class typed_blocks {
 public:
  typed_blocks(MPI_Comm comm, MPI_Datatype of_empty) : comm_(comm), of_empty_(of_empty) {
    for (int peer = 0; peer < ranks_; ++peer) {
      at_.push_back(peer * room * static_cast<int>(sizeof(int)));
      sent_.push_back(which(rank_, peer));
      received_.push_back(which(peer, rank_));
    }
    counts_[(rank_ + 1) % ranks_] = 0;
    expected_[(rank_ + ranks_ - 1) % ranks_] = 0;
  }

  // Calls `make` with the arguments of MPI_Alltoallw.
  template <typename Make>
  int make(Make make) {
    std::vector<MPI_Datatype> kinds = some_types();
    for (int peer = 0; peer < ranks_; ++peer) {
      out_.push_back(counts_[peer] ? kinds[sent_[peer]] : of_empty_);
      in_.push_back(expected_[peer] ? kinds[received_[peer]] : of_empty_);
    }
    const int code = make(send_.data(), counts_.data(), at_.data(), out_.data(), recv_.data(), expected_.data(),
                          at_.data(), in_.data(), comm_);
    for (MPI_Datatype& one : kinds) MPI_Type_free(&one);
    for (MPI_Datatype& one : kinds = some_types()) MPI_Type_free(&one);  // perhaps under the same handles
    return code;
  }

  void fill(int round) {
    for (int i = 0; i < ranks_ * room; ++i) send_[i] = content(rank_, i / room, i % room, round);
    std::fill(recv_.begin(), recv_.end(), -1);
  }
  void check(int round) const {
    for (int i = 0; i < ranks_ * room; ++i) {
      const bool is_received = i % room % 2 == 0 && expected_[i / room];
      ASSERT_EQ(recv_[i], is_received ? content(i / room, rank_, i % room, round) : -1) << i;
    }
  }

 private:
  static constexpr int room = 5;
  static std::size_t which(int from, int to) { return (from + to) % 2; }
  static int content(int from, int to, int k, int round) { return ((round * 10 + from) * 10 + to) * 10 + k; }

  MPI_Comm comm_;
  MPI_Datatype of_empty_;
  std::vector<MPI_Datatype> out_, in_;  // stay until the end, as MPI wants
  int ranks_ = world_ranks(), rank_ = world_rank();
  std::vector<int> send_ = std::vector<int>(ranks_ * room), recv_ = send_, counts_ = std::vector<int>(ranks_, 1),
                   expected_ = counts_, at_;
  std::vector<std::size_t> sent_, received_;
};

TEST(Request, EveryBlockMayHaveItsOwnType) {
  for (const char* spec : specs) {
    SCOPED_TRACE(spec);
    const scoped_comm comm(asking_for(spec));
    const MPI_Datatype of_empty =
        std::string(spec) == "native" ? MPI_INT : MPI_DATATYPE_NULL;  // Open MPI refuses MPI_DATATYPE_NULL
    typed_blocks once(comm, of_empty), repeated(comm, of_empty);
    shoal_request started, made;
    once.fill(7);
    ASSERT_EQ(once.make([&](auto... all) { return shoal_ialltoallw(all..., &started); }), MPI_SUCCESS);
    ASSERT_EQ(repeated.make([&](auto... all) { return shoal_alltoallw_init(all..., MPI_INFO_NULL, &made); }),
              MPI_SUCCESS);
    for (int round = 0; round < 3; ++round) {
      repeated.fill(round);
      ASSERT_EQ(shoal_start(made), MPI_SUCCESS);
      test_until_ended(&made);
      repeated.check(round);
    }
    ASSERT_EQ(shoal_wait(&started), MPI_SUCCESS);
    once.check(7);
    ASSERT_EQ(shoal_request_free(&made), MPI_SUCCESS);
  }
}

// Also if the MPI's own begins a new exchange in each round, as it does in place.
TEST(Request, TypesMayBeFreedOnceAPersistentOneIsMade) {
  constexpr int room = 5;
  for (const char* spec : specs)
    for (const std::size_t which : {0, 1}) {
      SCOPED_TRACE(spec + std::string(which ? ", indexed" : ", strided"));
      const scoped_comm comm(asking_for(spec));
      const int ranks = world_ranks(), rank = world_rank();
      std::vector<MPI_Datatype> types = some_types();
      std::vector<int> both(ranks * room), ones(ranks, 1), at(ranks);
      for (int i = 0; i < ranks; ++i) at[i] = i;
      shoal_request request;
      ASSERT_EQ(shoal_alltoallv_init(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, both.data(), ones.data(),
                                     at.data(), types[which], comm, MPI_INFO_NULL, &request),
                MPI_SUCCESS);
      for (MPI_Datatype& one : types) MPI_Type_free(&one);
      for (MPI_Datatype& one : types = some_types()) MPI_Type_free(&one);  // perhaps under the same handles
      for (int round = 0; round < 2; ++round) {
        const auto element = [&](int from, int to, int k) { return round * 100000 + from * 1000 + to * 10 + k; };
        for (int i = 0; i < ranks * room; ++i) both[i] = element(rank, i / room, i % room);
        ASSERT_EQ(shoal_start(request), MPI_SUCCESS);
        ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
        for (int i = 0; i < ranks * room; ++i) {
          const int peer = i / room, k = i % room;
          ASSERT_EQ(both[i], k % 2 ? element(rank, peer, k) : element(peer, rank, k)) << i;
        }
      }
      EXPECT_EQ(shoal_request_free(&request), MPI_SUCCESS);
    }
}

// Rank 0 starts its exchange before any other rank comes.
void start_after_first(blocks& b, MPI_Comm comm, shoal_request* request) {
  int begun = 0;
  if (rank_in(comm) > 0) MPI_Recv(&begun, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
  ASSERT_EQ(b.start(request), MPI_SUCCESS);
  for (int peer = 1; rank_in(comm) == 0 && peer < ranks_of(comm); ++peer) MPI_Send(&begun, 1, MPI_INT, peer, 0, comm);
}

// After this number of blocking calls, for which Shoal may have set up some of what it needs, but no communicator.
TEST(Request, NonblockingWaitsForNobody) {
  for (const int calls : {0, 1, 1000}) {
    const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
    blocks b(comm, 5);
    for (int i = 0; i < calls; ++i) ASSERT_EQ(b.blocking(), MPI_SUCCESS);
    b.fill(1);
    shoal_request request;
    start_after_first(b, comm, &request);
    ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
    b.check(1);
  }
}

TEST(Request, MoreThanEverAreOpenAtOnceOneAfterAnother) {
  const scoped_comm comm(asking_for("tuna:radix=2"));
  blocks b(comm, 3);
  for (int i = 0; i < 300; ++i) {
    b.fill(i);
    shoal_request request;
    ASSERT_EQ(b.start(&request), MPI_SUCCESS);
    ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
    b.check(i);
  }
}

TEST(Request, PersistentExchangesRepeatWithNewContents) {
  for (const char* spec : specs) {
    SCOPED_TRACE(spec);
    const scoped_comm comm(asking_for(spec));
    blocks first(comm, 3), second(comm, 2000), between(comm, 9);
    shoal_request one, two;
    ASSERT_EQ(first.init(MPI_INFO_NULL, &one), MPI_SUCCESS);
    ASSERT_EQ(second.init(MPI_INFO_NULL, &two), MPI_SUCCESS);
    for (int i = 0; i < 4; ++i) {
      first.fill(i);
      second.fill(i + 50);
      ASSERT_EQ(shoal_start(one), MPI_SUCCESS);
      ASSERT_EQ(shoal_start(two), MPI_SUCCESS);
      between.fill(i + 99);
      ASSERT_EQ(between.blocking(), MPI_SUCCESS);
      between.check(i + 99);
      test_until_ended(i % 2 ? &one : &two);
      ASSERT_EQ(shoal_wait(i % 2 ? &two : &one), MPI_SUCCESS);
      first.check(i);
      second.check(i + 50);
    }
    EXPECT_EQ(shoal_request_free(&one), MPI_SUCCESS);
    EXPECT_EQ(shoal_request_free(&two), MPI_SUCCESS);
    EXPECT_EQ(one, SHOAL_REQUEST_NULL);
  }
}

// Even ranks wait in the order in which they started, odd ranks in reverse order, with the blocking exchange last.
TEST(Request, RanksWaitInAnyOrder) {
  for (const char* spec : specs) {
    SCOPED_TRACE(spec);
    const scoped_comm comm(asking_for(spec));
    blocks first(comm, 30), second(comm, 2000), third(comm, 5), between(comm, 9);
    shoal_request one, two;
    ASSERT_EQ(first.init(MPI_INFO_NULL, &one), MPI_SUCCESS);
    ASSERT_EQ(second.init(MPI_INFO_NULL, &two), MPI_SUCCESS);
    for (int i = 0; i < 4; ++i) {
      for (blocks* all : {&first, &second, &third, &between}) all->fill(i);
      shoal_request three;
      ASSERT_EQ(shoal_start(one), MPI_SUCCESS);
      ASSERT_EQ(shoal_start(two), MPI_SUCCESS);
      ASSERT_EQ(third.start(&three), MPI_SUCCESS);
      const bool even = world_rank() % 2 == 0;
      if (even) {
        ASSERT_EQ(between.blocking(), MPI_SUCCESS);
      }
      for (shoal_request* next : even ? std::array{&one, &two, &three} : std::array{&three, &two, &one})
        ASSERT_EQ(shoal_wait(next), MPI_SUCCESS);
      if (!even) {
        ASSERT_EQ(between.blocking(), MPI_SUCCESS);
      }
      for (const blocks* all : {&first, &second, &third, &between}) all->check(i);
    }
    ASSERT_EQ(shoal_request_free(&one), MPI_SUCCESS);
    ASSERT_EQ(shoal_request_free(&two), MPI_SUCCESS);
  }
}

TEST(Request, PersistentIterationsAllocateNothingAndAgreeOnNothing) {
  for (const char* spec : {"tuna:radix=2", "two_phase", "spread_out", "shared", "hierarchical:local=shared"})
    for (const int largest : {3, 30000}) {
      SCOPED_TRACE(std::string(spec) + ", blocks of up to " + std::to_string(largest));
      const scoped_comm comm(asking_for(spec));
      blocks b(comm, largest);
      shoal_request request;
      ASSERT_EQ(b.init(MPI_INFO_NULL, &request), MPI_SUCCESS);
      ASSERT_EQ(shoal_start(request), MPI_SUCCESS);
      ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
      const std::int64_t memory = allocations(), agreed = agreements_on(comm);
      for (int i = 0; i < 20; ++i) {
        ASSERT_EQ(shoal_start(request), MPI_SUCCESS);
        ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
      }
      EXPECT_EQ(allocations(), memory);
      EXPECT_EQ(agreements_on(comm), agreed);
      EXPECT_EQ(shoal_request_free(&request), MPI_SUCCESS);
    }
}

// When the request is made, the ranks agree on the sizes and tell them to each other, for a program made for these
// sizes. Later they agree on nothing.
TEST(Request, PersistentOnATreeOfSwitchesAgreesOnlyWhenItIsMade) {
  if (!std::getenv("SHOAL_TOPOLOGY")) GTEST_SKIP() << "no topology";
  const auto agreed_on = [](const char* spec, int largest) {
    SCOPED_TRACE(std::string(spec) + ", blocks of up to " + std::to_string(largest));
    const scoped_comm comm(asking_for(spec));
    blocks b(comm, largest);
    shoal_request request;
    const std::int64_t before = agreements_on(comm);
    EXPECT_EQ(b.init(MPI_INFO_NULL, &request), MPI_SUCCESS);
    const std::int64_t made = agreements_on(comm);
    for (int i = 0; i < 4; ++i) {
      b.fill(i);
      EXPECT_EQ(shoal_start(request), MPI_SUCCESS);
      EXPECT_EQ(shoal_wait(&request), MPI_SUCCESS);
      b.check(i);
    }
    EXPECT_EQ(agreements_on(comm), made);
    EXPECT_EQ(shoal_request_free(&request), MPI_SUCCESS);
    return made - before;
  };
  for (const int largest : {3, 30000}) {
    const std::int64_t as_equal_blocks = agreed_on("tree:order=phases", largest);
    EXPECT_EQ(agreed_on("tree", largest), as_equal_blocks);
    EXPECT_EQ(agreed_on("tree:window=2,parts=3", largest), as_equal_blocks);
  }
}

// Rank 0 first makes a blocking call that the MPI's own serves. The others first wait for the request.
TEST(Request, MovesWhileARankWaitsInTheMpisOwnCollective) {
  const scoped_comm comm(asking_for("tuna:radix=2")), known(asking_for("native"));
  const scoped_comm fresh(duplicate_of(MPI_COMM_WORLD));
  blocks moving(comm, 3000);
  shoal_request request;
  ASSERT_EQ(moving.init(MPI_INFO_NULL, &request), MPI_SUCCESS);
  for (const MPI_Comm other : {MPI_Comm{comm}, MPI_Comm{known}, MPI_Comm{fresh}})
    for (const bool uniform : {false, true}) {
      moving.fill(1);
      const info native = for_exchanges("native");
      std::vector<int> send(world_ranks(), world_rank()), recv(world_ranks()), ones(world_ranks(), 1),
          at(world_ranks());
      for (int i = 0; i < world_ranks(); ++i) at[i] = i;
      const auto blocking = [&] {
        return uniform ? shoal_alltoall_with(send.data(), 1, MPI_INT, recv.data(), 1, MPI_INT, other, native)
                       : shoal_alltoallv_with(send.data(), ones.data(), at.data(), MPI_INT, recv.data(), ones.data(),
                                              at.data(), MPI_INT, other, native);
      };
      ASSERT_EQ(shoal_start(request), MPI_SUCCESS);
      if (world_rank() == 0) {
        ASSERT_EQ(blocking(), MPI_SUCCESS);
      }
      ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
      if (world_rank() != 0) {
        ASSERT_EQ(blocking(), MPI_SUCCESS);
      }
      moving.check(1);
      EXPECT_EQ(recv, at);
    }
  EXPECT_EQ(shoal_request_free(&request), MPI_SUCCESS);
}

TEST(Request, MovesWhileARankWaitsInTheMpisOwnAmongNeighbors) {
  const scoped_comm comm(asking_for("tuna:radix=2"));
  const int self = world_rank(), next = (self + 1) % world_ranks(), one = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &self, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
  blocks moving(comm, 3000);
  shoal_request request;
  ASSERT_EQ(moving.init(MPI_INFO_NULL, &request), MPI_SUCCESS);
  for (int i = 0; i < 3; ++i) {  // in the first round the ranks agree
    moving.fill(i);
    int sent = world_rank(), received = -1;
    const auto blocking = [&] {
      ASSERT_EQ(shoal_neighbor_alltoall(&sent, 1, MPI_INT, &received, 1, MPI_INT, ring), MPI_SUCCESS);
    };
    ASSERT_EQ(shoal_start(request), MPI_SUCCESS);
    if (world_rank() == 0) blocking();
    ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
    if (world_rank() != 0) blocking();
    moving.check(i);
    EXPECT_EQ((received + 1) % world_ranks(), world_rank());
  }
  EXPECT_EQ(shoal_request_free(&request), MPI_SUCCESS);
  MPI_Comm_free(&ring);
}

// As above, but rank 0 first waits for a request of the MPI's own, on another communicator.
TEST(Request, MovesWhileARankWaitsForAnotherRequest) {
  const scoped_comm comm(asking_for("tuna:radix=2")), other(asking_for("native"));
  blocks moving(comm, 3000), native(other, 10);
  shoal_request one, two;
  moving.fill(1);
  native.fill(2);
  ASSERT_EQ(moving.start(&one), MPI_SUCCESS);
  if (world_rank() == 0) {
    ASSERT_EQ(native.start(&two), MPI_SUCCESS);
    ASSERT_EQ(shoal_wait(&two), MPI_SUCCESS);
  }
  ASSERT_EQ(shoal_wait(&one), MPI_SUCCESS);
  if (world_rank() != 0) {
    ASSERT_EQ(native.start(&two), MPI_SUCCESS);
    ASSERT_EQ(shoal_wait(&two), MPI_SUCCESS);
  }
  moving.check(1);
  native.check(2);
}

// Rank 0 keeps a request open that the others have long completed. Any number of others may come and go.
TEST(Request, OneMayStayOpenWhileManyOthersComeAndGo) {
  const scoped_comm comm(asking_for("tuna:radix=2"));
  blocks old(comm, 7), next(comm, 3);
  old.fill(5);
  shoal_request open, request;
  ASSERT_EQ(old.start(&open), MPI_SUCCESS);
  if (world_rank() != 0) {
    ASSERT_EQ(shoal_wait(&open), MPI_SUCCESS);
  }
  for (int i = 0; i < 400; ++i) {
    next.fill(i);
    ASSERT_EQ(next.start(&request), MPI_SUCCESS);
    ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
    next.check(i);
  }
  ASSERT_EQ(shoal_wait(&open), MPI_SUCCESS);
  old.check(5);
}

// Ranks free their requests at different times.
TEST(Request, PersistentOnesAreMadeAndFreedWithoutLimit) {
  const scoped_comm comm(asking_for("spread_out"));
  blocks b(comm, 3);
  std::vector<shoal_request> open;
  constexpr int on_every_rank = 200;
  const auto kept = static_cast<std::size_t>(on_every_rank + world_rank() * 3);
  for (int i = 0; i < 300; ++i) {
    shoal_request request;
    ASSERT_EQ(b.init(MPI_INFO_NULL, &request), MPI_SUCCESS);
    b.fill(i % 50);
    ASSERT_EQ(shoal_start(request), MPI_SUCCESS);
    ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
    b.check(i % 50);
    open.push_back(request);
    if (open.size() <= kept) continue;
    EXPECT_EQ(shoal_request_free(&open.front()), MPI_SUCCESS);
    open.erase(open.begin());
  }
  for (int i = on_every_rank; i > 0; --i) {  // the oldest first
    shoal_request& request = open.at(open.size() - i);
    b.fill(i % 50);
    ASSERT_EQ(shoal_start(request), MPI_SUCCESS);
    ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
    b.check(i % 50);
  }
  for (shoal_request& request : open) EXPECT_EQ(shoal_request_free(&request), MPI_SUCCESS);
}

TEST(Request, KeepsTheAlgorithmItWasMadeWith) {
  const scoped_comm comm(asking_for("tuna:radix=2"));
  blocks b(comm, 12);
  shoal_request request;
  ASSERT_EQ(b.init(MPI_INFO_NULL, &request), MPI_SUCCESS);
  for (const char* later : {"spread_out", "native", "auto", "shared"}) {
    ASSERT_EQ(shoal_comm_set_info(comm, for_exchanges(later)), MPI_SUCCESS);
    blocks between(comm, 5);
    between.fill(3);
    ASSERT_EQ(between.blocking(), MPI_SUCCESS);
    between.check(3);
    for (int i = 0; i < 2; ++i) {
      b.fill(i);
      ASSERT_EQ(shoal_start(request), MPI_SUCCESS);
      ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
      b.check(i);
      EXPECT_EQ(explained(comm), "tuna:radix=2: asked for") << later;
    }
  }
  EXPECT_EQ(shoal_request_free(&request), MPI_SUCCESS);
}

TEST(Request, PersistentInPlace) {
  const scoped_comm comm(asking_for("tuna:radix=2"));
  const int ranks = world_ranks(), me = world_rank();
  std::vector<int> values(ranks);
  shoal_request request;
  ASSERT_EQ(
      shoal_alltoall_init(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values.data(), 1, MPI_INT, comm, MPI_INFO_NULL, &request),
      MPI_SUCCESS);
  for (int i = 0; i < 3; ++i) {
    for (int peer = 0; peer < ranks; ++peer) values[peer] = (me * 100 + peer) * 10 + i;
    ASSERT_EQ(shoal_start(request), MPI_SUCCESS);
    ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
    for (int peer = 0; peer < ranks; ++peer) EXPECT_EQ(values[peer], (peer * 100 + me) * 10 + i);
  }
  EXPECT_EQ(shoal_request_free(&request), MPI_SUCCESS);
}

TEST(Request, OutlivesItsCommunicator) {
  MPI_Comm comm = asking_for("tuna:radix=2");
  blocks b(comm, 20);
  shoal_request request;
  ASSERT_EQ(b.init(MPI_INFO_NULL, &request), MPI_SUCCESS);
  MPI_Comm_free(&comm);
  for (int i = 0; i < 2; ++i) {
    b.fill(i);
    ASSERT_EQ(shoal_start(request), MPI_SUCCESS);
    ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
    b.check(i);
  }
  EXPECT_EQ(shoal_request_free(&request), MPI_SUCCESS);
}

TEST(Request, ChoosesByItself) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  blocks b(comm, 6);
  shoal_request request;
  ASSERT_EQ(b.init(MPI_INFO_NULL, &request), MPI_SUCCESS);
  b.fill(3);
  ASSERT_EQ(shoal_start(request), MPI_SUCCESS);
  ASSERT_EQ(shoal_wait(&request), MPI_SUCCESS);
  b.check(3);
  EXPECT_EQ(shoal_request_free(&request), MPI_SUCCESS);
}

TEST(Request, WrongUseIsAnError) {
  const scoped_comm comm(asking_for("pairwise"));
  blocks b(comm, 6);
  b.fill(0);
  shoal_request none = SHOAL_REQUEST_NULL, request;
  int flag = 0;
  EXPECT_EQ(shoal_wait(&none), MPI_SUCCESS);
  EXPECT_EQ(shoal_test(&none, &flag), MPI_SUCCESS);
  EXPECT_TRUE(flag);
  EXPECT_NE(shoal_start(none), MPI_SUCCESS);
  EXPECT_NE(shoal_request_free(&none), MPI_SUCCESS);
  ASSERT_EQ(b.init(MPI_INFO_NULL, &request), MPI_SUCCESS);
  EXPECT_EQ(shoal_wait(&request), MPI_SUCCESS);  // not under way
  ASSERT_EQ(shoal_start(request), MPI_SUCCESS);
  EXPECT_NE(shoal_start(request), MPI_SUCCESS);
  EXPECT_NE(shoal_request_free(&request), MPI_SUCCESS);
  EXPECT_EQ(shoal_wait(&request), MPI_SUCCESS);
  b.check(0);
  EXPECT_EQ(shoal_request_free(&request), MPI_SUCCESS);
}

// Expects the error of a call that has no place for its request.
template <typename Call>
void expect_wrong(Call call) {
  const int code = call();
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  EXPECT_EQ(error_class, MPI_ERR_ARG);
}

TEST(Request, NeedsAPlace) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  blocks b(comm, 6);
  int one = 0, flag = 0;
  MPI_Count wide = 0;
  MPI_Aint at = 0;
  shoal_arrivals* came = nullptr;
  shoal_request request = SHOAL_REQUEST_NULL;
  expect_wrong([&] { return b.start(nullptr); });
  expect_wrong([&] { return b.init(MPI_INFO_NULL, nullptr); });
  expect_wrong([&] { return shoal_ialltoall(&one, 0, MPI_INT, &one, 0, MPI_INT, comm, nullptr); });
  expect_wrong([&] { return shoal_iexchange(0, &one, &one, &wide, &at, MPI_INT, comm, &came, nullptr); });
  expect_wrong([&] { return shoal_test(nullptr, &flag); });
  expect_wrong([&] { return shoal_test(&request, nullptr); });
  expect_wrong([&] { return shoal_wait(nullptr); });
  expect_wrong([&] { return shoal_request_free(nullptr); });
}

}  // namespace
}  // namespace shoal
