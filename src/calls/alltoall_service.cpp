#include "calls/alltoall_service.hpp"

#include <algorithm>

#include "calls/arguments.hpp"
#include "calls/verification.hpp"
#include "select/knowledge.hpp"
#include "team/boundary.hpp"
#include "team/devices.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

const decision* alltoall_service::pick(MPI_Info info) { return fitted(pick_any(info)); }

// Where nobody asks for anything any more, the MPI's own.
const decision* alltoall_service::pick_any(MPI_Info info) {
  const decision* chosen = state_.asked().of_call(call_.uniform, info);
  if (!chosen || !chosen->how->steps) return chosen;
  describe();
  features sizes = local_features();
  if (!state_.devices()) return sizes.invalid ? left_out(chosen) : chosen;
  return agree_on_sizes(sizes) ? chosen : nullptr;
}

const decision* alltoall_service::fit(const decision& settled) {
  if (!settled.how->steps) return &settled;
  describe();
  return local_features().invalid ? left_out(&settled) : within_limit(&settled);
}

alltoall_service::repeated alltoall_service::plan(MPI_Info info) {
  const decision* chosen = state_.asked().of_call(call_.uniform, info);
  describe();
  features sizes = local_features();
  if (!agree_on_sizes(sizes)) return {nullptr};
  const int size = size_class(static_cast<double>(sizes.most_loaded), state_.ranks());
  if (!chosen) chosen = state_.settled(call_.uniform, size);
  if (!chosen) return {nullptr};
  return {fitted(chosen, sizes), static_cast<std::size_t>(sizes.most_loaded)};
}

const decision* alltoall_service::pick_at_once() {
  if (!state_.is_open()) return nullptr;
  describe();
  if (state_.devices() || state_.limit().most) return nullptr;
  const decision* chosen = state_.asked().standing(call_.uniform);
  return chosen && local_features().invalid ? left_out(chosen) : chosen;
}

// This rank's arguments are wrong, which no other knows: the MPI's own reports it, and later exchanges match again.
const decision* alltoall_service::left_out(const decision* chosen) {
  if (chosen->how->has_schedule()) state_.turns().skip();
  return nullptr;
}

const decision* alltoall_service::fitted(const decision* chosen, std::optional<features> agreed) {
  chosen = within_limit(chosen);
  if (!chosen || call_.uniform || !chosen->how->looks_at_sizes) return chosen;
  return fit_to_sizes(*chosen->how, agreed) ? chosen : nullptr;
}

// False: the MPI's own collective is the one to use, as for agree_on_sizes().
bool alltoall_service::fit_to_sizes(const prepared& how, std::optional<features> agreed) {
  if (!agreed) {
    describe();
    agreed = local_features();
    if (!agree_on_sizes(*agreed)) return false;
  }
  if (agreed->is_uniform()) return true;
  std::vector<std::int64_t> sent;
  for (int i = 0; i < state_.ranks(); ++i) sent.push_back(bytes_to(i));
  sized_ = state_.for_sizes().make(how, sent, agreed->largest_block);
  return true;
}

// Calls of a microsecond do not look at every block where nothing is limited.
const decision* alltoall_service::within_limit(const decision* chosen) const {
  const bool limited = chosen && chosen->how->steps && state_.limit().most;
  return limited ? state_.limit().keep(chosen, call_.uniform, scratch_needs()) : chosen;
}

// What is packed or copied whatever the algorithm.
scratch_limit::needs alltoall_service::scratch_needs() const {
  scratch_limit::needs mine;
  std::int64_t sent = 0, received = 0;
  for (int i = 0; i < state_.ranks(); ++i) {
    const std::int64_t out = bytes_to(i), in = static_cast<std::int64_t>(what_.recv.bytes(i));
    sent += out;
    received += in;
    mine.largest_block = std::max({mine.largest_block, out, in});
  }
  const std::int64_t unused = state_.ranks() * memory_pool::smallest;  // of blocks packed one by one
  if (in_place() || what_.send.layout) mine.packed += (in_place() ? received : sent) + unused;
  if (what_.recv.layout) mine.packed += received + unused;
  return mine;
}

// Makes this rank's view everyone's. False: the MPI's own collective is the one to use. Throws where another rank's
// arguments are wrong.
bool alltoall_service::agree_on_sizes(features& sizes) {
  const bool wrong = sizes.invalid;
  sizes = state_.agreed(sizes);
  if (sizes.on_device || wrong) return false;
  if (sizes.invalid) throw mpi_error(MPI_ERR_OTHER, "another rank's arguments are wrong");
  if (sizes.is_uniform()) what_.uniform = what_.recv.bytes(0);
  return true;
}

const payload& alltoall_service::blocks() {
  if (in_place()) take_snapshot();
  return what_;
}

void alltoall_service::verify(native_call native) {
  const std::vector<std::byte> ours = packed(what_.recv, state_.ranks());
  if (in_place()) restore();
  require(native(), "the MPI's own collective");
  require_equal(ours, packed(what_.recv, state_.ranks()), state_.rank());
  state_.verified.add(static_cast<std::int64_t>(ours.size()), 0);
}

std::int64_t alltoall_service::bytes_sent() const {
  const number_array& counts = sent_counts();
  std::int64_t elements = 0;
  for (int i = 0; i < state_.ranks(); ++i) elements += counts[i];
  return elements * type_size();
}

// Of the type that is sent; 0 for one that is wrong, which the MPI reports.
std::int64_t alltoall_service::type_size() const {
  const MPI_Datatype type = in_place() ? call_.recv_type : call_.send_type;
  MPI_Count size = 0;
  if (type != MPI_DATATYPE_NULL) require(PMPI_Type_size_x(type, &size), "MPI_Type_size_x");
  return size;
}

void alltoall_service::describe() {
  if (!in_place()) shoal::describe(call_.send_type, MPI_COMM_SELF, send_packer_, what_.send);
  shoal::describe(call_.recv_type, MPI_COMM_SELF, recv_packer_, what_.recv);
  what_.recv.base = static_cast<std::byte*>(call_.recv);
  what_.recv.counts = call_.recv_counts;
  what_.recv.displacements = call_.recv_displacements;
  if (call_.uniform) what_.uniform = what_.recv.bytes(0);
  if (in_place()) return;
  what_.send.base = static_cast<std::byte*>(const_cast<void*>(call_.send));
  what_.send.counts = call_.send_counts;
  what_.send.displacements = call_.send_displacements;
}

features alltoall_service::local_features() const {
  features mine;
  mine.ranks = state_.ranks();
  const user_buffer& b = in_place() ? what_.recv : what_.send;
  std::int64_t received = 0;
  for (int i = 0; i < state_.ranks(); ++i) {
    const std::int64_t bytes = std::max<std::int64_t>(0, b.counts[i]) * b.type_size;
    mine.total_bytes += bytes;
    mine.largest_block = std::max(mine.largest_block, bytes);
    mine.full_blocks += bytes > 0;
    received += what_.recv.counts[i] * what_.recv.type_size;
  }
  mine.most_loaded = std::max(mine.total_bytes, received);
  const MPI_Comm some = state_.is_open() ? state_.own() : MPI_COMM_SELF;  // asking makes none
  const auto valid = [&](const user_buffer& b, MPI_Datatype type) { return is_valid(b, type, state_.ranks(), some); };
  mine.invalid =
      !valid(what_.recv, call_.recv_type) || (!in_place() && !valid(what_.send, call_.send_type)) || aliased();
  mine.on_device = state_.devices() && (is_device_memory(call_.recv) || (!in_place() && is_device_memory(call_.send)));
  return mine;
}

// Whether a block is sent from where one arrives. MPICH and its kin report that as an error; Open MPI lets it pass.
bool alltoall_service::aliased() const {
#ifndef OPEN_MPI
  const user_buffer &send = what_.send, &recv = what_.recv;
  if (in_place() || call_.send != call_.recv || call_.send_type != call_.recv_type) return false;
  for (int i = 0; i < state_.ranks(); ++i)
    if (send.bytes(i) && recv.bytes(i) && send.displacements[i] == recv.displacements[i]) return true;
#endif
  return false;
}

// With MPI_IN_PLACE the blocks to send lie where others arrive.
void alltoall_service::take_snapshot() {
  const int ranks = state_.ranks();
  std::vector<std::int64_t>& at = offsets_;
  at.assign(static_cast<std::size_t>(ranks) + 1, 0);
  for (int i = 0; i < ranks; ++i) at[i + 1] = at[i] + static_cast<std::int64_t>(what_.recv.bytes(i));
  snapshot_.emplace(state_.pool(), static_cast<std::size_t>(at[ranks]));
  for (int i = 0; i < ranks; ++i) what_.recv.pack(i, snapshot_->data() + at[i]);
  what_.send = {};
  what_.send.base = snapshot_->data();
  what_.send.counts = call_.recv_counts;
  what_.send.displacements = number_array(at.data());
  what_.send.type_size = what_.recv.type_size;
}

void alltoall_service::restore() {
  for (int i = 0; i < state_.ranks(); ++i) what_.recv.unpack(i, what_.send.block(i));
}

}  // namespace shoal
