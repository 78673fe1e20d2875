#include "calls/alltoall_service.hpp"

#include <algorithm>

#include "calls/arguments.hpp"
#include "calls/process.hpp"
#include "calls/verification.hpp"
#include "select/knowledge.hpp"
#include "team/boundary.hpp"
#include "team/devices.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

// If nobody asks for an algorithm any more, the MPI's own collective serves.
const decision* alltoall_service::pick(MPI_Info info) {
  const decision* chosen = state_.named().of_call(call_.form(), info);
  return chosen ? fit(*chosen) : nullptr;
}

const decision* alltoall_service::fit(const decision& chosen) {
  if (!chosen.algorithm->steps) return &chosen;
  describe();
  features sizes = local_features();
  if (!ranks_ask(*chosen.algorithm)) return sizes.invalid ? leave_to_mpi(&chosen) : &chosen;
  return agree_on_sizes(sizes) ? fitted(&chosen, sizes) : nullptr;
}

// Whether the ranks ask each other in such an exchange. Then a rank whose arguments are wrong has to answer too.
bool alltoall_service::ranks_ask(const prepared& algorithm) const {
  return ranks_.facts().devices || state_.limit().is_set() || process::get().set().verify ||
         (algorithm.looks_at_sizes && !call_.uniform);
}

const decision* alltoall_service::plan(MPI_Info info) {
  const decision* chosen = state_.named().of_call(call_.form(), info);
  describe();
  features sizes = local_features();
  if (!agree_on_sizes(sizes)) return nullptr;
  const int size = size_class(collective::alltoall, static_cast<double>(sizes.most_loaded), ranks_.ranks());
  if (!chosen) chosen = state_.settled(call_.form(), size);
  most_bytes_ = static_cast<std::size_t>(sizes.most_loaded);
  return chosen ? fitted(chosen, sizes) : nullptr;
}

// Messages through memory match in the order in which the two ranks start them. A schedule with several messages
// between two ranks either keeps to one order, or tells them apart only by tags and cannot use memory.
void alltoall_service::share(team_exchange& moving, const prepared& algorithm) {
  const linked_schedule& s = steps(algorithm);
  if (!agree().on_any_rank(!s.shared_memory && !s.one_message_each_way)) moving.share(most_bytes_);
}

const decision* alltoall_service::pick_without_asking() {
  if (!ranks_.is_open()) return nullptr;
  describe();
  if (ranks_.facts().devices || state_.limit().is_set()) return nullptr;
  const decision* chosen = state_.named().standing(call_.form());
  if (!chosen || !local_features().invalid) return chosen;
  if (chosen->algorithm->has_schedule() && !call_.is_awaited())
    ranks_.turns().skip();  // enough, as such exchanges share no memory
  return nullptr;
}

// This rank's arguments are wrong, and the MPI's own collective reports that. If nobody waits for this rank, the others
// have gone on with the exchange, so this rank takes part without blocks.
const decision* alltoall_service::leave_to_mpi(const decision* chosen) {
  if (chosen->algorithm->has_schedule() && !call_.is_awaited())
    ranks_.run_without_blocks(*chosen->algorithm->steps, call_.uniform);
  return nullptr;
}

const decision* alltoall_service::fitted(const decision* chosen, const features& agreed) {
  chosen = within_limit(chosen);
  if (!call_.uniform && chosen->algorithm->looks_at_sizes) fit_to_sizes(*chosen->algorithm, agreed);
  return chosen;
}

void alltoall_service::fit_to_sizes(const prepared& algorithm, const features& agreed) {
  if (agreed.is_uniform()) return;
  std::vector<std::int64_t> sent;
  for (int i = 0; i < ranks_.ranks(); ++i) sent.push_back(call_.bytes_to(i));
  sized_ = state_.for_sizes().make(algorithm, sent, agreed.largest_block);
}

// If nothing is limited, calls of a microsecond must not look at every block.
const decision* alltoall_service::within_limit(const decision* chosen) const {
  const bool limited = chosen->algorithm->steps && state_.limit().is_set();
  return limited ? state_.limit().keep(chosen, call_.uniform, scratch_needs()) : chosen;
}

// What this rank packs or copies, whatever the algorithm.
scratch_limit::needs alltoall_service::scratch_needs() const {
  scratch_limit::needs mine;
  std::int64_t sent = 0, received = 0;
  bool packs_sent = false, packs_received = false;
  for (int i = 0; i < ranks_.ranks(); ++i) {
    const std::int64_t out = call_.bytes_to(i), in = static_cast<std::int64_t>(what_.recv.bytes(i));
    sent += out;
    received += in;
    packs_sent = packs_sent || call_.in_place() || what_.send.packs(i);
    packs_received = packs_received || what_.recv.packs(i);
    mine.largest_block = std::max({mine.largest_block, out, in});
  }
  const std::int64_t unused = ranks_.ranks() * memory_pool::smallest;  // if blocks are packed one by one
  if (packs_sent) mine.packed += (call_.in_place() ? received : sent) + unused;
  if (packs_received) mine.packed += received + unused;
  return mine;
}

// Replaces what this rank knows of the sizes by what all ranks agree on. Returns false if the MPI's own collective must
// serve. Throws if another rank's arguments are wrong.
bool alltoall_service::agree_on_sizes(features& sizes) {
  const bool wrong = sizes.invalid;
  sizes = agree_on(sizes, ranks_.agree());
  meets_others_ = true;
  if (sizes.on_device || wrong) return false;
  if (sizes.invalid) throw mpi_error(MPI_ERR_OTHER, "another rank's arguments are wrong");
  if (sizes.is_uniform()) what_.uniform = what_.recv.bytes(0);
  return true;
}

const payload& alltoall_service::blocks() {
  if (call_.in_place()) take_snapshot();
  return what_;
}

void alltoall_service::verify(native_call native) {
  const std::vector<std::byte> shoals = packed(what_.recv, ranks_.ranks());
  if (call_.in_place()) restore();
  require_of_mpi("the MPI's own collective", native);
  require_equal(shoals, packed(what_.recv, ranks_.ranks()), ranks_.rank());
  state_.verified.add(static_cast<std::int64_t>(shoals.size()), 0);
}

void describe_received(const alltoall_call& call, int blocks, block_storage& storage, payload& what) {
  what.recv.base = static_cast<std::byte*>(call.recv);
  what.recv.counts = call.recv_counts;
  what.recv.displacements = call.recv_displacements;
  describe(call.recv_type, blocks, storage.received, what.recv, device_runtimes::loaded());
}

void describe_sent(const alltoall_call& call, int blocks, block_storage& storage, payload& what) {
  what.send.base = static_cast<std::byte*>(const_cast<void*>(call.send));
  what.send.counts = call.send_counts;
  what.send.displacements = call.send_displacements;
  describe(call.send_type, blocks, storage.sent, what.send, device_runtimes::loaded());
}

#ifdef OPEN_MPI
// Open MPI refuses a call if the rank sends itself another number of bytes than it receives from itself.
static bool do_sides_match(const alltoall_call& call, const payload& what) {
  int own = 0;
  require(PMPI_Comm_rank(call.comm, &own), "MPI_Comm_rank");
  return what.send.bytes(own) == what.recv.bytes(own);
}
#else
// MPICH and its kin refuse one buffer for sending and receiving if the same arguments describe both sides.
static bool do_sides_match(const alltoall_call& call, const payload& what) {
  const bool some = !call.uniform || what.recv.counts[0] != 0;
  return call.send != call.recv || !call.are_sides_alike() || !some;
}
#endif

static bool are_valid(const alltoall_call& call, const payload& what, int blocks, MPI_Comm own) {
  if (!is_valid(what.recv, call.recv_type, blocks, own)) return false;
  return call.in_place() || (is_valid(what.send, call.send_type, blocks, own) && do_sides_match(call, what));
}

bool alltoall_call::is_valid() const {
  int ranks = 0;
  require(PMPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  block_storage storage;
  payload what;
  describe_received(*this, ranks, storage, what);
  if (!in_place()) describe_sent(*this, ranks, storage, what);
  return !lacks_request && are_valid(*this, what, ranks, MPI_COMM_SELF);
}

void alltoall_service::describe() {
  describe_received(call_, ranks_.ranks(), storage_, what_);
  if (call_.uniform) what_.uniform = what_.recv.bytes(0);
  if (!call_.in_place()) describe_sent(call_, ranks_.ranks(), storage_, what_);
}

features alltoall_service::local_features() const {
  features mine;
  mine.ranks = ranks_.ranks();
  const user_buffer& b = call_.in_place() ? what_.recv : what_.send;
  std::int64_t received = 0;
  for (int i = 0; i < ranks_.ranks(); ++i) {
    const std::int64_t bytes = std::max<std::int64_t>(0, b.counts[i]) * b.type_of(i).size;
    mine.total_bytes += bytes;
    mine.largest_block = std::max(mine.largest_block, bytes);
    mine.nonempty_blocks += bytes > 0;
    received += what_.recv.counts[i] * what_.recv.type_of(i).size;
  }
  mine.most_loaded = std::max(mine.total_bytes, received);
  const MPI_Comm some = ranks_.is_open() ? ranks_.own().get() : MPI_COMM_SELF;  // opened() would make one
  mine.invalid = call_.lacks_request || !are_valid(call_, what_, ranks_.ranks(), some);
  mine.on_device = ranks_.facts().devices &&
                   (may_be_device_memory(call_.recv) || (!call_.in_place() && may_be_device_memory(call_.send)));
  return mine;
}

// With MPI_IN_PLACE the blocks to send lie where others arrive, so they are copied first.
void alltoall_service::take_snapshot() {
  const int ranks = ranks_.ranks();
  std::vector<std::int64_t>& at = storage_.offsets;
  at.assign(static_cast<std::size_t>(ranks) + 1, 0);
  storage_.bytes.clear();
  for (int i = 0; i < ranks; ++i) {
    storage_.bytes.push_back(static_cast<std::int64_t>(what_.recv.bytes(i)));
    at[i + 1] = at[i] + storage_.bytes[i];
  }
  snapshot_.emplace(ranks_.pool(), static_cast<std::size_t>(at[ranks]));
  for (int i = 0; i < ranks; ++i) what_.recv.pack(i, snapshot_->data() + at[i]);
  what_.send = {};
  what_.send.base = snapshot_->data();
  what_.send.counts = number_array(storage_.bytes.data());
  what_.send.displacements = number_array(at.data());
}

void alltoall_service::restore() {
  for (int i = 0; i < ranks_.ranks(); ++i) what_.recv.unpack(i, what_.send.block(i));
}

}  // namespace shoal
