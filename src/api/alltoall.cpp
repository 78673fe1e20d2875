#include "api/alltoall.hpp"

#include <algorithm>

#include "api/boundary.hpp"
#include "api/devices.hpp"
#include "api/process.hpp"
#include "api/verification.hpp"
#include "execute/mpi_datatype.hpp"
#include "execute/mpi_error.hpp"

namespace shoal {

namespace {

// One call being served: the user's buffers described, what is known of the sizes, and the way it is done.
class service {
 public:
  service(communicator& state, const alltoall_call& call) : state_(state), call_(call) {}
  ~service() {
    if (snapshot_) state_.pool().give_back(snapshot_, snapshot_bytes_);
  }
  service(const service&) = delete;
  service& operator=(const service&) = delete;

  // The algorithm; null: the MPI's own collective, because of device memory or to report wrong arguments of this
  // rank. Throws where those of another rank are wrong. The ranks ask each other only where they must: to choose
  // from sizes that each knows only in part, and when memory may be a device's. Where the MPI's own collective is
  // chosen nothing else is looked at, so that it costs little more than without Shoal.
  const decision* pick(MPI_Info info) {
    const decision* chosen = asked_for(info);
    if (!chosen) chosen = state_.choose_unasked(call_.uniform, call_.uniform ? block_bytes() : 0);
    if (chosen && !chosen->how->steps) return chosen;
    describe();
    const features mine = local_features();
    if (chosen && !state_.devices()) return mine.invalid ? nullptr : chosen;
    const features all = state_.agreed(mine);
    if (all.on_device || mine.invalid) return nullptr;
    if (all.invalid) throw mpi_error(MPI_ERR_OTHER, "another rank's arguments are wrong");
    if (all.is_uniform()) what_.uniform = what_.recv.bytes(0);
    return chosen ? chosen : state_.choose_for(call_.uniform, all);
  }

  void run(const prepared& how) {
    if (in_place()) take_snapshot();
    state_.run(how, what_);
  }

  // Runs the MPI's own collective on the same buffers and compares. Throws when a byte differs.
  void verify(native_call native) {
    const std::vector<std::byte> ours = packed(what_.recv, state_.ranks());
    if (in_place()) restore();
    require(native(), "the MPI's own collective");
    require_equal(ours, packed(what_.recv, state_.ranks()), state_.rank());
    state_.verified.add(static_cast<std::int64_t>(ours.size()), 0);
  }

  std::int64_t bytes_sent() const {
    const number_array& counts = in_place() ? call_.recv_counts : call_.send_counts;
    std::int64_t elements = 0;
    for (int i = 0; i < state_.ranks(); ++i) elements += counts[i];
    return elements * type_size();
  }

 private:
  bool in_place() const { return call_.send == MPI_IN_PLACE; }

  // Of the type that is sent; 0 for one that is wrong, which the MPI reports.
  std::int64_t type_size() const {
    const MPI_Datatype type = in_place() ? call_.recv_type : call_.send_type;
    MPI_Count size = 0;
    if (type != MPI_DATATYPE_NULL) require(PMPI_Type_size_x(type, &size), "MPI_Type_size_x");
    return size;
  }

  // Of a uniform exchange.
  std::int64_t block_bytes() const { return (in_place() ? call_.recv_counts : call_.send_counts)[0] * type_size(); }

  void describe() {
    if (!in_place()) shoal::describe(call_.send_type, state_.own(), send_packer_, what_.send);
    shoal::describe(call_.recv_type, state_.own(), recv_packer_, what_.recv);
    what_.recv.base = static_cast<std::byte*>(call_.recv);
    what_.recv.counts = call_.recv_counts;
    what_.recv.displacements = call_.recv_displacements;
    if (call_.uniform) what_.uniform = what_.recv.bytes(0);
    if (in_place()) return;
    what_.send.base = static_cast<std::byte*>(const_cast<void*>(call_.send));
    what_.send.counts = call_.send_counts;
    what_.send.displacements = call_.send_displacements;
  }

  features local_features() const {
    features mine;
    mine.ranks = state_.ranks();
    const user_buffer& b = in_place() ? what_.recv : what_.send;
    for (int i = 0; i < state_.ranks(); ++i) {
      const std::int64_t bytes = b.counts[i] * b.type_size;
      mine.total_bytes += bytes;
      mine.largest_block = std::max(mine.largest_block, bytes);
      mine.full_blocks += bytes > 0;
    }
    mine.most_sent = mine.total_bytes;
    mine.invalid = !valid(what_.recv, call_.recv_type) || (!in_place() && !valid(what_.send, call_.send_type));
    mine.on_device = state_.devices() && (is_device_memory(call_.recv) || (!in_place() && is_device_memory(call_.send)));
    return mine;
  }

  bool valid(const user_buffer& b, MPI_Datatype type) const {
    for (int i = 0; i < state_.ranks(); ++i)
      if (b.counts[i] < 0 || (b.counts[i] > 0 && type == MPI_DATATYPE_NULL)) return false;
    return true;
  }

  const decision* asked_for(MPI_Info info) {
    if (info == MPI_INFO_NULL) return state_.requested(call_.uniform);
    const char* key = call_.uniform ? "shoal_alltoall" : "shoal_alltoallv";
    const info_value value(info, key);
    if (!state_.same_everywhere(hash_of(value.text())))
      throw std::invalid_argument(std::string(key) + " differs between ranks; give every rank the same info");
    return value.text().empty() ? state_.requested(call_.uniform) : state_.requested_now(call_.uniform, value.text());
  }

  // With MPI_IN_PLACE the blocks to send lie where others arrive, so they are copied out first.
  void take_snapshot() {
    const int ranks = state_.ranks();
    std::vector<std::int64_t>& at = state_.offsets();
    at.assign(static_cast<std::size_t>(ranks) + 1, 0);
    for (int i = 0; i < ranks; ++i) at[i + 1] = at[i] + static_cast<std::int64_t>(what_.recv.bytes(i));
    snapshot_bytes_ = static_cast<std::size_t>(at[ranks]);
    snapshot_ = state_.pool().take(snapshot_bytes_);
    for (int i = 0; i < ranks; ++i) what_.recv.pack(i, snapshot_ + at[i]);
    what_.send = {};
    what_.send.base = snapshot_;
    what_.send.counts = call_.recv_counts;
    what_.send.displacements = number_array(at.data());
    what_.send.type_size = what_.recv.type_size;
  }

  void restore() {
    for (int i = 0; i < state_.ranks(); ++i) what_.recv.unpack(i, what_.send.block(i));
  }

  communicator& state_;
  const alltoall_call& call_;
  payload what_;
  mpi_packer send_packer_, recv_packer_;
  std::byte* snapshot_ = nullptr;
  std::size_t snapshot_bytes_ = 0;
};

int run(communicator& state, service& s, const alltoall_call& call, const decision& chosen, native_call native) {
  const settings& set = process::get().set();
  prepared& how = *chosen.how;
  state.last = &chosen;
  if (!how.steps && !set.report) return native();
  const double begin = set.report ? PMPI_Wtime() : 0;
  int code = MPI_SUCCESS;
  if (how.steps) s.run(how);
  else code = native();
  if (set.report) (call.uniform ? how.uniform_use : how.nonuniform_use).add(s.bytes_sent(), PMPI_Wtime() - begin);
  if (how.steps && set.verify) s.verify(native);
  return code;
}

}  // namespace

int alltoall(const alltoall_call& call, manners how, MPI_Info info, native_call native) {
  if (call.comm == MPI_COMM_NULL) return native();
  return returning_codes(call.comm, [&] {
    std::string wrong;
    communicator* state = process::get().state_of(call.comm, wrong);
    if (!state) return refused(call.comm, wrong, how, native);
    service s(*state, call);
    const decision* chosen = nullptr;
    try {
      chosen = s.pick(info);
    } catch (const std::invalid_argument& error) {  // the same on every rank
      return refused(call.comm, error.what(), how, native);
    }
    return chosen ? run(*state, s, call, *chosen, native) : native();
  });
}

}  // namespace shoal
