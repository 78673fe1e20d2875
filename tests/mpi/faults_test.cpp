// One test for every fault that was seen in other implementations of these exchanges.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>

#include "algorithms/algorithm.hpp"
#include "team/team.hpp"
#include "transport/mpi_transport.hpp"
#include "info.hpp"
#include "oracle.hpp"
#include "shoal/shoal.h"
#include "together.hpp"

namespace shoal {
namespace {

// Every algorithm that can serve this number of ranks, and parameters that make blocks pass through.
std::vector<std::string> every_spec(int ranks, bool uniform = false) {
  problem at;
  at.ranks = ranks;
  std::vector<std::string> all{"tuna:radix=2", "tuna:radix=3,inflight=1", "scattered:block_count=2",
                               "hierarchical:local=shared"};
  for (const algorithm& a : algorithms()) {
    const bool fits = a.what == collective::alltoall && a.generate && (uniform || !a.uniform_only);
    if (fits && (!a.refuses || !a.refuses(at, parse_selection(a.name).with))) all.push_back(a.name);
  }
  if (uniform) all.push_back("bruck:radix=2,variant=basic");
  return all;
}

job bytes_job(MPI_Comm comm, std::int64_t bytes) {
  job j;
  j.comm = comm;
  j.scalars = equal_blocks(ranks_of(comm), bytes);
  return j;
}

// Blocks of different sizes, some of them empty.
job uneven_job(MPI_Comm comm, std::uint32_t seed = 1) {
  job j = bytes_job(comm, 0);
  std::mt19937 random(seed);
  for (auto& row : j.scalars)
    for (auto& size : row) size = random() % 3 ? static_cast<std::int64_t>(random() % 40) * common_scalars : 0;
  return j;
}

job symmetric(job j) {
  for (std::size_t i = 0; i < j.scalars.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) j.scalars[i][k] = j.scalars[k][i];
  return j;
}

void perform_with_all(job j) {
  for (const std::string& spec : every_spec(ranks_of(j.comm), j.uniform)) {
    SCOPED_TRACE(spec + (j.uniform ? ", alltoall" : ", alltoallv"));
    doing("rank " + std::to_string(world_rank()) + ", " + spec);
    j.spec = spec;
    perform(j);
  }
}

void perform_uniform_and_not(job j) {
  for (bool uniform : {false, true}) {
    j.uniform = uniform;
    perform_with_all(j);
  }
}

TEST(Faults, OneAndTwoRanksEnd) {
  for (int ranks : {1, 2}) {
    const scoped_comm comm(first_ranks(ranks));
    if (comm == MPI_COMM_NULL) continue;
    perform_uniform_and_not(bytes_job(comm, 24));
    perform_with_all(uneven_job(comm));
  }
}

// A rank sends several messages in a round, too large for the MPI to copy them before they are received.
TEST(Faults, NoPackBufferIsReusedUnderASend) {
  job j = bytes_job(MPI_COMM_WORLD, 150000);
  j.send.how = j.recv.how = &layout_named("with gap");
  for (const char* spec : {"tuna:radix=2", "tuna:radix=4", "tuna:radix=3,inflight=2", "spread_out", "two_phase"}) {
    SCOPED_TRACE(spec);
    j.spec = spec;
    perform(j);
  }
}

TEST(Faults, ReceiveDisplacementsAreUsed) {
  job j = uneven_job(MPI_COMM_WORLD);
  j.recv.shuffled = static_cast<std::uint32_t>(world_rank()) + 1;
  perform_with_all(j);
}

TEST(Faults, AnyNumberOfRanksIsServedWhateverTheNodes) {
  for (int ranks = 1; ranks <= world_ranks(); ++ranks) {
    const scoped_comm comm(first_ranks(ranks));
    if (comm != MPI_COMM_NULL) perform_with_all(uneven_job(comm, static_cast<std::uint32_t>(ranks)));
  }
}

// A copy of bytes, in pages that cannot be written.
class read_only {
 public:
  explicit read_only(std::vector<std::byte> what) : bytes_(std::max<std::size_t>(what.size(), 1)) {
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::copy(what.begin(), what.end(), static_cast<std::byte*>(data_));
    mprotect(data_, bytes_, PROT_READ);
  }
  ~read_only() { munmap(data_, bytes_); }
  read_only(const read_only&) = delete;
  read_only& operator=(const read_only&) = delete;
  const void* data() const { return data_; }

 private:
  std::size_t bytes_;
  void* data_;
};

TEST(Faults, SendBufferIsNeverWritten) {
  constexpr int block = 3000;
  const int ranks = world_ranks(), rank = world_rank();
  std::vector<std::byte> bytes, expected;
  for (int i = 0; i < ranks; ++i)
    for (int k = 0; k < block; ++k) {
      bytes.push_back(content(rank, i, k));
      expected.push_back(content(i, rank, k));
    }
  const read_only send(bytes);
  for (const std::string& spec : every_spec(ranks, true)) {
    std::vector<std::byte> recv(bytes.size());
    const info how{{"shoal_alltoall", spec}};
    EXPECT_EQ(shoal_alltoall_with(send.data(), block, MPI_BYTE, recv.data(), block, MPI_BYTE, MPI_COMM_WORLD, how),
              MPI_SUCCESS);
    EXPECT_EQ(recv, expected) << spec;
  }
}

void perform_with_layout(std::string_view name) {
  for (scalar base : {scalar::byte, scalar::complex}) {
    job j = bytes_job(MPI_COMM_WORLD, 5 * common_scalars);
    j.base = base;
    j.send.how = &layout_named(name);
    perform_uniform_and_not(j);
    std::swap(j.send.how, j.recv.how);
    perform_uniform_and_not(j);
    j.send.how = j.recv.how;
    perform_uniform_and_not(j);
  }
}

TEST(Faults, ColumnsOfAMatrixAreTransposed) { perform_with_layout("column"); }
TEST(Faults, NegativeLowerBoundsAreUsed) {
  perform_with_layout("low bound");
  perform_with_layout("before its place");
}

TEST(Faults, TypesThatDifferButMatchAreOneSignature) {
  const auto& all = layouts();
  for (std::size_t i = 0; i < all.size(); ++i) {
    job j = uneven_job(MPI_COMM_WORLD);
    j.base = scalar::record;
    const auto rank = static_cast<std::size_t>(world_rank());
    j.send.how = &all[(i + rank) % all.size()];
    j.recv.how = &all[(i + 2 * rank + 1) % all.size()];
    for (const char* spec : {"tuna:radix=2", "spread_out"}) {
      j.spec = spec;
      perform(j);
    }
  }
}

TEST(Faults, InPlaceWithSomeEmptyBlocksEnds) {
  job j = symmetric(uneven_job(MPI_COMM_WORLD));
  j.in_place = true;
  perform_with_all(j);
  j.recv.shuffled = static_cast<std::uint32_t>(world_rank()) + 1;
  perform_with_all(j);
}

TEST(Faults, ElementsOfNoSizeAreNothing) {
  job j = bytes_job(MPI_COMM_WORLD, 0);
  j.send.empty_count = 3;
  perform_uniform_and_not(j);
  j.recv.empty_count = 2 + world_rank() % 2;
  perform_uniform_and_not(j);
  j.in_place = true;
  perform_uniform_and_not(j);
}

// One rank neither sends nor receives anything, and gives no type (MPI_DATATYPE_NULL).
TEST(Faults, NoTypeIsNeededForNothing) {
  const int ranks = world_ranks(), rank = world_rank(), idle = ranks / 2;
  for (const std::string& spec : every_spec(ranks)) {
    SCOPED_TRACE(spec);
    const MPI_Datatype type = rank == idle ? MPI_DATATYPE_NULL : MPI_INT;
    std::vector<int> counts(ranks, rank != idle), at(ranks), send(ranks), recv(ranks, -1);
    counts[idle] = 0;
    for (int i = 0; i < ranks; ++i) send[i] = rank * 1000 + (at[i] = i);
    const info how{{"shoal_alltoallv", spec}};
    EXPECT_EQ(shoal_alltoallv_with(send.data(), counts.data(), at.data(), type, recv.data(), counts.data(), at.data(),
                                   type, MPI_COMM_WORLD, how),
              MPI_SUCCESS);
    for (int i = 0; i < ranks; ++i) EXPECT_EQ(recv[i], counts[i] ? i * 1000 + rank : -1) << "from rank " << i;
  }
}

// The same if each block has its own type: blocks without elements give none.
TEST(Faults, NoTypeIsNeededForBlocksOfNothing) {
  const int ranks = world_ranks(), rank = world_rank();
  for (const std::string& spec : every_spec(ranks)) {
    SCOPED_TRACE(spec);
    std::vector<int> sent(ranks), received(ranks), at(ranks), send(ranks), recv(ranks, -1);
    std::vector<MPI_Datatype> from(ranks, MPI_DATATYPE_NULL), to(ranks, MPI_DATATYPE_NULL);
    for (int i = 0; i < ranks; ++i) {
      send[i] = rank * 1000 + i;
      at[i] = i * static_cast<int>(sizeof(int));
      if ((sent[i] = (rank + i) % 3 == 0)) from[i] = MPI_INT;
      if ((received[i] = (rank + i) % 3 == 0)) to[i] = MPI_INT;
    }
    const info how{{"shoal_alltoallw", spec}};
    EXPECT_EQ(shoal_alltoallw_with(send.data(), sent.data(), at.data(), from.data(), recv.data(), received.data(),
                                   at.data(), to.data(), MPI_COMM_WORLD, how),
              MPI_SUCCESS);
    for (int i = 0; i < ranks; ++i) EXPECT_EQ(recv[i], received[i] ? i * 1000 + rank : -1) << "from rank " << i;
  }
}

// Passes messages on to another transport, and checks their tags.
class watched final : public transport {
 public:
  watched(transport& below, int bound) : below_(below), bound_(bound) {}
  int ranks() const override { return below_.ranks(); }
  int rank() const override { return below_.rank(); }
  int highest_tag() const override { return bound_; }
  void send(int peer, int tag, const std::byte* data, std::size_t bytes, int ticket) override {
    note(tag);
    below_.send(peer, tag, data, bytes, ticket);
  }
  void receive(int peer, int tag, std::byte* data, std::size_t capacity, int ticket) override {
    note(tag);
    below_.receive(peer, tag, data, capacity, ticket);
  }
  void poll(std::vector<ended_transfer>& ended) override { below_.poll(ended); }
  int highest() const { return highest_; }

 private:
  void note(int tag) {
    EXPECT_GT(tag, 0);
    EXPECT_LE(tag, bound_);
    highest_ = std::max(highest_, tag);
  }

  transport& below_;
  int bound_, highest_ = 0;
};

TEST(Faults, TagsStayWithinTheBound) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  mpi_transport mpi(comm);
  int* bound = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found);
  ASSERT_TRUE(found);
  EXPECT_EQ(mpi.highest_tag(), *bound);
  watched over(mpi, 3);
  problem at;
  at.ranks = world_ranks();
  for (const char* spec : {"spread_out", "tuna:radix=2", "two_phase"}) {
    const linked_schedule steps(generate(parse_selection(spec), at, world_rank()));
    std::vector<std::byte> send(static_cast<std::size_t>(9000 * at.ranks)), recv(send.size());
    for (std::size_t i = 0; i < send.size(); ++i) send[i] = content(world_rank(), static_cast<int>(i / 9000), i % 9000);
    memory_pool pool;
    exchange one(pool, over);
    payload what;
    what.send.base = send.data();
    what.recv.base = recv.data();
    what.send.counts = what.recv.counts = number_array::linear(9000, 0);
    what.send.displacements = what.recv.displacements = number_array::linear(0, 9000);
    waiting wait(wait_mode::yield);
    one.start(steps, what);
    for (bool moved = true; !one.done(); moved ? wait.progressed() : wait.idle()) one.progress(moved);
    for (std::size_t i = 0; i < recv.size(); ++i)
      ASSERT_EQ(recv[i], content(static_cast<int>(i / 9000), world_rank(), i % 9000)) << spec << ", byte " << i;
  }
  EXPECT_EQ(over.highest(), at.ranks > 1 ? 2 : 0);  // 1 for sizes, 2 for data
}

// One block among many small ones is large. The scratch memory is for what passes through, and not for the number of
// ranks times the largest block.
TEST(Faults, MemoryOfSkewedSizesIsWhatTheyWeigh) {
  constexpr int small = 8, large = 1 << 20;
  team state(duplicate_of(MPI_COMM_WORLD), MPI_COMM_WORLD, settings{});
  const int ranks = state.ranks(), rank = state.rank();
  std::vector<int> sent(ranks, small), received(ranks, small), sent_at(ranks, 0), received_at(ranks, 0);
  if (rank == 0) sent[ranks - 1] = large;
  if (rank == ranks - 1) received[0] = large;
  for (int i = 1; i < ranks; ++i) received_at[i] = large + i * small;
  std::vector<std::byte> send(large), recv(static_cast<std::size_t>(large + ranks * small));
  payload what;
  what.send.base = send.data();
  what.recv.base = recv.data();
  what.send.counts = number_array(sent.data());
  what.send.displacements = number_array(sent_at.data());
  what.recv.counts = number_array(received.data());
  what.recv.displacements = number_array(received_at.data());
  state.run(state.schedule_of(parse_selection("tuna:radix=2")), what);
  EXPECT_LT(state.pool().peak(), std::size_t{3} * large);
}

// Each rank sees other counts. The choice of the ranks must not depend on that.
TEST(Faults, RanksChooseTheSameWhateverTheySeeThemselves) {
  const scoped_comm comm(duplicate_of(MPI_COMM_WORLD));
  const int ranks = world_ranks();
  for (int call = 0; call < 40; ++call) {
    job j = bytes_job(comm, 0);
    for (int o = 0; o < ranks; ++o)
      for (int d = 0; d < ranks; ++d)
        j.scalars[o][d] = o == call % ranks ? (call % 8) * 1200 : d == 0 ? 12 * (call % 3) : 0;
    perform(j);
    const std::vector<std::string> all = collected(explained(comm));
    for (const std::string& one : all) ASSERT_EQ(one, all[0]) << "call " << call;
  }
}

features seen_by_all(const features& mine) {
  mpi_transport over(MPI_COMM_WORLD);
  waiting wait(wait_mode::yield);
  agreement agree(over, wait);
  return agree_on(mine, agree);
}

TEST(Faults, WrongArgumentsOfOneRankAreKnownToAllThatAgreeOnSizes) {
  for (int wrong = 0; wrong < world_ranks(); ++wrong) {
    features mine;
    mine.ranks = world_ranks();
    mine.invalid = world_rank() == wrong;
    EXPECT_TRUE(seen_by_all(mine).invalid);
  }
  features fine;
  fine.ranks = world_ranks();
  EXPECT_FALSE(seen_by_all(fine).invalid);
}

#ifndef OPEN_MPI  // Open MPI lets it pass
TEST(Faults, SendingFromWhereBlocksArriveIsTheErrorTheMpiMakesOfIt) {
  const scoped_comm comm(duplicate_of(MPI_COMM_SELF));
  const int one = 1, zero = 0;
  int both = 0;
  for (const char* spec : {"auto", "tuna:radix=2"}) {
    const info how{{"shoal_alltoall", spec}, {"shoal_alltoallv", spec}};
    EXPECT_NE(shoal_alltoall_with(&both, 1, MPI_INT, &both, 1, MPI_INT, comm, how), MPI_SUCCESS) << spec;
    EXPECT_NE(shoal_alltoallv_with(&both, &one, &zero, MPI_INT, &both, &one, &zero, MPI_INT, comm, how), MPI_SUCCESS)
        << spec;
  }
}
#endif

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

// A call gives the error of the MPI's own collective, blocking or not, and the next exchange is right.
TEST(Faults, WrongBuffersAndTypesAreTheErrorsTheMpiMakesOfThem) {
  MPI_Datatype uncommitted, strided;
  MPI_Type_contiguous(1, MPI_INT, &uncommitted);
  MPI_Type_vector(2, 1, 2, MPI_INT, &strided);
  for (const MPI_Comm of : {MPI_COMM_SELF, MPI_COMM_WORLD}) {
    const scoped_comm comm(duplicate_of(of));
    const auto ranks = static_cast<std::size_t>(ranks_of(comm));
    std::vector<int> a(4 * ranks), b(4 * ranks), ones(ranks, 1), at(ranks);
    const auto refused = [&](const void* send, MPI_Datatype send_type, void* recv, MPI_Datatype recv_type) {
      const int *n = ones.data(), *d = at.data();
      const int native = MPI_Alltoallv(send, n, d, send_type, recv, n, d, recv_type, comm);
      EXPECT_NE(native, MPI_SUCCESS);
      EXPECT_EQ(class_of(shoal_alltoallv(send, n, d, send_type, recv, n, d, recv_type, comm)), class_of(native));
      EXPECT_EQ(class_of(shoal_alltoall(send, 1, send_type, recv, 1, recv_type, comm)), class_of(native));
      const std::vector<MPI_Datatype> from(ranks, send_type), to(ranks, recv_type);
      const int typed = MPI_Alltoallw(send, n, d, from.data(), recv, n, d, to.data(), comm);
      EXPECT_EQ(class_of(shoal_alltoallw(send, n, d, from.data(), recv, n, d, to.data(), comm)), class_of(typed));
      shoal_request request = SHOAL_REQUEST_NULL;
      EXPECT_NE(shoal_ialltoallv(send, n, d, send_type, recv, n, d, recv_type, comm, &request), MPI_SUCCESS);
      EXPECT_EQ(request, SHOAL_REQUEST_NULL);
    };
    for (const char* spec : {"tuna:radix=2", "spread_out", "shared"}) {
      SCOPED_TRACE(spec);
      ASSERT_EQ(shoal_comm_set_info(comm, for_exchanges(spec)), MPI_SUCCESS);
      refused(a.data(), MPI_INT, MPI_IN_PLACE, MPI_INT);
      refused(a.data(), uncommitted, b.data(), MPI_INT);
      refused(a.data(), MPI_INT, b.data(), strided);
#ifndef OPEN_MPI  // Open MPI reads and writes there
      refused(nullptr, MPI_INT, b.data(), MPI_INT);
      refused(a.data(), MPI_INT, nullptr, MPI_INT);
#endif
      job j = bytes_job(comm, 12);
      j.with = asked::by_communicator;
      j.spec = spec;
      perform(j);
    }
  }
  MPI_Type_free(&uncommitted);
  MPI_Type_free(&strided);
}

TEST(Faults, NegativeCountIsTheErrorTheMpiMakesOfIt) {
  const scoped_comm comm(duplicate_of(MPI_COMM_SELF));
  const int negative = -1, zero = 0;
  char send, recv;
  for (const char* spec : {"auto", "tuna:radix=2"}) {
    const info how{{"shoal_alltoallv", spec}};
    const int code =
        shoal_alltoallv_with(&send, &negative, &zero, MPI_BYTE, &recv, &negative, &zero, MPI_BYTE, comm, how);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    EXPECT_EQ(error_class, MPI_ERR_COUNT) << spec;
    const MPI_Datatype type = MPI_BYTE;
    const info typed{{"shoal_alltoallw", spec}};
    EXPECT_EQ(
        class_of(shoal_alltoallw_with(&send, &negative, &zero, &type, &recv, &negative, &zero, &type, comm, typed)),
        MPI_ERR_COUNT)
        << spec;
  }
  job j = bytes_job(comm, 12);
  j.spec = "linear";
  perform(j);
}

}  // namespace
}  // namespace shoal
