#include "calls/mpi_datatype.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <mutex>
#include <vector>

#include "transport/mpi_error.hpp"
#include "transport/mpi_newer.hpp"

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

// How a type was made, and from how much. Types made with wide counts can be asked about only with wide counts.
struct envelope {
  MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
  int combiner = MPI_COMBINER_NAMED;

  // Fortran's types of a precision have no name, but may not be freed either.
  bool predefined() const {
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
  }
  bool repeats_one_type() const {
    return combiner == MPI_COMBINER_DUP || combiner == MPI_COMBINER_CONTIGUOUS || combiner == MPI_COMBINER_VECTOR ||
           combiner == MPI_COMBINER_HVECTOR || combiner == MPI_COMBINER_RESIZED;
  }
};

envelope envelope_of(MPI_Datatype type) {
  envelope e;
  if (PMPI_Type_get_envelope_c) {
    require(PMPI_Type_get_envelope_c(type, &e.integers, &e.addresses, &e.counts, &e.types, &e.combiner),
            "MPI_Type_get_envelope_c");
    return e;
  }
  int integers, addresses, types, combiner;
  require(PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner), "MPI_Type_get_envelope");
  return {integers, addresses, 0, types, combiner};
}

// What a type was made from.
class contents {
 public:
  contents(MPI_Datatype type, const envelope& e)
      : integers_(e.integers), addresses_(e.addresses), counts_(e.counts), types_(e.types) {
    e.counts > 0 ? get_wide(type) : get(type);
    std::copy_if(types_.begin(), types_.end(), std::back_inserter(own_),
                 [](MPI_Datatype part) { return !envelope_of(part).predefined(); });
  }
  ~contents() {
    for (MPI_Datatype& part : own_) PMPI_Type_free(&part);
  }
  contents(const contents&) = delete;
  contents& operator=(const contents&) = delete;

  const std::vector<MPI_Datatype>& types() const { return types_; }

  // Of a structure: how often it has a type, and from where on.
  MPI_Count times(std::size_t part) const { return counts_.empty() ? integers_[1 + part] : counts_[1 + part]; }
  MPI_Count begin(std::size_t part) const {
    return counts_.empty() ? addresses_[part] : counts_[1 + types_.size() + part];
  }

 private:
  void get(MPI_Datatype type) {
    require(PMPI_Type_get_contents(type, static_cast<int>(integers_.size()), static_cast<int>(addresses_.size()),
                                   static_cast<int>(types_.size()), integers_.data(), addresses_.data(), types_.data()),
            "MPI_Type_get_contents");
  }
  void get_wide(MPI_Datatype type) {
    const auto size = [](const auto& of) { return static_cast<MPI_Count>(of.size()); };
    require(PMPI_Type_get_contents_c(type, size(integers_), size(addresses_), size(counts_), size(types_),
                                     integers_.data(), addresses_.data(), counts_.data(), types_.data()),
            "MPI_Type_get_contents_c");
  }

  std::vector<int> integers_;
  std::vector<MPI_Aint> addresses_;
  std::vector<MPI_Count> counts_;
  std::vector<MPI_Datatype> types_, own_;
};

// Whether a structure lists its bytes as memory has them.
bool in_order(const contents& structure) {
  MPI_Count end = 0;
  for (std::size_t part = 0; part < structure.types().size(); ++part) {
    const MPI_Datatype type = structure.types()[part];
    const MPI_Count bytes = structure.times(part) * measure(type).size;
    if (bytes > 0 && (structure.begin(part) != end || !is_plain(type))) return false;
    end += bytes;
  }
  return true;
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

// Packs elements of more than 2^31 - 1 bytes with an MPI that counts them in an int: a message to oneself that is sent
// with the elements' type is received as packed bytes, and the other way around.
class message_to_self {
 public:
  explicit message_to_self(std::int64_t bytes) : alone_(in_use) {
    MPI_Group self;
    require(PMPI_Comm_group(MPI_COMM_SELF, &self), "MPI_Comm_group");
    require(PMPI_Comm_create(MPI_COMM_SELF, self, &comm_), "MPI_Comm_create");
    PMPI_Group_free(&self);
    PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    constexpr std::int64_t chunk = 1 << 30;
    const int once[2] = {1, 1};
    const MPI_Aint places[2] = {0, static_cast<MPI_Aint>(bytes / chunk * chunk)};
    MPI_Datatype one, parts[2];
    PMPI_Type_contiguous(chunk, MPI_PACKED, &one);
    PMPI_Type_contiguous(static_cast<int>(bytes / chunk), one, &parts[0]);
    PMPI_Type_contiguous(static_cast<int>(bytes % chunk), MPI_PACKED, &parts[1]);
    require(PMPI_Type_create_struct(2, once, places, parts, &packed_), "MPI_Type_create_struct");
    for (MPI_Datatype* type : {&one, &parts[0], &parts[1]}) PMPI_Type_free(type);
    require(PMPI_Type_commit(&packed_), "MPI_Type_commit");
  }
  ~message_to_self() {
    PMPI_Type_free(&packed_);
    PMPI_Comm_free(&comm_);
  }
  message_to_self(const message_to_self&) = delete;
  message_to_self& operator=(const message_to_self&) = delete;

  void pack(const elements& from, std::byte* out) const { send(from.at(), from.count(), from.type(), out, 1, packed_); }
  void unpack(const std::byte* in, const elements& to) const { send(in, 1, packed_, to.at(), to.count(), to.type()); }

 private:
  void send(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type) const {
    require(PMPI_Sendrecv(from, count, type, 0, 0, to, to_count, to_type, 0, 0, comm_, MPI_STATUS_IGNORE),
            "a message to oneself");
  }

  static inline std::mutex in_use;
  std::scoped_lock<std::mutex> alone_;  // of the threads
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Datatype packed_ = MPI_DATATYPE_NULL;
};

void pack_elements(const elements& from, std::byte* out, std::int64_t bytes, MPI_Comm comm) {
  int position = 0;
  MPI_Count wide_position = 0;
  if (bytes <= std::numeric_limits<int>::max())
    require(PMPI_Pack(from.at(), from.count(), from.type(), out, static_cast<int>(bytes), &position, comm), "MPI_Pack");
  else if (PMPI_Pack_c)
    require(PMPI_Pack_c(from.at(), from.count(), from.type(), out, bytes, &wide_position, comm), "MPI_Pack_c");
  else message_to_self(bytes).pack(from, out);
}

void unpack_elements(const std::byte* in, const elements& to, std::int64_t bytes, MPI_Comm comm) {
  int position = 0;
  MPI_Count wide_position = 0;
  if (bytes <= std::numeric_limits<int>::max())
    require(PMPI_Unpack(in, static_cast<int>(bytes), &position, to.at(), to.count(), to.type(), comm), "MPI_Unpack");
  else if (PMPI_Unpack_c)
    require(PMPI_Unpack_c(in, bytes, &wide_position, to.at(), to.count(), to.type(), comm), "MPI_Unpack_c");
  else message_to_self(bytes).unpack(in, to);
}

}  // namespace

// Equal size and extents are not enough: a type may list its bytes in another order than memory has them. One type that
// is repeated without gaps and overlaps does not, and large ones are often a structure of such.
bool is_plain(MPI_Datatype type) {
  const type_extent e = measure(type);
  if (e.size != e.extent || e.size != e.true_extent || e.lower != 0 || e.true_lower != 0) return false;
  const envelope made = envelope_of(type);
  if (made.combiner == MPI_COMBINER_NAMED) return true;
  if (!made.repeats_one_type() && made.combiner != MPI_COMBINER_STRUCT) return false;
  const contents of(type, made);
  return made.combiner == MPI_COMBINER_STRUCT ? in_order(of) : is_plain(of.types().front());
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
    if (envelope_of(type).combiner == MPI_COMBINER_NAMED) {
      named = type;
      named_bytes = e.size;
    }
    return;
  }
  storage = mpi_packer(type, e.size, e.extent, comm);
  buffer.layout = &storage;
}

// As many as most MPIs pack with counts that are ints; one at least.
std::int64_t mpi_packer::elements_at_once() const {
  constexpr std::int64_t most_bytes = 1 << 30;
  return std::max<std::int64_t>(1, most_bytes / std::max<std::int64_t>(1, type_size_));
}

void mpi_packer::pack(const std::byte* block, std::int64_t count, std::byte* out) const {
  if (type_size_ == 0) return;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t now = std::min(count - done, elements_at_once());
    pack_elements({block + done * extent_, static_cast<int>(now), type_}, out, now * type_size_, comm_);
    out += now * type_size_;
    done += now;
  }
}

void mpi_packer::unpack(const std::byte* in, std::byte* block, std::int64_t count) const {
  if (type_size_ == 0) return;
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t now = std::min(count - done, elements_at_once());
    unpack_elements(in, {block + done * extent_, static_cast<int>(now), type_}, now * type_size_, comm_);
    in += now * type_size_;
    done += now;
  }
}

}  // namespace shoal
