#include "calls/allgather_service.hpp"

#include "calls/arguments.hpp"
#include "calls/process.hpp"
#include "calls/verification.hpp"
#include "team/devices.hpp"

namespace shoal {

namespace {

constexpr char differing_sizes[] =
    "the two groups differ about the sizes of messages: what a rank sends is not what every receiver expects of it";

void describe_blocks(const allgather_call& call, user_buffer& send, user_buffer& recv) {
  const device_runtimes devices = device_runtimes::loaded();
  send.base = static_cast<std::byte*>(const_cast<void*>(call.send));
  describe(call.send_type, send, devices);
  send.counts = number_array::linear(call.send_count, 0);
  recv.base = static_cast<std::byte*>(call.recv);
  describe(call.recv_type, recv, devices);
  recv.counts = call.recv_counts;
  recv.displacements = call.recv_displacements;
}

bool are_valid(const allgather_call& call, const user_buffer& send, const user_buffer& recv, int senders,
               MPI_Comm own) {
  return is_valid(send, call.send_type, 1, own) && is_valid(recv, call.recv_type, senders, own);
}

}  // namespace

bool allgather_call::is_valid() const {
  int senders = 0;
  require(PMPI_Comm_remote_size(comm, &senders), "MPI_Comm_remote_size");
  user_buffer send, recv;
  describe_blocks(*this, send, recv);
  return are_valid(*this, send, recv, senders, MPI_COMM_SELF);
}

allgather_service::allgather_service(intercommunicator& state, const allgather_call& call)
    : state_(state), call_(call), out_(state.outgoing()), in_(1 - out_) {
  describe_blocks(call, what_[out_].send, what_[in_].recv);
}

// This rank's arguments are wrong, and no other rank knows. If nobody waits for this rank, the others have gone on with
// the exchange, so this rank skips its turn. `chosen`: as in served_by().
const group_decision* allgather_service::leave_to_mpi(const group_decision* chosen) {
  const bool is_by_schedule = !chosen || chosen->algorithm->has_schedule();
  if (is_by_schedule && !call_.is_awaited()) state_.all().turns().skip();
  return nullptr;
}

void allgather_service::make_ready(group_plan& algorithm) {
  state_.make_ready(algorithm, sizes_);
  for (int d = 0; d < 2; ++d)
    if (sizes_.toward[d].uniform()) what_[d].uniform = static_cast<std::size_t>(sizes_.toward[d].largest);
}

const group_decision* allgather_service::pick(MPI_Info info) {
  const group_decision* chosen = nullptr;
  ended_by([&] { return chosen = pick_for(false, info), 0; }, [&] { counts_in_ = state_.counts_in(); });
  return chosen;
}

const group_decision* allgather_service::pick_for(bool repeated, MPI_Info info) {
  const group_decision* chosen = state_.named().of_call(call_.form(), info);
  sizes_ = local_sizes();
  if (!repeated && chosen && !chosen->algorithm->has_schedule()) state_.leave_to_named_natives();
  if (!repeated && !chosen && sizes_.invalid && call_.is_awaited()) return nullptr;  // others meet the next call
  if (!chosen && !is_turn_of_shoal(repeated)) return repeated ? nullptr : state_.natives();
  return served_by(chosen, repeated);
}

// Whether Shoal serves a call whose algorithm nobody asked for.
bool allgather_service::is_turn_of_shoal(bool repeated) {
  return repeated ? state_.is_ahead(call_.uniform) : state_.begin(call_.uniform, sizes_);
}

// `chosen`: the algorithm that is asked for, or null: the best by the model.
const group_decision* allgather_service::served_by(const group_decision* chosen, bool repeated) {
  const group_sizes mine = sizes_;
  if (chosen && !chosen->algorithm->has_schedule()) return chosen;
  if (repeated || !call_.uniform || state_.all().facts().devices || process::get().set().verify) {
    sizes_ = state_.agreed(mine);
    has_met_others_ = true;
    if (sizes_.on_device || mine.invalid) return nullptr;
    if (sizes_.invalid) throw mpi_error(MPI_ERR_OTHER, "another rank's arguments are wrong");
    if (!sizes_.matching()) throw std::runtime_error(differing_sizes);
  }
  if (mine.invalid) return leave_to_mpi(chosen);
  if (!chosen) chosen = state_.choose(sizes_);
  make_ready(*chosen->algorithm);
  return chosen;
}

// Each rank sends its one message to the whole other group.
block_ends allgather_service::ends() const {
  block_ends all;
  const int others = state_.senders(in_), first = in_ == 0 ? 0 : state_.senders(out_);
  for (int i = 0; i < others; ++i) all.sent.push_back({0, first + i}), all.received.push_back({i, first + i});
  return all;
}

void allgather_service::verify(native_call native) {
  const std::vector<std::byte> shoals = packed(received(), state_.senders(in_));
  require_of_mpi("the MPI's own collective", native);
  require_equal(shoals, packed(received(), state_.senders(in_)), state_.rank());
  state_.verified.add(static_cast<std::int64_t>(shoals.size()), 0);
}

group_sizes allgather_service::local_sizes() const {
  group_sizes mine;
  const MPI_Comm own = state_.all().own().get();
  mine.invalid = !are_valid(call_, what_[out_].send, received(), state_.senders(in_), own);
  mine.on_device =
      state_.all().facts().devices && (may_be_device_memory(call_.send) || may_be_device_memory(call_.recv));
  if (mine.invalid) return mine;
  mine.sends(out_, state_.local_rank(), bytes_sent());
  for (int j = 0; j < state_.senders(in_); ++j) mine.expects(in_, j, static_cast<std::int64_t>(received().bytes(j)));
  return mine;
}

}  // namespace shoal
