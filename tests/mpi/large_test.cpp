// Addresses, counts and messages that need more than 31 bits, with little memory.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <string>

#include "algorithms/algorithm.hpp"
#include "execute/exchange.hpp"
#include "transport/mpi_transport.hpp"
#include "transport/waiting.hpp"
#include "info.hpp"
#include "oracle.hpp"
#include "shoal/shoal.h"
#include "together.hpp"

namespace shoal {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

// Address space that takes memory only where something is written.
class reserved {
 public:
  explicit reserved(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    void* const at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    data_ = at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
  }
  ~reserved() {
    if (data_) munmap(data_, bytes_);
  }
  reserved(const reserved&) = delete;
  reserved& operator=(const reserved&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::size_t bytes_;
  std::byte* data_;
};

// Blocks of a few bytes, far from each other on both sides of a base: block i begins at step * (i - ranks / 2).
class far_blocks {
 public:
  static constexpr int block = 24;

  far_blocks(int ranks, std::int64_t step)
      : step_(step), middle_(step * (ranks / 2) + 4096), memory_(step * ranks + 2 * 4096) {}
  std::byte* base() const { return memory_.data() + middle_; }
  bool reserved() const { return memory_.data(); }
  void fill(int i, int ranks, int from, int to) {
    for (int k = 0; k < block; ++k) at(i, ranks)[k] = content(from, to, k);
  }
  void expect(int i, int ranks, int from, int to) const {
    for (int k = 0; k < block; ++k) ASSERT_EQ(at(i, ranks)[k], content(from, to, k)) << "block " << i << ", byte " << k;
    EXPECT_EQ(at(i, ranks)[-1], std::byte{}) << "before block " << i;
    EXPECT_EQ(at(i, ranks)[block], std::byte{}) << "after block " << i;
  }

 private:
  std::byte* at(int i, int ranks) const { return base() + step_ * (i - ranks / 2); }

  std::int64_t step_, middle_;
  class reserved memory_;
};

// Runs `call` on far blocks and checks what arrives.
template <typename Call>
void exchange_far_blocks(std::int64_t step, bool in_place, Call call) {
  const int ranks = world_ranks(), rank = world_rank();
  far_blocks send(ranks, step), recv(ranks, step);
  ASSERT_TRUE(send.reserved() && recv.reserved());
  for (int i = 0; i < ranks; ++i) (in_place ? recv : send).fill(i, ranks, rank, i);
  ASSERT_EQ(call(in_place ? MPI_IN_PLACE : send.base(), recv.base()), MPI_SUCCESS);
  for (int i = 0; i < ranks; ++i) recv.expect(i, ranks, i, rank);
}

// Where each block begins, in units of `unit` bytes.
template <typename Integer>
std::vector<Integer> places(std::int64_t step, std::int64_t unit) {
  std::vector<Integer> all;
  for (int i = 0; i < world_ranks(); ++i) all.push_back(static_cast<Integer>(step * (i - world_ranks() / 2) / unit));
  return all;
}

TEST(Large, IntDisplacementsTimesExtentsReachBeyondTwoGiB) {
  constexpr std::int64_t extent = 1 << 20, step = 3 * gib;
  MPI_Datatype sparse, block;
  MPI_Type_contiguous(far_blocks::block, MPI_BYTE, &block);
  MPI_Type_create_resized(block, 0, extent, &sparse);
  MPI_Type_commit(&sparse);
  const std::vector<int> ones(world_ranks(), 1), at = places<int>(step, extent);
  for (const char* spec : {"spread_out", "tuna:radix=2", "pairwise"})
    for (bool in_place : {false, true}) {
      const info how{{"shoal_alltoallv", spec}};
      exchange_far_blocks(step, in_place, [&](const void* send, void* recv) {
        return shoal_alltoallv_with(send, ones.data(), at.data(), sparse, recv, ones.data(), at.data(), sparse,
                                    MPI_COMM_WORLD, how);
      });
    }
  MPI_Type_free(&sparse);
  MPI_Type_free(&block);
}

TEST(Large, WideDisplacementsReachBeyondTwoGiB) {
  constexpr std::int64_t step = 3 * gib + 17;
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  const std::vector<MPI_Count> counts(world_ranks(), far_blocks::block);
  const std::vector<MPI_Aint> at = places<MPI_Aint>(step, 1);
  for (const char* spec : {"spread_out", "tuna:radix=2"})
    for (bool in_place : {false, true}) {
      ASSERT_EQ(shoal_comm_set_info(comm, info{{"shoal_alltoallv", spec}}), MPI_SUCCESS);
      exchange_far_blocks(step, in_place, [&](const void* send, void* recv) {
        return shoal_alltoallv_c(send, counts.data(), at.data(), MPI_BYTE, recv, counts.data(), at.data(), MPI_BYTE,
                                 comm);
      });
    }
}

std::int64_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  for (std::int64_t kib; file >> name;)
    if (name == "MemAvailable:" && file >> kib) return kib * 1024;
  return 0;
}

// One block of more than 2^31 bytes goes from rank 0 to rank 1. The sender's pages need no memory where they are zero.
TEST(Large, CountsBeyondTwoGiBTravel) {
  if (world_ranks() != 2) GTEST_SKIP() << "runs on 2 ranks";
  if (on_any_rank(available_bytes() < 6 * gib)) GTEST_SKIP() << "needs 6 GiB of memory";
  constexpr std::int64_t bytes = 2 * gib + 5000;
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  ASSERT_EQ(shoal_comm_set_info(comm, info{{"shoal_alltoallv", "spread_out"}}), MPI_SUCCESS);
  const bool sends = world_rank() == 0;
  const reserved memory(bytes + 1);
  const std::int64_t marks[] = {0, gib - 1, gib, 2 * gib - 1, 2 * gib, bytes - 1};
  for (std::int64_t at : marks)
    if (sends) memory.data()[at] = content(0, 1, at);
  const MPI_Count sent[] = {0, sends ? bytes : 0}, received[] = {sends ? 0 : bytes, 0};
  const MPI_Aint at[] = {0, 0};
  std::byte none;
  ASSERT_EQ(shoal_alltoallv_c(sends ? memory.data() : &none, sent, at, MPI_BYTE, sends ? &none : memory.data(),
                              received, at, MPI_BYTE, comm),
            MPI_SUCCESS);
  for (std::int64_t mark : marks) EXPECT_EQ(memory.data()[mark], content(0, 1, mark)) << "byte " << mark;
  EXPECT_EQ(memory.data()[bytes], std::byte{});
}

// ---- long messages travel in pieces: over MPI from 2^30 bytes on, in these tests from 1000 bytes on ----------------

struct bytes_of_ranks {
  std::vector<std::vector<int>> sizes;  // [origin][destination]
  std::vector<std::byte> send, recv;
  std::vector<int> sent, sent_at, received, received_at;

  bytes_of_ranks(std::mt19937& random, int ranks, int rank) {
    for (int o = 0; o < ranks; ++o) {
      sizes.emplace_back();
      for (int d = 0; d < ranks; ++d)
        sizes[o].push_back(static_cast<int>(random() % 4 == 0 ? random() % 4 * 1000 : random() % 5000));
    }
    for (int i = 0; i < ranks; ++i) {
      sent.push_back(sizes[rank][i]);
      received.push_back(sizes[i][rank]);
      sent_at.push_back(static_cast<int>(send.size()));
      received_at.push_back(static_cast<int>(recv.size()));
      for (int k = 0; k < sent[i]; ++k) send.push_back(content(rank, i, k));
      recv.resize(recv.size() + static_cast<std::size_t>(received[i]));
    }
  }

  std::vector<std::byte> expected(int rank) const {
    std::vector<std::byte> all;
    for (std::size_t o = 0; o < received.size(); ++o)
      for (int k = 0; k < received[o]; ++k) all.push_back(content(static_cast<int>(o), rank, k));
    return all;
  }
};

void exchange_long_messages(transport& over, const std::string& spec, std::mt19937& random) {
  bytes_of_ranks b(random, over.ranks(), over.rank());
  problem at;
  at.ranks = over.ranks();
  const linked_schedule steps(generate(parse_selection(spec), at, over.rank()));
  memory_pool pool;
  exchange one(pool, over, 200);
  payload what;
  what.send.base = b.send.data();
  what.recv.base = b.recv.data();
  what.send.counts = number_array(b.sent.data());
  what.send.displacements = number_array(b.sent_at.data());
  what.recv.counts = number_array(b.received.data());
  what.recv.displacements = number_array(b.received_at.data());
  waiting wait(wait_mode::yield);
  one.start(steps, what);
  for (bool moved = true; !one.done(); moved ? wait.progressed() : wait.idle()) one.progress(moved);
  EXPECT_EQ(b.recv, b.expected(over.rank())) << spec;
  EXPECT_EQ(pool.in_use(), 0u) << spec;
}

TEST(Large, LongMessagesArriveWhole) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  mpi_transport over(comm, 1000);
  std::mt19937 random(1);
  for (int round = 0; round < 10; ++round)
    for (const char* spec : {"spread_out", "pairwise", "tuna:radix=2", "tuna:radix=3,inflight=1", "two_phase"})
      exchange_long_messages(over, spec, random);
}

// If a rank sends less than is expected, nothing stays posted, and nobody waits.
TEST(Large, ShorterMessagesThanExpectedEnd) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  mpi_transport over(comm, 1000);
  std::vector<std::byte> place(5500);
  waiting wait(wait_mode::yield);
  for (const std::size_t sent : {0, 1, 1000, 2000, 5000, 5499}) {
    std::vector<ended_transfer> ended;
    const std::vector<std::byte> data(sent, std::byte{1});
    over.receive(over.rank(), 1, place.data(), place.size(), 0);
    over.send(over.rank(), 1, data.data(), sent, 1);
    for (std::size_t before = 0; ended.size() < 2; before == ended.size() ? wait.idle() : wait.progressed()) {
      before = ended.size();
      over.poll(ended);
    }
    EXPECT_EQ(ended[0].ticket == 0 ? ended[0].bytes : ended[1].bytes, sent);
  }
}

}  // namespace
}  // namespace shoal
