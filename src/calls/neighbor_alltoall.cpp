#include "calls/neighbor_alltoall.hpp"

#include "calls/process.hpp"
#include "team/mpi_neighbors.hpp"

namespace shoal {

namespace {

#ifdef OPEN_MPI
// If all blocks have one size, Open MPI refuses to send blocks of another size than it receives.
bool is_looked_at(const exchange_call&, const user_buffer&) { return true; }
bool do_edges_match(const exchange_call& call, const payload& what) {
  return !call.uniform || what.send.bytes(0) == what.recv.bytes(0);
}
#else
// If all blocks have one size and are empty, MPICH and its kin do not look at their type.
bool is_looked_at(const exchange_call& call, const user_buffer& side) { return !call.uniform || side.counts[0] != 0; }
bool do_edges_match(const exchange_call&, const payload&) { return true; }
#endif

const char* why_unknown(MPI_Comm comm) {
  return has_neighbors(comm) ? process::why_unknown(comm) : "a communicator without neighbours";
}

}  // namespace

constinit const exchange_kind among_neighbors{
    .what = collective::neighbor_alltoall,
    .is_complete = false,
    .peers = neighbors_of,
    .is_looked_at = is_looked_at,
    .do_sides_match = do_edges_match,
    .learner_of = [](MPI_Comm comm) { return process::get().neighbor_learner_of(comm); },
    .why_unknown = why_unknown,
};

}  // namespace shoal
