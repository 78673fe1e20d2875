// Elements with more bytes than an int can count: whether they are plain memory, and how the others are packed.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>

#include "calls/mpi_datatype.hpp"
#include "execute/user_buffer.hpp"
#include "together.hpp"

namespace shoal {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;
constexpr int tail = 24;  // bytes behind the last full GiB

// Memory for a large element: 2 GiB of address space, in windows on the same memory, and some memory behind them.
class windows {
 public:
  windows() {
    const int file = memfd_create("windows", 0);
    at_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    good_ = file >= 0 && at_ != MAP_FAILED && ftruncate(file, window) == 0;
    for (std::int64_t from = 0; good_ && from < 2 * gib; from += window)
      good_ = mmap(data() + from, window, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
    close(file);
  }
  ~windows() { munmap(at_, bytes); }
  windows(const windows&) = delete;
  windows& operator=(const windows&) = delete;
  bool good() const { return good_; }
  std::byte* data() const { return static_cast<std::byte*>(at_); }

 private:
  static constexpr std::int64_t window = 1 << 21, bytes = 2 * gib + window;
  void* at_;
  bool good_;
};

// A type of 2 GiB and a few bytes, as libraries for large counts make it: a vector of long pieces, and behind it the
// bytes that are left, with a gap of so many bytes between the two.
MPI_Datatype large(MPI_Aint gap) {
  MPI_Datatype parts[2], type;
  MPI_Type_vector(2, gib, gib, MPI_BYTE, &parts[0]);
  MPI_Type_contiguous(tail, MPI_BYTE, &parts[1]);
  const std::array<int, 2> once{1, 1};
  const std::array<MPI_Aint, 2> places{0, 2 * gib + gap};
  MPI_Type_create_struct(2, once.data(), places.data(), parts, &type);
  MPI_Type_free(&parts[0]);
  MPI_Type_free(&parts[1]);
  MPI_Type_commit(&type);
  return type;
}

TEST(LargeElement, IsPlainWithoutGaps) {
  MPI_Datatype dense = large(0), loose = large(8);
  EXPECT_TRUE(known(dense).is_run(2));
  EXPECT_FALSE(known(loose).is_run(2));
  MPI_Type_free(&dense);
  MPI_Type_free(&loose);
}

TEST(LargeElement, StructuresAreOrderedToBePlain) {
  const int once[2] = {1, 1};
  const MPI_Aint up[2] = {0, 4}, down[2] = {4, 0};
  const MPI_Datatype integers[2] = {MPI_INT, MPI_INT};
  MPI_Datatype ascending, descending;
  MPI_Type_create_struct(2, once, up, integers, &ascending);
  MPI_Type_create_struct(2, once, down, integers, &descending);
  MPI_Type_commit(&ascending);
  MPI_Type_commit(&descending);
  EXPECT_TRUE(known(ascending).is_run(2));
  EXPECT_FALSE(known(descending).is_run(2));
  MPI_Type_free(&ascending);
  MPI_Type_free(&descending);
}

void fill(std::byte* at, int first) {
  for (int k = 0; k < tail; ++k) at[k] = static_cast<std::byte>(first + k);
}

void expect(const std::byte* at, int first) {
  for (int k = 0; k < tail; ++k) ASSERT_EQ(at[k], static_cast<std::byte>(first + k)) << "byte " << k;
}

TEST(LargeElement, IsPackedAndUnpacked) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank > 0) return;
  const windows memory, packed;
  if (!memory.good() || !packed.good()) GTEST_SKIP() << "no address space";
  constexpr int gap = 4096;
  MPI_Datatype type = large(gap);
  user_buffer found;
  describe(type, found, {});
  ASSERT_EQ(found.type.size, 2 * gib + tail);
  found.base = memory.data();
  found.counts = number_array::linear(1, 0);
  fill(memory.data() + 100, 1);
  fill(memory.data() + 2 * gib + gap, 50);
  found.pack(0, packed.data());
  expect(packed.data() + gib + 100, 1);
  expect(packed.data() + 2 * gib, 50);
  fill(packed.data() + 2 * gib, 90);
  found.unpack(0, packed.data());
  expect(memory.data() + 2 * gib + gap, 90);
  MPI_Type_free(&type);
}

}  // namespace
}  // namespace shoal
