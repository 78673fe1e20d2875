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

// The type a duplicate or a contiguous type is made of; must be freed by the caller unless predefined.
MPI_Datatype inner_type(MPI_Datatype type, int integers, int addresses, int types) {
  int numbers[1];
  MPI_Aint places[1];
  MPI_Datatype inner[1];
  require(PMPI_Type_get_contents(type, integers, addresses, types, numbers, places, inner), "MPI_Type_get_contents");
  return inner[0];
}

void free_unless_named(MPI_Datatype type) {
  int integers, addresses, types, combiner;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  if (combiner != MPI_COMBINER_NAMED) PMPI_Type_free(&type);
}

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
// predefined types and contiguous or duplicate types of such are plain.
bool is_plain(MPI_Datatype type) {
  const type_extent e = measure(type);
  if (e.size != e.extent || e.size != e.true_extent || e.lower != 0 || e.true_lower != 0) return false;
  int integers, addresses, types, combiner;
  require(PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner), "MPI_Type_get_envelope");
  if (combiner == MPI_COMBINER_NAMED) return true;
  if (combiner != MPI_COMBINER_DUP && combiner != MPI_COMBINER_CONTIGUOUS) return false;
  if (integers > 1 || addresses > 1 || types != 1) return false;
  const MPI_Datatype inner = inner_type(type, integers, addresses, types);
  const bool plain = is_plain(inner);
  free_unless_named(inner);
  return plain;
}

void describe(MPI_Datatype type, MPI_Comm comm, mpi_packer& storage, user_buffer& buffer) {
  if (type == MPI_DATATYPE_NULL) {
    buffer.type_size = buffer.extent = 0;
    return;
  }
  const type_extent e = measure(type);
  buffer.type_size = e.size;
  buffer.extent = e.extent;
  if (is_plain(type)) return;
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
