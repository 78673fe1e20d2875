#include "calls/mpi_datatype.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "team/rank_communicator.hpp"
#include "transport/mpi_error.hpp"
#include "transport/mpi_long_type.hpp"
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

// How a type was made, and from how many values. Types made with wide counts can be asked about only with wide counts.
struct envelope {
  MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
  int combiner = MPI_COMBINER_NAMED;

  // Fortran's types of a given precision, and types of a value with an index, may have no name, but may not be freed
  // either.
  bool predefined() const {
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION > 0)
    if (combiner == MPI_COMBINER_VALUE_INDEX) return true;
#endif
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
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

  // A number that is an int, or a count in a type made with wide counts.
  MPI_Count number(std::size_t i) const { return counts_.empty() ? integers_[i] : counts_[i]; }
  // What is an address in a type with narrow counts. In a type with wide counts it is a count, after `numbers` others.
  MPI_Count address(std::size_t i, std::size_t numbers) const {
    return counts_.empty() ? addresses_[i] : counts_[numbers + i];
  }
  std::size_t integers() const { return integers_.size(); }
  int integer(std::size_t i) const { return integers_[i]; }

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

// An element of a type as a few loops of runs of bytes. Nothing if it is not that.
std::optional<strided> runs_of(MPI_Datatype type);

std::optional<strided> repeated(const std::optional<strided>& of, MPI_Count times, MPI_Count stride) {
  return of ? of->repeated(times, stride) : std::nullopt;
}

// `times` blocks of `length` elements of a type, each `stride` bytes after the one before.
struct block_list {
  MPI_Datatype type;
  MPI_Count times, stride, length;
};

std::optional<strided> runs_of_blocks(const block_list& all) {
  return repeated(repeated(runs_of(all.type), all.length, measure(all.type).extent), all.times, all.stride);
}

// Takes the dimensions in the order of memory: in C the first dimension changes last.
std::optional<strided> runs_of_subarray(const contents& of) {
  const bool wide = of.integers() == 2;
  const auto dimensions = static_cast<std::size_t>(of.integer(0));
  const bool in_c = of.integer(of.integers() - 1) == MPI_ORDER_C;
  const auto number = [&](std::size_t which, std::size_t d) { return of.number(!wide + which * dimensions + d); };
  const MPI_Datatype type = of.types().front();
  std::optional<strided> runs = runs_of(type);
  MPI_Count stride = measure(type).extent, begin = 0;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::size_t d = in_c ? dimensions - 1 - i : i;
    runs = repeated(runs, number(1, d), stride);
    begin += number(2, d) * stride;
    stride *= number(0, d);
  }
  return runs ? std::optional(runs->moved(begin)) : std::nullopt;
}

// Only if all bytes of the structure are one run, as in most large types.
std::optional<strided> runs_of_structure(const contents& of) {
  const auto parts = static_cast<std::size_t>(of.number(0));
  std::optional<strided> all;
  for (std::size_t part = 0; part < parts; ++part) {
    if (of.number(1 + part) == 0) continue;
    const MPI_Datatype type = of.types()[part];
    const auto runs = repeated(runs_of(type), of.number(1 + part), measure(type).extent);
    if (!runs || !runs->is_run()) return std::nullopt;
    if (runs->bytes() == 0) continue;
    const strided here = runs->moved(of.address(part, 1 + parts));
    if (all && here.begin() != all->begin() + all->bytes()) return std::nullopt;
    all = all ? strided::run(all->bytes() + here.bytes()).moved(all->begin()) : here;
  }
  return all ? all : strided::run(0);
}

bool is_looked_into(int combiner) {
  constexpr int all[] = {MPI_COMBINER_DUP,     MPI_COMBINER_RESIZED,  MPI_COMBINER_CONTIGUOUS, MPI_COMBINER_VECTOR,
                         MPI_COMBINER_HVECTOR, MPI_COMBINER_SUBARRAY, MPI_COMBINER_STRUCT};
  return std::find(std::begin(all), std::end(all), combiner) != std::end(all);
}

std::optional<strided> runs_of_made(MPI_Datatype type, const envelope& made) {
  if (!is_looked_into(made.combiner)) return std::nullopt;
  const contents of(type, made);
  const auto extent = [&] { return measure(of.types().front()).extent; };
  switch (made.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: return runs_of(of.types().front());
    case MPI_COMBINER_CONTIGUOUS: return repeated(runs_of(of.types().front()), of.number(0), extent());
    case MPI_COMBINER_VECTOR:
      return runs_of_blocks({of.types().front(), of.number(0), of.number(2) * extent(), of.number(1)});
    case MPI_COMBINER_HVECTOR:
      return runs_of_blocks({of.types().front(), of.number(0), of.address(0, 2), of.number(1)});
    case MPI_COMBINER_SUBARRAY: return runs_of_subarray(of);
    case MPI_COMBINER_STRUCT: return runs_of_structure(of);
    default: return std::nullopt;
  }
}

std::optional<strided> runs_of(MPI_Datatype type) {
  const envelope made = envelope_of(type);
  if (!made.predefined()) return runs_of_made(type, made);
  const type_extent e = measure(type);
  const bool dense = e.size == e.extent && e.size == e.true_extent && e.lower == 0 && e.true_lower == 0;
  return dense ? std::optional(strided::run(e.size)) : std::nullopt;
}

// `count` elements of a type at an address. MPICH's MPI_Pack and MPI_Unpack refuse the null address. But it is
// MPI_BOTTOM, and right for a type of absolute addresses. So both the address and the type are then moved.
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

// Packs elements of more than 2^31 - 1 bytes if the MPI counts the bytes in an int. The rank sends itself a message
// with the elements' type and receives it as packed bytes. To unpack, it does this the other way around.
class message_to_self {
 public:
  explicit message_to_self(std::int64_t bytes) : alone_(in_use), packed_(static_cast<std::size_t>(bytes), MPI_PACKED) {
    MPI_Group self;
    require(PMPI_Comm_group(MPI_COMM_SELF, &self), "MPI_Comm_group");
    require(PMPI_Comm_create(MPI_COMM_SELF, self, &comm_), "MPI_Comm_create");
    PMPI_Group_free(&self);
    PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ~message_to_self() { PMPI_Comm_free(&comm_); }
  message_to_self(const message_to_self&) = delete;
  message_to_self& operator=(const message_to_self&) = delete;

  void pack(const elements& from, std::byte* out) const {
    send(from.at(), from.count(), from.type(), out, 1, packed_.get());
  }
  void unpack(const std::byte* in, const elements& to) const {
    send(in, 1, packed_.get(), to.at(), to.count(), to.type());
  }

 private:
  void send(const void* from, int count, MPI_Datatype type, void* to, int to_count, MPI_Datatype to_type) const {
    require(PMPI_Sendrecv(from, count, type, 0, 0, to, to_count, to_type, 0, 0, comm_, MPI_STATUS_IGNORE),
            "a message to oneself");
  }

  static inline std::mutex in_use;
  std::scoped_lock<std::mutex> alone_;  // one thread at a time
  MPI_Comm comm_ = MPI_COMM_NULL;
  mpi_long_type packed_;
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

// Whether messages can have the type. The program handles errors on MPI_COMM_SELF, so Shoal looks on a communicator of
// its own. If the MPI has no more communicators, Shoal does not look, and returns true.
bool can_be_sent(MPI_Datatype type, MPI_Comm own) {
  static const char nothing = 0;  // never read, as the message goes to nobody
  try {
    const MPI_Comm over = own == MPI_COMM_SELF ? rank_communicator() : own;
    return PMPI_Send(&nothing, 1, type, MPI_PROC_NULL, 0, over) == MPI_SUCCESS;
  } catch (const mpi_error&) {
    return true;
  }
}

// The MPI calls this when a type is freed, to delete what hangs on it.
int forget(MPI_Datatype, int, void* kept, void*);

// What is known of types. It hangs on them as attributes, and each thread also remembers the last types. A handle may
// come back as another type's, so a thread forgets what it remembers once any type has been freed.
class known_types {
 public:
  static known_types& get() {
    static auto& all = *new known_types;  // never destroyed: MPI may outlive static objects
    return all;
  }
  const datatype& find(MPI_Datatype type) {
    thread_local std::array<entry, 64> last;
    entry& here = last[std::hash<MPI_Datatype>()(type) * 0x9E3779B97F4A7C15u >> 58];
    const std::uint64_t number = freed_.load(std::memory_order_acquire);
    if (here.known && here.type == type && here.freed == number) return *here.known;
    if (!is_type(type)) return none_;
    here = {type, ask(type), number};
    return *here.known;
  }
  void freed() { freed_.fetch_add(1, std::memory_order_acq_rel); }

 private:
  struct entry {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const datatype* known = nullptr;
    std::uint64_t freed = 0;
  };
  const datatype* ask(MPI_Datatype type) {
    const std::scoped_lock alone(lock_);
    if (key_ == MPI_KEYVAL_INVALID)
      require(PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &key_, nullptr), "MPI_Type_create_keyval");
    void* kept = nullptr;
    int found = 0;
    require(PMPI_Type_get_attr(type, key_, &kept, &found), "MPI_Type_get_attr");
    if (found) return static_cast<const datatype*>(kept);
    auto made = std::make_unique<datatype>(type);
    require(PMPI_Type_set_attr(type, key_, made.get()), "MPI_Type_set_attr");
    return made.release();
  }

  const datatype none_;
  std::mutex lock_;
  int key_ = MPI_KEYVAL_INVALID;
  std::atomic<std::uint64_t> freed_ = 0;
};

int forget(MPI_Datatype, int, void* kept, void*) {
  known_types::get().freed();
  delete static_cast<const datatype*>(kept);
  return MPI_SUCCESS;
}

}  // namespace

datatype::datatype(MPI_Datatype type) : type_(type) {
  const type_extent e = measure(type);
  size_ = e.size;
  extent_ = e.extent;
  true_lower_ = e.true_lower;
  runs_ = runs_of(type);
  is_committed_ = envelope_of(type).combiner == MPI_COMBINER_NAMED;
}

bool datatype::is_committed(MPI_Comm own) const {
  if (!is_committed_) is_committed_ = can_be_sent(type_, own);
  return is_committed_;
}

element_type datatype::element(std::int64_t count, bool is_on_device) const {
  if (is_on_device) return {size_, 0, &by_mpi_};
  return is_run(count) ? element_type{size_, begin(), nullptr} : element_type{size_, 0, this};
}

// If MPICH and its kin are asked about what is no type, they call the error handler of MPI_COMM_WORLD or MPI_COMM_SELF,
// which ends most programs. So Shoal looks first: their handles are numbers that tell what they stand for.
bool is_type(MPI_Datatype type) {
  constexpr std::uint32_t kind = 30, object = 26, of_types = 3;  // bits: MPICH's src/include/mpir_objects.h
  const auto handle = (std::uintptr_t)type;                      // NOLINT: an integer, or a pointer
  const auto bits = static_cast<std::uint32_t>(handle);
  if (sizeof type > sizeof bits) return type != MPI_DATATYPE_NULL;
  return bits >> kind != 0 && (bits >> object & 0xF) == of_types;
}

bool is_of_mpi(MPI_Datatype type) {
  int combiner = MPI_COMBINER_NAMED;
  if (PMPI_Type_get_envelope_c) {  // knows types with wide counts too, unlike the other
    MPI_Count numbers[4];
    PMPI_Type_get_envelope_c(type, &numbers[0], &numbers[1], &numbers[2], &numbers[3], &combiner);
  } else {
    int numbers[3];
    PMPI_Type_get_envelope(type, &numbers[0], &numbers[1], &numbers[2], &combiner);
  }
  return combiner == MPI_COMBINER_NAMED;
}

std::int64_t size_of(MPI_Datatype type) {
  MPI_Count size = 0;
  if (is_type(type)) PMPI_Type_size_x(type, &size);
  return std::max<MPI_Count>(0, size);
}

const datatype& known(MPI_Datatype type) { return known_types::get().find(type); }

void describe(MPI_Datatype type, user_buffer& buffer, const device_runtimes& devices) {
  if (type == MPI_DATATYPE_NULL) {
    buffer.type.size = buffer.extent = 0;
    return;
  }
  const datatype& is = known(type);
  buffer.type = is.element(2, devices.may_own_blocks(buffer.base));
  buffer.extent = is.extent();
}

void describe(const type_list& types, int blocks, std::vector<element_type>& storage, user_buffer& buffer,
              const device_runtimes& devices) {
  if (!types.differ()) return describe(types[0], buffer, devices);
  storage.clear();
  const bool is_on_device = devices.may_own_blocks(buffer.base);
  for (int i = 0; i < blocks; ++i) {
    const bool is_none = types[i] == MPI_DATATYPE_NULL || buffer.counts[i] <= 0;
    storage.push_back(is_none ? element_type{0, 0, nullptr} : known(types[i]).element(buffer.counts[i], is_on_device));
  }
  buffer.types = storage.data();
  buffer.extent = 1;
}

// As many elements as most MPIs can pack with int counts, but at least one.
std::int64_t datatype::elements_at_once() const {
  constexpr std::int64_t most_bytes = 1 << 30;
  return std::max<std::int64_t>(1, most_bytes / std::max<std::int64_t>(1, size_));
}

void datatype::pack(const std::byte* block, std::int64_t count, std::byte* out) const {
  if (size_ == 0) return;
  if (!runs_) return by_mpi_.pack(block, count, out);
  for (std::int64_t i = 0; i < count; ++i) runs_->pack(block + i * extent_, out + i * size_);
}

void datatype::unpack(const std::byte* in, std::byte* block, std::int64_t count) const {
  if (size_ == 0) return;
  if (!runs_) return by_mpi_.unpack(in, block, count);
  for (std::int64_t i = 0; i < count; ++i) runs_->unpack(in + i * size_, block + i * extent_);
}

void datatype::pack_by_mpi(const std::byte* block, std::int64_t count, std::byte* out) const {
  for (std::int64_t done = 0; size_ > 0 && done < count;) {
    const std::int64_t now = std::min(count - done, elements_at_once());
    pack_elements({block + done * extent_, static_cast<int>(now), type_}, out, now * size_, MPI_COMM_SELF);
    out += now * size_;
    done += now;
  }
}

void datatype::unpack_by_mpi(const std::byte* in, std::byte* block, std::int64_t count) const {
  for (std::int64_t done = 0; size_ > 0 && done < count;) {
    const std::int64_t now = std::min(count - done, elements_at_once());
    unpack_elements(in, {block + done * extent_, static_cast<int>(now), type_}, now * size_, MPI_COMM_SELF);
    in += now * size_;
    done += now;
  }
}

}  // namespace shoal
