// What Shoal needs to know of an MPI datatype.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "execute/strided.hpp"
#include "execute/user_buffer.hpp"
#include "team/devices.hpp"

namespace shoal {

// A datatype as the MPI describes it. Shoal copies elements that are a few loops of runs of bytes; MPI_Pack packs the
// others. Packed bytes are the same for all types of one signature, so different but matching types work.
class datatype final : public packer {
 public:
  datatype() = default;  // for a handle that is no type
  explicit datatype(MPI_Datatype type);
  datatype(const datatype&) = delete;
  datatype& operator=(const datatype&) = delete;

  std::int64_t size() const { return size_; }      // packed bytes of an element
  std::int64_t extent() const { return extent_; }  // from one element to the next in memory
  // Whether `count` elements lie in memory, from begin() on, as they do when packed.
  bool is_run(std::int64_t count) const { return runs_ && runs_->is_run() && (count == 1 || size_ == extent_); }
  std::int64_t begin() const { return runs_ ? runs_->begin() : 0; }
  // A block of `count` elements. If they are on a device, only the MPI copies them.
  element_type element(std::int64_t count, bool is_on_device) const;

  void pack(const std::byte* block, std::int64_t count, std::byte* out) const override;
  void unpack(const std::byte* in, std::byte* block, std::int64_t count) const override;

  // Whether messages can have it; MPI has no function that tells. `own` is a communicator of Shoal's, or MPI_COMM_SELF.
  bool is_committed(MPI_Comm own) const;
  // If not, even the null address may be right: it is MPI_BOTTOM, for types of absolute addresses.
  bool begins_at_its_address() const { return true_lower_ == 0; }

 private:
  struct copied_by_mpi final : packer {
    explicit copied_by_mpi(const datatype& type) : of(type) {}
    void pack(const std::byte* block, std::int64_t count, std::byte* out) const override {
      of.pack_by_mpi(block, count, out);
    }
    void unpack(const std::byte* in, std::byte* block, std::int64_t count) const override {
      of.unpack_by_mpi(in, block, count);
    }
    const datatype& of;
  };

  void pack_by_mpi(const std::byte* block, std::int64_t count, std::byte* out) const;
  void unpack_by_mpi(const std::byte* in, std::byte* block, std::int64_t count) const;
  std::int64_t elements_at_once() const;

  const copied_by_mpi by_mpi_{*this};
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  std::int64_t size_ = 0, extent_ = 0, true_lower_ = 0;
  std::optional<strided> runs_;
  mutable std::atomic<bool> is_committed_ = false;  // once true, it stays true
};

// The types of blocks as a call gives them: one for all, or one for each.
class type_list {
 public:
  type_list(MPI_Datatype one) : one_(one) {}  // NOLINT: implicit on purpose
  explicit type_list(const MPI_Datatype* each) : each_(each), differ_(true) {}
  // Whether each block has a type of its own; then displacements are in bytes.
  bool differ() const { return differ_; }
  // Whether the call should have given a list, and gave null. All types are then MPI_DATATYPE_NULL.
  bool is_missing() const { return differ_ && !each_; }
  const MPI_Datatype* each() const { return each_; }
  MPI_Datatype operator[](int i) const { return each_ ? each_[i] : one_; }
  // Whether both are the same type, or the same list.
  bool is(const type_list& other) const { return one_ == other.one_ && each_ == other.each_; }

 private:
  MPI_Datatype one_ = MPI_DATATYPE_NULL;
  const MPI_Datatype* each_ = nullptr;
  bool differ_ = false;
};

// Whether this may be a datatype, as far as the handle tells.
bool is_type(MPI_Datatype type);
// Whether the MPI itself defines the type, so that it is never freed. `type`: is_type().
bool is_of_mpi(MPI_Datatype type);
// Bytes of an element; 0 for what is no type.
std::int64_t size_of(MPI_Datatype type);
// The same, without asking the MPI about the most usual types. In calls that are only counted, asking would cost more
// than all else.
inline std::int64_t bytes_of(MPI_Datatype type) {
  if (type == MPI_DOUBLE) return sizeof(double);
  if (type == MPI_BYTE || type == MPI_CHAR) return 1;
  if (type == MPI_INT) return sizeof(int);
  if (type == MPI_FLOAT) return sizeof(float);
  return size_of(type);
}
// What is known of a type. Shoal asks the MPI once, and keeps the answer until the type is freed. What is no type has
// no bytes and is not committed.
const datatype& known(MPI_Datatype type);
// Describes the elements of a buffer whose base is set, and may be on a device. MPI_DATATYPE_NULL has no bytes.
void describe(MPI_Datatype type, user_buffer& buffer, const device_runtimes& devices);
// The same for `blocks` blocks, whose counts are set too. `storage` must stay as long as `buffer`.
void describe(const type_list& types, int blocks, std::vector<element_type>& storage, user_buffer& buffer,
              const device_runtimes& devices);

}  // namespace shoal
