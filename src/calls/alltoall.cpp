#include "calls/alltoall.hpp"

#include "calls/process.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

block_peers all_ranks(MPI_Comm comm) {
  int ranks = 0;
  require(PMPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  return {ranks, ranks, {}, {}};
}

#ifdef OPEN_MPI
// Open MPI refuses a call if the rank sends itself another number of bytes than it receives from itself.
bool do_sides_match(const exchange_call& call, const payload& what) {
  int own = 0;
  require(PMPI_Comm_rank(call.comm, &own), "MPI_Comm_rank");
  return what.send.bytes(own) == what.recv.bytes(own);
}
#else
// MPICH and its kin refuse one buffer for sending and receiving if the same arguments describe both sides.
bool do_sides_match(const exchange_call& call, const payload& what) {
  const bool some = !call.uniform || what.recv.counts[0] != 0;
  return call.send != call.recv || !call.are_sides_alike() || !some;
}
#endif

}  // namespace

constinit const exchange_kind among_all{
    .what = collective::alltoall,
    .is_complete = true,
    .peers = all_ranks,
    .is_looked_at = [](const exchange_call&, const user_buffer&) { return true; },
    .do_sides_match = do_sides_match,
    .learner_of = [](MPI_Comm comm) { return process::learner_of(comm); },
    .why_unknown = [](MPI_Comm comm) { return process::why_unknown(comm); },
};

}  // namespace shoal
