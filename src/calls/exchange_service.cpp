#include "calls/exchange_service.hpp"

#include <algorithm>

#include "calls/process.hpp"
#include "select/knowledge.hpp"
#include "team/devices.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

// If nobody asks for an algorithm any more, the MPI's own collective serves.
const decision* exchange_service::pick(MPI_Info info) {
  const decision* chosen = among_.named().of_call(call_.form(), info);
  return chosen ? fit(*chosen) : nullptr;
}

const decision* exchange_service::fit(const decision& chosen) {
  if (!chosen.algorithm->steps) return &chosen;
  describe();
  features sizes = local_features();
  if (!ranks_ask(*chosen.algorithm)) return sizes.invalid ? leave_to_mpi(&chosen) : &chosen;
  return agree_on_sizes(sizes) ? fitted(&chosen, sizes) : nullptr;
}

// Whether the ranks ask each other in such an exchange. Then a rank whose arguments are wrong has to answer too.
bool exchange_service::ranks_ask(const prepared& algorithm) const {
  return ranks_.facts().devices || among_.limit().is_set() || process::get().set().verify ||
         (algorithm.looks_at_sizes && !call_.has_known_sizes());
}

const decision* exchange_service::plan(MPI_Info info) {
  const decision* chosen = among_.named().of_call(call_.form(), info);
  describe();
  features sizes = local_features();
  if (!agree_on_sizes(sizes)) return nullptr;
  const int size = size_class(call_.what(), static_cast<double>(sizes.most_loaded), ranks_.ranks());
  if (!chosen) chosen = kept().settled(call_.form(), size);
  most_bytes_ = static_cast<std::size_t>(sizes.most_loaded);
  return chosen ? fitted(chosen, sizes) : nullptr;
}

// Messages through memory match in the order in which the two ranks start them. A schedule with several messages
// between two ranks either keeps to one order, or tells them apart only by tags and cannot use memory. Among neighbours
// the algorithm's parameter decides (`local`).
void exchange_service::share(team_exchange& moving, const prepared& algorithm) {
  const linked_schedule& s = steps(algorithm);
  if (!among_.is_complete() && !s.shared_memory) return;
  if (!agree().on_any_rank(!s.shared_memory && !s.one_message_each_way)) moving.share(most_bytes_);
}

const decision* exchange_service::pick_without_asking() {
  if (!ranks_.is_open()) return nullptr;
  describe();
  if (ranks_.facts().devices || among_.limit().is_set()) return nullptr;
  const decision* chosen = among_.named().standing(call_.form());
  if (!chosen || !local_features().invalid) return chosen;
  if (chosen->algorithm->has_schedule() && !call_.is_awaited())
    ranks_.turns().skip();  // enough, as such exchanges share no memory
  return nullptr;
}

// This rank's arguments are wrong, and the MPI's own collective reports that. If nobody waits for this rank, the others
// have gone on with the exchange, so this rank takes part without blocks.
const decision* exchange_service::leave_to_mpi(const decision* chosen) {
  if (chosen->algorithm->has_schedule() && !call_.is_awaited())
    ranks_.run_without_blocks(*chosen->algorithm->steps, call_.has_known_sizes());
  return nullptr;
}

const decision* exchange_service::fitted(const decision* chosen, const features& agreed) {
  chosen = within_limit(chosen);
  if (!call_.has_known_sizes() && chosen->algorithm->looks_at_sizes) fit_to_sizes(*chosen->algorithm, agreed);
  return chosen;
}

void exchange_service::fit_to_sizes(const prepared& algorithm, const features& agreed) {
  if (agreed.is_uniform()) return;
  std::vector<std::int64_t> sent;
  for (int i = 0; i < ranks_.ranks(); ++i) sent.push_back(call_.bytes_to(i));
  sized_ = kept().for_sizes().make(algorithm, sent, agreed.largest_block);
}

// If nothing is limited, calls of a microsecond must not look at every block.
const decision* exchange_service::within_limit(const decision* chosen) const {
  const bool limited = chosen->algorithm->steps && among_.limit().is_set();
  return limited ? among_.limit().keep(chosen, call_.has_known_sizes(), scratch_needs()) : chosen;
}

// Calls visit() with the number and the bytes of each block of one side. Blocks of nobody count for nothing, and may
// have any count.
template <typename Visit>
static void each_block(const user_buffer& side, int blocks, const std::vector<int>& ranks, Visit visit) {
  for (int i = 0; i < blocks; ++i)
    if (ranks.empty() || ranks[i] != MPI_PROC_NULL)
      visit(i, std::max<std::int64_t>(0, side.counts[i]) * side.type_of(i).size);
}

template <typename Visit>
void exchange_service::each_sent(Visit visit) const {
  const block_peers& peers = among_.peers();
  if (call_.in_place()) each_block(what_.recv, peers.received, peers.sources, visit);
  else each_block(what_.send, peers.sent, peers.destinations, visit);
}

template <typename Visit>
void exchange_service::each_received(Visit visit) const {
  each_block(what_.recv, among_.peers().received, among_.peers().sources, visit);
}

// What this rank packs or copies, whatever the algorithm.
scratch_limit::needs exchange_service::scratch_needs() const {
  scratch_limit::needs mine;
  struct side {
    std::int64_t bytes = 0;
    bool is_copied = false;
  };
  side sent{0, call_.in_place()}, received;
  const auto add = [&](side& to, const user_buffer& buffer) {
    return [&](int i, std::int64_t bytes) {
      to.bytes += bytes + memory_pool::smallest;  // if blocks are packed one by one
      to.is_copied = to.is_copied || buffer.packs(i);
      mine.largest_block = std::max(mine.largest_block, bytes);
    };
  };
  each_sent(add(sent, call_.in_place() ? what_.recv : what_.send));
  each_received(add(received, what_.recv));
  for (const side& one : {sent, received})
    if (one.is_copied) mine.packed += one.bytes;
  return mine;
}

// Replaces what this rank knows of the sizes by what all ranks agree on. Returns false if the MPI's own collective must
// serve. Throws if another rank's arguments are wrong.
bool exchange_service::agree_on_sizes(features& sizes) {
  const bool wrong = sizes.invalid;
  sizes = agree_on(sizes, ranks_.agree());
  meets_others_ = true;
  if (sizes.on_device || wrong) return false;
  if (sizes.invalid) throw mpi_error(MPI_ERR_OTHER, "another rank's arguments are wrong");
  if (among_.is_complete() && sizes.is_uniform()) what_.uniform = what_.recv.bytes(0);
  return true;
}

const payload& exchange_service::blocks() {
  if (call_.in_place()) take_snapshot();
  return what_;
}

block_ends exchange_service::ends() const {
  return among_.is_complete() ? block_ends::of_all(ranks_.ranks()) : block_ends::of(among_.graph(), ranks_.rank());
}

void exchange_service::verify(native_call native) {
  const auto received = [&] { return packed(what_.recv, among_.peers().received, among_.peers().sources); };
  const std::vector<std::byte> shoals = received();
  if (call_.in_place()) restore();
  require_of_mpi("the MPI's own collective", native);
  require_equal(shoals, received(), ranks_.rank());
  kept().verified.add(static_cast<std::int64_t>(shoals.size()), 0);
}

void exchange_service::describe() {
  describe_received(call_, among_.peers().received, storage_.received, what_);
  if (call_.has_known_sizes()) what_.uniform = what_.recv.bytes(0);
  if (!call_.in_place()) describe_sent(call_, among_.peers().sent, storage_.sent, what_);
}

features exchange_service::local_features() const {
  features mine;
  mine.ranks = ranks_.ranks();
  each_sent([&](int, std::int64_t bytes) {
    mine.total_bytes += bytes;
    mine.largest_block = std::max(mine.largest_block, bytes);
    mine.nonempty_blocks += bytes > 0;
  });
  std::int64_t received = 0;
  each_received([&](int, std::int64_t bytes) { received += bytes; });
  mine.most_loaded = std::max(mine.total_bytes, received);
  const MPI_Comm some = ranks_.is_open() ? ranks_.own().get() : MPI_COMM_SELF;  // opened() would make one
  mine.invalid = !are_valid(call_, what_, among_.peers(), some);
  mine.on_device = ranks_.facts().devices &&
                   (may_be_device_memory(call_.recv) || (!call_.in_place() && may_be_device_memory(call_.send)));
  return mine;
}

// With MPI_IN_PLACE the blocks to send lie where others arrive, so they are copied first.
void exchange_service::take_snapshot() {
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

void exchange_service::restore() {
  for (int i = 0; i < ranks_.ranks(); ++i) what_.recv.unpack(i, what_.send.block(i));
}

}  // namespace shoal
