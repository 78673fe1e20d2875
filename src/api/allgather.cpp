#include "api/allgather.hpp"

#include <array>

#include "api/devices.hpp"
#include "api/serve.hpp"
#include "api/verification.hpp"
#include "execute/mpi_datatype.hpp"

namespace shoal {

namespace {

constexpr char differing_sizes[] =
    "the two groups differ about the sizes of messages: what a rank sends is not what every receiver expects of it";

// One call being served: the user's buffers described, what is known of the sizes, and the way it is done.
class service {
 public:
  service(intercommunicator& state, const allgather_call& call)
      : state_(state), call_(call), out_(state.outgoing()), in_(1 - out_) {
    user_buffer& send = what_[out_].send;
    describe(call.send_type, state.all().own(), send_packer_, send);
    send.base = static_cast<std::byte*>(const_cast<void*>(call.send));
    send.counts = number_array::linear(call.send_count, 0);
    user_buffer& recv = what_[in_].recv;
    describe(call.recv_type, state.all().own(), recv_packer_, recv);
    recv.base = static_cast<std::byte*>(call.recv);
    recv.counts = call.recv_counts;
    recv.displacements = call.recv_displacements;
  }

  // The algorithm; null: the MPI's own collective, because of device memory or to report wrong arguments of this rank.
  // Throws where those of another rank are wrong. In an allgather of equal messages both groups know all sizes and ask
  // each other only where that must be checked.
  const group_decision* pick(MPI_Info info) {
    const group_sizes mine = local_sizes();
    const group_decision* chosen = state_.asked().of_call(call_.uniform, info);
    sizes_ = mine;
    if (!call_.uniform || state_.all().devices() || process::get().set().verify) {
      sizes_ = state_.agreed(mine);
      if (sizes_.on_device || mine.invalid) return nullptr;
      if (sizes_.invalid) throw mpi_error(MPI_ERR_OTHER, "another rank's arguments are wrong");
      if (!sizes_.matching()) throw std::runtime_error(differing_sizes);
    }
    if (mine.invalid) return nullptr;
    if (!chosen) chosen = state_.choose(sizes_, call_.comm);
    state_.make_ready(*chosen->how, sizes_);
    return chosen;
  }

  void run(const group_plan& how) {
    for (int d = 0; d < 2; ++d)
      if (sizes_.toward[d].uniform()) what_[d].uniform = static_cast<std::size_t>(sizes_.toward[d].largest);
    state_.run(how, sizes_, what_);
  }

  // Runs the MPI's own collective on the same buffers and compares. Throws when a byte differs.
  void verify(native_call native) {
    const std::vector<std::byte> ours = packed(received(), state_.senders(in_));
    require(native(), "the MPI's own collective");
    require_equal(ours, packed(received(), state_.senders(in_)), state_.rank());
    state_.verified.add(static_cast<std::int64_t>(ours.size()), 0);
  }

  std::int64_t bytes_sent() const { return static_cast<std::int64_t>(what_[out_].send.bytes(0)); }

 private:
  const user_buffer& received() const { return what_[in_].recv; }

  group_sizes local_sizes() const {
    group_sizes mine;
    mine.invalid = !valid(call_.send_count, call_.send_type) || call_.send == MPI_IN_PLACE;
    for (int j = 0; j < state_.senders(in_); ++j)
      mine.invalid = mine.invalid || !valid(received().counts[j], call_.recv_type);
    mine.on_device = state_.all().devices() && (is_device_memory(call_.send) || is_device_memory(call_.recv));
    if (mine.invalid) return mine;
    mine.sends(out_, state_.local_rank(), bytes_sent());
    for (int j = 0; j < state_.senders(in_); ++j) mine.expects(in_, j, static_cast<std::int64_t>(received().bytes(j)));
    return mine;
  }

  static bool valid(std::int64_t count, MPI_Datatype type) {
    return count >= 0 && (count == 0 || type != MPI_DATATYPE_NULL);
  }

  intercommunicator& state_;
  const allgather_call& call_;
  int out_, in_;  // the directions in which this rank sends and receives
  group_sizes sizes_;
  std::array<payload, 2> what_;  // by direction
  mpi_packer send_packer_, recv_packer_;
};

}  // namespace

int allgather(const allgather_call& call, manners how, MPI_Info info, native_call native) {
  if (call.comm == MPI_COMM_NULL) return native();
  int between_groups = 0;
  if (PMPI_Comm_test_inter(call.comm, &between_groups) != MPI_SUCCESS || !between_groups) return native();
  return returning_codes(call.comm, [&] {
    std::string wrong;
    intercommunicator* state = process::get().groups_of(call.comm, wrong);
    if (!state) return refused(call.comm, wrong, how, native);
    service s(*state, call);
    return serve(*state, s, call, how, info, native);
  });
}

}  // namespace shoal
