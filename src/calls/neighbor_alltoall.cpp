#include "calls/neighbor_alltoall.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "calls/alltoall_service.hpp"
#include "calls/arguments.hpp"
#include "calls/serve.hpp"
#include "calls/verification.hpp"
#include "team/fault_tolerance.hpp"
#include "team/mpi_neighbors.hpp"
#include "team/nearest_rounding.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

// The algorithm that the user names. Null: the MPI's own collective serves. The same on every rank.
const decision* neighbor_service::named(MPI_Info info) {
  const decision* const chosen = state_.named().of_call(call_.form(), info);
  if (!chosen || !chosen->algorithm->steps) return chosen;
  return over_.facts().devices || state_.over().limit().is_set() ? nullptr : chosen;
}

const decision* neighbor_service::pick(MPI_Info info) {
  const decision* const chosen = named(info);
  return chosen ? fit(*chosen) : nullptr;
}

const decision* neighbor_service::pick_without_asking() {
  const decision* const chosen = named(MPI_INFO_NULL);
  if (!chosen || !chosen->algorithm->steps) return chosen;
  describe();
  if (is_valid()) return chosen;
  if (!call_.is_awaited()) over_.turns().skip();
  return nullptr;
}

const decision* neighbor_service::fit(const decision& settled) {
  if (!settled.algorithm->steps) return &settled;
  describe();
  const bool valid = is_valid();
  meets_others_ = process::get().set().verify;
  if (meets_others_ && agree().on_any_rank(!valid)) {  // all of them compare, or none
    if (valid) throw mpi_error(MPI_ERR_OTHER, "another rank's arguments are wrong");
    return nullptr;
  }
  if (valid) return &settled;
  if (!call_.is_awaited()) over_.run_without_blocks(*settled.algorithm->steps, false);
  return nullptr;
}

const decision* neighbor_service::plan(MPI_Info info) {
  const decision* const chosen = named(info);
  if (!chosen || !chosen->algorithm->steps) return chosen;
  describe();
  return agree().on_any_rank(!is_valid()) ? nullptr : chosen;
}

// Ranks without edges may give any sizes. So sizes always travel with the blocks that others carry.
void neighbor_service::describe() {
  describe_received(call_, state_.sources(), storage_, what_);
  describe_sent(call_, state_.destinations(), storage_, what_);
}

// If all blocks have one size, Open MPI refuses to send blocks of another size than it receives.
static bool are_equal_sides([[maybe_unused]] const alltoall_call& call, [[maybe_unused]] const payload& what) {
#ifdef OPEN_MPI
  if (call.uniform) return what.send.bytes(0) == what.recv.bytes(0);
#endif
  return true;
}

// If all blocks have one size and are empty, MPICH and its kin do not look at their type.
static bool is_looked_at([[maybe_unused]] const alltoall_call& call, [[maybe_unused]] const user_buffer& side) {
#ifdef OPEN_MPI
  return true;
#else
  return !call.uniform || side.counts[0] != 0;
#endif
}

static bool are_valid(const alltoall_call& call, const payload& what, const neighbor_ranks& peers, MPI_Comm own) {
  const auto holds = [&](const user_buffer& side, const type_list& types, const std::vector<int>& ranks) {
    return !is_looked_at(call, side) || is_valid(side, types, static_cast<int>(ranks.size()), own, ranks);
  };
  return holds(what.recv, call.recv_type, peers.sources) && holds(what.send, call.send_type, peers.destinations) &&
         are_equal_sides(call, what);
}

bool neighbor_service::is_valid() const {
  const MPI_Comm own = over_.is_open() ? over_.own().get() : MPI_COMM_SELF;  // opened() would make one
  return !call_.lacks_request && are_valid(call_, what_, state_.peers(), own);
}

bool neighbor_call::is_valid() const {
  const neighbor_ranks peers = neighbors_of(comm);
  block_storage storage;
  payload what;
  describe_received(*this, static_cast<int>(peers.sources.size()), storage, what);
  describe_sent(*this, static_cast<int>(peers.destinations.size()), storage, what);
  return !lacks_request && are_valid(*this, what, peers, MPI_COMM_SELF);
}

block_ends neighbor_service::ends() const {
  block_ends all;
  const std::span<const int> to = state_.graph().destinations(over_.rank());
  const std::span<const neighbor_graph::arrival> from = state_.graph().arrivals(over_.rank());
  for (int i = 0; i < state_.destinations(); ++i)
    if (to[i] >= 0) all.sent.push_back({i, to[i]});
  for (int i = 0; i < state_.sources(); ++i)
    if (from[i].source >= 0) all.received.push_back({i, from[i].source});
  std::sort(all.received.begin(), all.received.end(), [&](const auto& a, const auto& b) {
    return std::pair(a.rank, from[a.block].edge) < std::pair(b.rank, from[b.block].edge);
  });
  return all;
}

void neighbor_service::verify(native_call native) {
  const std::vector<std::byte> shoals = packed(what_.recv, state_.sources(), state_.peers().sources);
  require_of_mpi("the MPI's own collective", native);
  require_equal(shoals, packed(what_.recv, state_.sources(), state_.peers().sources), over_.rank());
  state_.over().verified.add(static_cast<std::int64_t>(shoals.size()), 0);
}

namespace {

// Why Shoal has made nothing for such calls. `wrong`: what the user was warned of, if anything.
std::string why_left(MPI_Comm comm, const std::string& wrong) {
  if (!wrong.empty()) return "see the warning";
  const learner* const of = process::learner_of(comm);
  return of ? of->why() : process::why_unknown(comm);
}

// After a call for which the MPI's own is named: nobody needs to look at later ones.
void let_named_pass(const neighbor_call& call) {
  learner& of = *process::get().neighbor_learner_of(call.comm);
  of.let_named_pass();
  recent_calls::begin_repeats_among_neighbors(call.comm, call.form(), of.take_passes());
}

// Serves a call, from the first one on, as settings ask. No call passes before all ranks have made what such calls need:
// if the MPI refuses this rank's first one, the others wait for this rank's next.
int serve_named(const neighbor_call& call, interface from, native_call native) {
  process& job = process::get();
  if (!job.present_neighbors_of(call.comm, call.form()) && is_refused_alone(call)) return native();
  std::string wrong;
  const auto among = job.neighbors_of(call.comm, call.form(), from == interface::shoal, wrong);
  if (!among)
    return refused(call.comm, wrong, from, [&] { return job.leave(call, why_left(call.comm, wrong), native); });
  team& all = among->over().all();
  if (all.is_lost()) return native();
  const std::scoped_lock alone(all.lock());
  neighbor_service s(*among, call, among->over().blocks());
  const int code = serve(s, call, from, MPI_INFO_NULL, native);
  if (job.asks_for_natives(call.what, call.form())) let_named_pass(call);
  return code;
}

int serve_settled(learner& of, const neighbor_call& call, interface from, native_call native) {
  const call_size size{call.form(), call.bytes_to_all(of.blocks()), false};
  return serve_learnt(of, call, size, from, native, [&](const decision& settled, outcome& result) {
    neighborhood& among = *of.neighbors(call.form());
    const std::scoped_lock alone(among.over().all().lock());
    neighbor_service s(among, call, among.over().blocks());
    return carry_out_settled(s, call, settled, native, result);
  });
}

int serve_any(learner* of, const neighbor_call& call, interface from, native_call native) {
  process& job = process::get();
  if (job.asks_for(call.what, call.form()))
    return has_neighbors(call.comm) && !is_revoked(call.comm) ? serve_named(call, from, native) : native();
  if (!of || is_lost(*of, call.comm)) return native();
  if (!of->is_wrong()) return serve_settled(*of, call, from, native);
  return refused(call.comm, of->why(), from, [&] { return job.leave(call, of->why(), native); });
}

}  // namespace

bool neighbor_call::is_awaited() const {
  int rank = 0;
  require(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  const neighbor_ranks among = neighbors_of(comm);
  const auto some = [&](const std::vector<int>& peers, const number_array& counts) {
    for (std::size_t i = 0; i < peers.size(); ++i)
      if (peers[i] != rank && peers[i] != MPI_PROC_NULL && (counts.is_missing() || counts[static_cast<int>(i)] != 0))
        return true;
    return false;
  };
  return some(among.sources, recv_counts) || some(among.destinations, sent_counts());
}

int carry_out_passed(const neighbor_call& call, native_call native) {
  return carry_out_passed(
      call.comm, [&] { return process::get().neighbor_learner_of(call.comm); }, [&] { return call; }, native);
}

int neighbor_alltoall(const neighbor_call& call, interface from, native_call native) {
  return returning_codes(call.comm, [&] {
    if (call.comm == MPI_COMM_NULL) return without_communicator(from, native);
    if (recent_calls::pass_again_among_neighbors(call.comm, call.form())) return carry_out_passed(call, native);
    learner* const of = process::get().neighbor_learner_of(call.comm);
    if (of && of->passes(call.form(), 0)) {
      recent_calls::begin_repeats_among_neighbors(call.comm, call.form(), of->will_pass());
      return carry_out_passed(call, native);
    }
    const nearest_rounding as_on_others;
    return serve_any(of, call, from, [&] { return as_on_others.as_of_program(native); });
  });
}

}  // namespace shoal
