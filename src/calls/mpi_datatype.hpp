// What Shoal needs to know of an MPI datatype.
#pragma once

#include <mpi.h>

#include "execute/user_buffer.hpp"

namespace shoal {

// Packs and unpacks elements of a datatype with MPI_Pack. Packed bytes are the same for all types of one
// signature, so different but matching send and receive types work.
class mpi_packer final : public packer {
 public:
  mpi_packer() = default;
  mpi_packer(MPI_Datatype type, std::int64_t type_size, std::int64_t extent, MPI_Comm comm)
      : type_(type), type_size_(type_size), extent_(extent), comm_(comm) {}
  void pack(const std::byte* block, std::int64_t count, std::byte* out) const override;
  void unpack(const std::byte* in, std::byte* block, std::int64_t count) const override;

 private:
  std::int64_t elements_at_once() const;

  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  std::int64_t type_size_ = 0, extent_ = 0;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// True when the packed bytes of any count of elements are the bytes in memory, from the first address on.
bool is_plain(MPI_Datatype type);

// The datatype's part of a buffer: sizes, and `layout` pointing to `storage` when blocks must be packed.
// MPI_DATATYPE_NULL has no bytes. `comm` is used for packing.
void describe(MPI_Datatype type, MPI_Comm comm, mpi_packer& storage, user_buffer& buffer);

}  // namespace shoal
