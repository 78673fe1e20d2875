// shoal_exchange() of shoal.h: blocks to whom a rank likes.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calls/arguments.hpp"
#include "calls/mpi_datatype.hpp"
#include "calls/process.hpp"
#include "team/boundary.hpp"
#include "team/devices.hpp"
#include "shoal/shoal.h"

using namespace shoal;

namespace {

// What a caller gets, and what it lies in.
struct kept_arrivals : shoal_arrivals {
  arrived_blocks kept;
  std::vector<MPI_Count> kept_counts, kept_displacements;
};

struct sparse_call {
  int blocks;
  const int* destinations;
  const void* send;
  const MPI_Count* counts;
  const MPI_Aint* displacements;
  MPI_Datatype type;
};

struct wrong_argument {
  int error_class;
  const char* text;
};

// What the MPI would refuse in a send.
std::optional<wrong_argument> find_wrong(const sparse_call& call, const user_buffer& from, const sparse_ranks& of,
                                         bool devices) {
  if (call.blocks < 0) return {{MPI_ERR_COUNT, "a negative number of blocks"}};
  if (call.blocks > 0 && (!call.destinations || !call.counts || !call.displacements))
    return {{MPI_ERR_ARG, "no destinations, counts or displacements"}};
  for (int i = 0; i < call.blocks; ++i) {
    const int to = call.destinations[i];
    if (to != MPI_PROC_NULL && (to < 0 || to >= of.ranks())) return {{MPI_ERR_RANK, "no such rank to send a block to"}};
    if (call.counts[i] < 0) return {{MPI_ERR_COUNT, "a negative count"}};
  }
  if (call.type == MPI_DATATYPE_NULL) return {{MPI_ERR_TYPE, "no datatype"}};
  if (!is_valid(from, call.type, call.blocks, of.own()))
    return {{MPI_ERR_BUFFER, "a send buffer or a datatype that nothing can be sent with"}};
  if (devices && is_device_memory(call.send)) return {{MPI_ERR_BUFFER, "a send buffer in the memory of a device"}};
  return {};
}

// The blocks to send; those of types with gaps are put into `packed`.
std::vector<outgoing_block> outgoing(const sparse_call& call, const user_buffer& from, std::vector<std::byte>& packed) {
  std::vector<outgoing_block> all;
  std::size_t total = 0;
  for (int i = 0; i < call.blocks; ++i) {
    if (call.destinations[i] == MPI_PROC_NULL) continue;
    all.push_back({call.destinations[i], from.block(i), from.bytes(i)});
    total += from.bytes(i);
  }
  if (!from.type.layout) return all;
  packed.resize(total);
  std::byte* at = packed.data();
  auto next = all.begin();
  for (int i = 0; i < call.blocks; ++i) {
    if (call.destinations[i] == MPI_PROC_NULL) continue;
    from.pack(i, at);
    next->data = at;
    at += next++->bytes;
  }
  return all;
}

// For the caller, counted in elements of `type_size` bytes. Throws where a block is not a whole number of elements.
shoal_arrivals* hand_out(arrived_blocks blocks, std::int64_t type_size) {
  auto out = std::make_unique<kept_arrivals>();
  out->kept = std::move(blocks);
  const auto size = static_cast<std::size_t>(type_size);
  MPI_Count at = 0;
  for (const std::size_t bytes : out->kept.bytes) {
    if (size == 0 ? bytes > 0 : bytes % size != 0) throw size_mismatch();
    out->kept_counts.push_back(size == 0 ? 0 : static_cast<MPI_Count>(bytes / size));
    out->kept_displacements.push_back(at);
    at += out->kept_counts.back();
  }
  out->blocks = static_cast<int>(out->kept.bytes.size());
  out->sources = out->kept.sources.data();
  out->counts = out->kept_counts.data();
  out->displs = out->kept_displacements.data();
  out->data = out->kept.data.get();
  return out.release();
}

// Where this rank's arguments are wrong it takes part all the same, and says so.
int exchange_with(sparse_ranks& of, const sparse_call& call, MPI_Comm comm, shoal_arrivals** arrivals) {
  const std::scoped_lock alone(of.lock());
  user_buffer from;
  describe(call.type, from);
  from.base = static_cast<std::byte*>(const_cast<void*>(call.send));
  from.counts = number_array(call.counts);
  from.displacements = number_array(call.displacements);
  std::optional<wrong_argument> wrong = find_wrong(call, from, of, process::get().facts().devices);
  if (!arrivals) wrong = {MPI_ERR_ARG, "no place for what arrives"};
  std::vector<std::byte> packed;
  std::vector<outgoing_block> blocks;
  if (!wrong) blocks = outgoing(call, from, packed);
  arrived_blocks arrived;
  const bool done = of.exchange(blocks, wrong.has_value(), arrived);
  if (wrong) return raise_error(comm, wrong->error_class, wrong->text);
  if (!done) return raise_error(comm, MPI_ERR_OTHER, "another rank's arguments are wrong; nothing was exchanged");
  *arrivals = hand_out(std::move(arrived), from.type.size);
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

int shoal_exchange(int blocks, const int* destinations, const void* sendbuf, const MPI_Count* counts,
                   const MPI_Aint* displs, MPI_Datatype datatype, MPI_Comm comm, shoal_arrivals** arrivals) {
  if (arrivals) *arrivals = nullptr;
  return returning_codes(comm, [&]() -> int {
    if (comm == MPI_COMM_NULL) return raise_error(comm, MPI_ERR_COMM, "no communicator");
    if (between_groups(comm)) return raise_error(comm, MPI_ERR_COMM, "shoal_exchange is among the ranks of one group");
    std::string why;
    sparse_ranks* const of = process::get().sparse_of(comm, why);
    if (!of) return raise_error(comm, MPI_ERR_OTHER, why.c_str());
    return exchange_with(*of, {blocks, destinations, sendbuf, counts, displs, datatype}, comm, arrivals);
  });
}

int shoal_arrivals_free(shoal_arrivals** arrivals) {
  if (!arrivals) return MPI_ERR_ARG;
  delete static_cast<kept_arrivals*>(*arrivals);
  *arrivals = nullptr;
  return MPI_SUCCESS;
}

}  // extern "C"
