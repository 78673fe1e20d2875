// What Shoal finds out about datatypes, compared with what the tests know about them.
#include "calls/mpi_datatype.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "shapes.hpp"
#include "together.hpp"

namespace shoal {
namespace {

// A buffer with a few elements of a shape, and its packed form.
class sample {
 public:
  sample(const shape& of, std::int64_t count) : shape_(of), count_(count) {
    const auto& bytes = of.bytes();
    const std::int64_t low = *std::min_element(bytes.begin(), bytes.end());
    const std::int64_t high = *std::max_element(bytes.begin(), bytes.end());
    first_ = -low;
    memory_.resize(static_cast<std::size_t>(high - low + 1 + (count - 1) * of.extent()), std::byte{0xEE});
    for (std::int64_t k = 0; k < packed_bytes(); ++k) packed_.push_back(at(k) = static_cast<std::byte>(k * 7 + 1));
  }

  std::byte* block() { return memory_.data() + first_; }
  std::int64_t packed_bytes() const { return count_ * static_cast<std::int64_t>(shape_.bytes().size()); }
  std::vector<std::byte>& memory() { return memory_; }
  const std::vector<std::byte>& packed() const { return packed_; }

 private:
  std::byte& at(std::int64_t k) {
    const auto size = static_cast<std::int64_t>(shape_.bytes().size());
    return memory_[static_cast<std::size_t>(first_ + k / size * shape_.extent() + shape_.bytes()[k % size])];
  }

  const shape& shape_;
  std::int64_t count_, first_ = 0;
  std::vector<std::byte> memory_, packed_;
};

void expect_described(const shape& of, bool plain) {
  constexpr std::int64_t count = 5;
  user_buffer found;
  describe(of.type(), found, {});
  EXPECT_EQ(found.type.size, static_cast<std::int64_t>(of.bytes().size()));
  EXPECT_EQ(found.extent, of.extent());
  ASSERT_EQ(found.type.layout == nullptr, plain);
  sample s(of, count);
  found.base = s.block();
  found.counts = number_array::linear(count, 0);
  std::vector<std::byte> packed(s.packed().size());
  found.pack(0, packed.data());
  EXPECT_EQ(packed, s.packed());
  const std::vector<std::byte> before = s.memory();
  std::fill_n(s.memory().begin(), s.memory().size(), std::byte{0xEE});
  found.unpack(0, packed.data());
  EXPECT_EQ(s.memory(), before);
}

bool is_dense(scalar base) { return base == scalar::byte || base == scalar::integer || base == scalar::complex; }
bool keeps_density(const layout& l) { return l.name == "plain" || l.name == "duplicate" || l.name == "contiguous"; }

TEST(Datatype, EveryLayoutOfEveryScalarIsUnderstood) {
  for (scalar base : all_scalars)
    for (const layout& l : layouts()) {
      SCOPED_TRACE("scalar " + std::to_string(static_cast<int>(base)) + ", " + std::string(l.name));
      const shape scalars = shape_of(base);
      expect_described(l.make(scalars, 5), is_dense(base) && keeps_density(l));
    }
}

TEST(Datatype, NullTypeHasNoBytes) {
  user_buffer found;
  describe(MPI_DATATYPE_NULL, found, {});
  EXPECT_EQ(found.type.size, 0);
  EXPECT_EQ(found.extent, 0);
}

bool is_plain_and_freed(MPI_Datatype type) {
  MPI_Type_commit(&type);
  const bool plain = known(type).is_run(2);
  MPI_Type_free(&type);
  return plain;
}

// To look into the empty parts of so many levels would take years.
TEST(Datatype, EmptyPartsAreNotLookedInto) {
  std::vector<MPI_Datatype> levels = {MPI_INT};
  for (int i = 0; i < 60; ++i) {
    const std::array<int, 2> counts = {1, 0};
    const std::array<MPI_Aint, 2> at = {0, 0};
    const std::array<MPI_Datatype, 2> parts = {levels.back(), levels.back()};
    levels.emplace_back();
    MPI_Type_create_struct(2, counts.data(), at.data(), parts.data(), &levels.back());
  }
  MPI_Type_commit(&levels.back());
  user_buffer found;
  describe(levels.back(), found, {});
  EXPECT_EQ(found.type.size, static_cast<std::int64_t>(sizeof(int)));
  EXPECT_EQ(found.type.layout, nullptr);
  for (std::size_t i = 1; i < levels.size(); ++i) MPI_Type_free(&levels[i]);
}

TEST(Datatype, ContiguousTypesOfContiguousTypesArePlain) {
  MPI_Datatype three, copy, six;
  MPI_Type_contiguous(3, MPI_INT, &three);
  MPI_Type_dup(three, &copy);
  MPI_Type_contiguous(2, copy, &six);
  EXPECT_TRUE(is_plain_and_freed(six));
  EXPECT_TRUE(is_plain_and_freed(copy));
  EXPECT_TRUE(is_plain_and_freed(three));
}

int raised = 0;
void count_error(MPI_Comm*, int*, ...) { ++raised; }

// Fortran's types of a given precision are not named types, but may not be freed either.
TEST(Datatype, TypesOfAPrecisionStayUsable) {
  MPI_Datatype real = MPI_DATATYPE_NULL, three;
  if (MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real) != MPI_SUCCESS || real == MPI_DATATYPE_NULL)
    GTEST_SKIP() << mpi_name() << " was built without Fortran";
  MPI_Type_contiguous(3, real, &three);
  MPI_Type_commit(&three);
  MPI_Errhandler counts;
  MPI_Comm_create_errhandler(count_error, &counts);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, counts);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, counts);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(known(three).is_run(2), known(real).is_run(2));
  EXPECT_EQ(raised, 0);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&counts);
  int size = 0;
  EXPECT_EQ(MPI_Type_size(real, &size), MPI_SUCCESS);
  EXPECT_EQ(size, 8);
  MPI_Type_free(&three);
}

#if MPI_VERSION >= 4
TEST(Datatype, TypesMadeWithWideCountsAreUnderstood) {
  MPI_Datatype type;
  ASSERT_EQ(MPI_Type_contiguous_c(3, MPI_INT, &type), MPI_SUCCESS);
  EXPECT_TRUE(is_plain_and_freed(type));
  ASSERT_EQ(MPI_Type_vector_c(3, 1, 2, MPI_INT, &type), MPI_SUCCESS);
  EXPECT_FALSE(is_plain_and_freed(type));
}
#endif

}  // namespace
}  // namespace shoal
