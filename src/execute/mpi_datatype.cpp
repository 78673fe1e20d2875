#include "execute/mpi_datatype.hpp"

#include <algorithm>

#include "execute/mpi_error.hpp"

namespace shoal {

namespace {

struct type_extent {
  MPI_Count size = 0, lower = 0, extent = 0, true_lower = 0, true_extent = 0;
};

type_extent measure(MPI_Datatype type) {
  type_extent e;
  require(PMPI_Type_size_x(type, &e.size), "MPI_Type_size_x");
  require(PMPI_Type_get_extent_x(type, &e.lower, &e.extent), "MPI_Type_get_extent_x");
  require(PMPI_Type_get_true_extent_x(type, &e.true_lower, &e.true_extent), "MPI_Type_get_true_extent_x");
  return e;
}

// How a type was made.
struct recipe {
  MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
  int combiner = MPI_COMBINER_NAMED;

  // Fortran's types of a precision have no name, but may not be freed either.
  bool predefined() const {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
  }
  bool repeats_one_type() const {
    return (combiner == MPI_COMBINER_DUP || combiner == MPI_COMBINER_CONTIGUOUS) && types == 1;
  }
};

// The type that a duplicate or a contiguous type repeats; the caller frees it unless it is predefined. Types made
// with wide counts can be asked about only with wide counts.
#if MPI_VERSION >= 4

recipe recipe_of(MPI_Datatype type) {
  recipe r;
  require(PMPI_Type_get_envelope_c(type, &r.integers, &r.addresses, &r.counts, &r.types, &r.combiner),
          "MPI_Type_get_envelope_c");
  return r;
}

MPI_Datatype repeated_type(MPI_Datatype type, const recipe& r) {
  int integers[1];
  MPI_Aint addresses[1];
  MPI_Count counts[1];
  MPI_Datatype types[1];
  require(
      PMPI_Type_get_contents_c(type, r.integers, r.addresses, r.counts, r.types, integers, addresses, counts, types),
      "MPI_Type_get_contents_c");
  return types[0];
}

#else

recipe recipe_of(MPI_Datatype type) {
  int integers, addresses, types, combiner;
  require(PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner), "MPI_Type_get_envelope");
  return {integers, addresses, 0, types, combiner};
}

MPI_Datatype repeated_type(MPI_Datatype type, const recipe& r) {
  int integers[1];
  MPI_Aint addresses[1];
  MPI_Datatype types[1];
  require(PMPI_Type_get_contents(type, static_cast<int>(r.integers), static_cast<int>(r.addresses),
                                 static_cast<int>(r.types), integers, addresses, types),
          "MPI_Type_get_contents");
  return types[0];
}

#endif

// `count` elements of a type at an address. MPI_Pack and MPI_Unpack of MPICH refuse the null address, which is
// MPI_BOTTOM and right for a type of absolute addresses: then both the address and the type are moved.
class elements {
 public:
  elements(const std::byte* at, int count, MPI_Datatype type)
      : at_(const_cast<std::byte*>(at)), count_(count), type_(type) {
    if (at) return;
    constexpr MPI_Aint moved = 64;
    const MPI_Aint back = -moved;
    at_ += moved;
    require(PMPI_Type_create_hindexed(1, &count, &back, type, &type_), "MPI_Type_create_hindexed");
    count_ = 1;
    own_ = true;
    require(PMPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ~elements() {
    if (own_) PMPI_Type_free(&type_);
  }
  elements(const elements&) = delete;
  elements& operator=(const elements&) = delete;

  void* at() const { return at_; }
  int count() const { return count_; }
  MPI_Datatype type() const { return type_; }

 private:
  std::byte* at_;
  int count_;
  MPI_Datatype type_;
  bool own_ = false;
};

}  // namespace

// Equal size and extents are not enough: a type may list its bytes in another order than memory has them. So only
// named types and contiguous or duplicate types of such are plain.
bool is_plain(MPI_Datatype type) {
  const type_extent e = measure(type);
  if (e.size != e.extent || e.size != e.true_extent || e.lower != 0 || e.true_lower != 0) return false;
  const recipe r = recipe_of(type);
  if (r.combiner == MPI_COMBINER_NAMED) return true;
  if (!r.repeats_one_type()) return false;
  MPI_Datatype inner = repeated_type(type, r);
  const bool plain = is_plain(inner);
  if (!recipe_of(inner).predefined()) PMPI_Type_free(&inner);
  return plain;
}

void describe(MPI_Datatype type, MPI_Comm comm, mpi_packer& storage, user_buffer& buffer) {
  if (type == MPI_DATATYPE_NULL) {
    buffer.type_size = buffer.extent = 0;
    return;
  }
  // Asking about a type takes as long as a small exchange inside a node. Named types are never freed, so what is known
  // of the last one stays right.
  thread_local MPI_Datatype named = MPI_DATATYPE_NULL;
  thread_local std::int64_t named_bytes = 0;
  if (type == named) {
    buffer.type_size = buffer.extent = named_bytes;
    return;
  }
  const type_extent e = measure(type);
  buffer.type_size = e.size;
  buffer.extent = e.extent;
  if (is_plain(type)) {
    if (recipe_of(type).combiner == MPI_COMBINER_NAMED) {
      named = type;
      named_bytes = e.size;
    }
    return;
  }
  storage = mpi_packer(type, e.size, e.extent, comm);
  buffer.layout = &storage;
}

// MPI_Pack counts its output in an int.
std::int64_t mpi_packer::elements_at_once() const {
  constexpr std::int64_t most_bytes = 1 << 30;
  return std::max<std::int64_t>(1, most_bytes / std::max<std::int64_t>(1, type_size_));
}

void mpi_packer::pack(const std::byte* block, std::int64_t count, std::byte* out) const {
  if (type_size_ == 0) return;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t now = std::min(count - done, elements_at_once());
    const elements from(block + done * extent_, static_cast<int>(now), type_);
    int position = 0;
    require(PMPI_Pack(from.at(), from.count(), from.type(), out, static_cast<int>(now * type_size_), &position, comm_),
            "packing a block");
    out += now * type_size_;
    done += now;
  }
}

void mpi_packer::unpack(const std::byte* in, std::byte* block, std::int64_t count) const {
  if (type_size_ == 0) return;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t now = std::min(count - done, elements_at_once());
    const elements to(block + done * extent_, static_cast<int>(now), type_);
    int position = 0;
    require(PMPI_Unpack(in, static_cast<int>(now * type_size_), &position, to.at(), to.count(), to.type(), comm_),
            "unpacking a block");
    in += now * type_size_;
    done += now;
  }
}

}  // namespace shoal
