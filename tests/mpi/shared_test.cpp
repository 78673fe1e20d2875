// Exchanges through the memory of a node, and without it if the ranks cannot get it.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "calls/process.hpp"
#include "info.hpp"
#include "oracle.hpp"
#include "shoal/shoal.h"
#include "together.hpp"

namespace shoal {
namespace {

// The number of pieces of memory that this process shares through Shoal.
int shared_parts() {
  std::ifstream maps("/proc/self/maps");
  int parts = 0;
  for (std::string line; std::getline(maps, line);) parts += line.find("memfd:shoal") != std::string::npos;
  return parts;
}

job job_of(MPI_Comm comm, const char* spec, std::int64_t bytes) {
  job j;
  j.comm = comm;
  j.spec = spec;
  j.scalars = equal_blocks(ranks_of(comm), bytes);
  return j;
}

TEST(Shared, MemoryIsMadeOnFirstUseAndGoesWithTheCommunicator) {
  const int before = shared_parts();
  {
    const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
    perform(job_of(comm, "spread_out", 24));
    EXPECT_EQ(shared_parts(), before);
    for (const char* spec : {"shared", "hierarchical:local=shared", "shared"}) perform(job_of(comm, spec, 24));
    EXPECT_EQ(shared_parts(), before + (world_ranks() > 1));
  }
  EXPECT_EQ(shared_parts(), before);
}

// So nothing is left behind if a rank is killed.
TEST(Shared, MemoryHasNoNameInAnyFileSystem) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  perform(job_of(comm, "shared", 24));
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    EXPECT_EQ(entry.path().filename().string().find("shoal"), std::string::npos);
}

// Sets a limit of this process for the time of a test.
class limit {
 public:
  limit(__rlimit_resource which, rlim_t value) : which_(which) {
    getrlimit(which, &before_);
    const rlimit now{value, before_.rlim_max};
    setrlimit(which, &now);
  }
  ~limit() { setrlimit(which_, &before_); }
  limit(const limit&) = delete;
  limit& operator=(const limit&) = delete;

 private:
  __rlimit_resource which_;
  rlimit before_{};
};

// All ranks send messages if one cannot share memory. `here`: on this rank the limit `which` prevents it.
void expect_messages_where_one_cannot_share(bool here, __rlimit_resource which) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  perform(job_of(comm, "spread_out", 24));
  const int before = shared_parts();
  {
    std::optional<limit> hindered;
    if (here) hindered.emplace(which, which == RLIMIT_NOFILE ? 3 : 4096);
    EXPECT_EQ(shoal_comm_set_info(comm, info{{"shoal_alltoallv", "shared"}}), MPI_SUCCESS);
    const std::vector<int> none(world_ranks(), 0);
    std::vector<int> got(world_ranks());
    EXPECT_EQ(shoal_alltoallv(none.data(), none.data(), none.data(), MPI_BYTE, got.data(), none.data(), none.data(),
                              MPI_BYTE, comm),
              MPI_SUCCESS);
  }
  meet();
  for (const char* spec : {"shared", "hierarchical:local=shared"}) perform(job_of(comm, spec, 2400));
  EXPECT_EQ(shared_parts(), before);
}

TEST(Shared, AllSendMessagesWhenOneRankCannotMakeOrMapTheMemory) {
  if (world_ranks() == 1) GTEST_SKIP() << "one rank shares nothing";
  expect_messages_where_one_cannot_share(world_rank() == 0, RLIMIT_FSIZE);
  expect_messages_where_one_cannot_share(world_rank() == world_ranks() - 1, RLIMIT_NOFILE);
}

// Makes and runs a persistent exchange of blocks of `block` integers by `spec`, and returns how many pieces of memory
// it shares. `hindered`: this rank can open no files while it makes the exchange.
int parts_of_a_persistent_exchange(const char* spec, int block, bool hindered) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  EXPECT_EQ(shoal_comm_set_info(comm, for_exchanges(spec)), MPI_SUCCESS);
  const int ranks = world_ranks(), me = world_rank();
  std::vector<int> send(static_cast<std::size_t>(ranks) * block), recv(send.size());
  const int before = shared_parts();
  shoal_request request;
  {
    std::optional<limit> none;
    if (hindered) none.emplace(RLIMIT_NOFILE, 3);
    EXPECT_EQ(
        shoal_alltoall_init(send.data(), block, MPI_INT, recv.data(), block, MPI_INT, comm, MPI_INFO_NULL, &request),
        MPI_SUCCESS);
  }
  const int parts = shared_parts() - before;
  for (int i = 0; i < 5; ++i) {
    for (std::size_t k = 0; k < send.size(); ++k) send[k] = static_cast<int>(k) + me * 10000 + i;
    EXPECT_EQ(shoal_start(request), MPI_SUCCESS);
    EXPECT_EQ(shoal_wait(&request), MPI_SUCCESS);
    for (std::size_t k = 0; k < recv.size(); ++k)
      EXPECT_EQ(recv[k], static_cast<int>(k) % block + me * block + static_cast<int>(k) / block * 10000 + i);
  }
  EXPECT_EQ(shoal_request_free(&request), MPI_SUCCESS);
  EXPECT_EQ(shared_parts(), before);
  return parts;
}

TEST(Shared, PersistentExchangesHaveMemoryOfTheirOwn) {
  if (world_ranks() == 1) GTEST_SKIP() << "one rank shares nothing";
  for (const char* spec : {"shared", "tuna:radix=2", "pairwise"})
    for (const int block : {2, 60, 20000}) EXPECT_EQ(parts_of_a_persistent_exchange(spec, block, false), 1) << spec;
  EXPECT_EQ(parts_of_a_persistent_exchange("native", 2, false), 0);
}

TEST(Shared, PersistentExchangesSendMessagesWhenOneRankCannotMapTheMemory) {
  if (world_ranks() == 1) GTEST_SKIP() << "one rank shares nothing";
  for (const char* spec : {"shared", "tuna:radix=2"})
    EXPECT_EQ(parts_of_a_persistent_exchange(spec, 60, world_rank() == world_ranks() - 1), 0) << spec;
}

// All ranks send blocks of `sent` bytes to ranks that expect `expected` bytes.
void exchange_other_sizes(MPI_Comm comm, int sent, int expected) {
  const int ranks = world_ranks();
  std::vector<char> send(static_cast<std::size_t>(ranks) * sent, 'x');
  std::vector<char> recv(static_cast<std::size_t>(ranks) * (expected + 8), '-');
  std::vector<int> sends(ranks, sent), receives(ranks, expected), from(ranks), to(ranks);
  for (int i = 0; i < ranks; ++i) {
    from[i] = i * sent;
    to[i] = i * (expected + 8);
  }
  sends[world_rank()] = receives[world_rank()] = 0;
  const int code = shoal_alltoallv(send.data(), sends.data(), from.data(), MPI_BYTE, recv.data(), receives.data(),
                                   to.data(), MPI_BYTE, comm);
  EXPECT_EQ(code == MPI_SUCCESS, sent == expected || ranks == 1) << sent << " for " << expected;
  for (int i = 0; i < ranks; ++i)
    for (int k = expected; k < expected + 8; ++k) EXPECT_EQ(recv[static_cast<std::size_t>(to[i] + k)], '-');
}

TEST(Shared, CountsThatDoNotMatchAreAnErrorAndWriteNothingBeyondTheBlock) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  std::string why;
  communicator* const state = process::get().state_of(comm, true, why);
  node_memory& memory = state->all().memory();
  if (!memory.get() || !memory.has_all_ranks()) GTEST_SKIP() << "the ranks are not on one node";
  ASSERT_EQ(shoal_comm_set_info(comm, info{{"shoal_alltoallv", "shared"}}), MPI_SUCCESS);
  for (auto [sent, expected] : {std::pair{24, 12}, {12, 24}, {24, 24}, {90000, 50000}, {90000, 89999}, {90000, 90000}})
    exchange_other_sizes(comm, sent, expected);
}

// While a rank waits in shared memory, its other messages move on, as they do in the MPI's own collectives.
TEST(Shared, MessagesOfOthersMoveWhileARankWaits) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  perform(job_of(comm, "shared", 24));
  if (world_ranks() == 1) return;
  const int rank = world_rank(), bytes = 4 << 20;  // too many to be sent before they are received
  std::vector<char> data(bytes);
  MPI_Request sent = MPI_REQUEST_NULL;
  if (rank == 0) MPI_Isend(data.data(), bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &sent);
  if (rank == 1) MPI_Recv(data.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  perform(job_of(comm, "shared", 24));
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

TEST(Shared, SleepingRanksAreWoken) {
  settings sleeping;
  sleeping.wait = wait_mode::sleep;
  team state(duplicate_of(MPI_COMM_WORLD), MPI_COMM_WORLD, sleeping);
  const int ranks = state.ranks();
  const linked_schedule& steps = state.schedule_of(parse_selection("shared"));
  std::vector<std::byte> send(static_cast<std::size_t>(ranks) * 70000), recv(send.size());
  for (int number = 0; number < 10; ++number) {
    const int block = number % 2 ? 70000 : 8;
    payload what;
    what.send.base = send.data();
    what.recv.base = recv.data();
    what.send.counts = what.recv.counts = number_array::linear(block, 0);
    what.send.displacements = what.recv.displacements = number_array::linear(0, block);
    for (int d = 0; d < ranks; ++d)
      for (int k = 0; k < block; ++k) send[d * block + k] = content(state.rank() + number, d, k);
    state.run(steps, what);
    for (int o = 0; o < ranks; ++o)
      for (int k = 0; k < block; ++k) ASSERT_EQ(recv[o * block + k], content(o + number, state.rank(), k)) << number;
  }
}

}  // namespace
}  // namespace shoal
