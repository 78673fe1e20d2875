// Fortran's names, for Open MPI: its Fortran wrappers call PMPI_ functions, so the C names of preload.cpp do not see
// them. Those of MPICH and Intel MPI call the C names, and nothing is exported here.
//
// `use mpi` and mpif.h bind to mpi_alltoall in the compiler's mangling. `use mpi_f08` binds to mpi_alltoall_f08_,
// which fetches the handles' integers and calls ompi_alltoall_f: that one is taken, because it gets plain addresses
// whatever the compiler passes to the first.
#include <mpi.h>

#ifdef OPEN_MPI

#include <vector>

#include "preload/serve.hpp"

using namespace shoal;

static_assert(sizeof(MPI_Fint) == sizeof(int), "the counts of a Fortran with 64-bit default integers need copies");

// Fortran's MPI_IN_PLACE and MPI_BOTTOM: the addresses of common blocks that Open MPI or the program defines.
extern "C" {
#define SHOAL_COMMON extern int __attribute__((weak))
SHOAL_COMMON mpi_fortran_in_place, mpi_fortran_in_place_, mpi_fortran_in_place__, MPI_FORTRAN_IN_PLACE;
SHOAL_COMMON mpi_fortran_bottom, mpi_fortran_bottom_, mpi_fortran_bottom__, MPI_FORTRAN_BOTTOM;
#undef SHOAL_COMMON
}

namespace {

bool is_in_place(const void* p) {
  return p && (p == &mpi_fortran_in_place || p == &mpi_fortran_in_place_ || p == &mpi_fortran_in_place__ ||
               p == &MPI_FORTRAN_IN_PLACE);
}

bool is_bottom(const void* p) {
  return p && (p == &mpi_fortran_bottom || p == &mpi_fortran_bottom_ || p == &mpi_fortran_bottom__ ||
               p == &MPI_FORTRAN_BOTTOM);
}

void* buffer(void* p) { return is_in_place(p) ? MPI_IN_PLACE : is_bottom(p) ? MPI_BOTTOM : p; }

void give_back(int code, MPI_Fint* ierror) {
  if (ierror) *ierror = code;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void mpi_alltoall_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                   MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* ierror) {
  give_back(serve_alltoall(buffer(sendbuf), *sendcount, PMPI_Type_f2c(*sendtype), buffer(recvbuf), *recvcount,
                           PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm)),
            ierror);
}

void mpi_alltoallv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtype, void* recvbuf,
                    MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* ierror) {
  give_back(serve_alltoallv(buffer(sendbuf), sendcounts, sdispls, PMPI_Type_f2c(*sendtype), buffer(recvbuf), recvcounts,
                            rdispls, PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm)),
            ierror);
}

void mpi_alltoallw_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtypes, void* recvbuf,
                    MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtypes, MPI_Fint* comm, MPI_Fint* ierror) {
  const MPI_Comm of = PMPI_Comm_f2c(*comm);
  const int ranks = peers_of(of);
  const std::vector<MPI_Datatype> sent = types_of(sendtypes, is_in_place(sendbuf) ? 0 : ranks);
  const std::vector<MPI_Datatype> received = types_of(recvtypes, ranks);
  give_back(serve_alltoallw(buffer(sendbuf), sendcounts, sdispls, sent.data(), buffer(recvbuf), recvcounts, rdispls,
                            received.data(), of),
            ierror);
}

void mpi_allgather_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                    MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* ierror) {
  give_back(serve_allgather(buffer(sendbuf), *sendcount, PMPI_Type_f2c(*sendtype), buffer(recvbuf), *recvcount,
                            PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm)),
            ierror);
}

void mpi_allgatherv_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcounts,
                     MPI_Fint* displs, MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* ierror) {
  give_back(serve_allgatherv(buffer(sendbuf), *sendcount, PMPI_Type_f2c(*sendtype), buffer(recvbuf), recvcounts, displs,
                             PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm)),
            ierror);
}

// The same under the other names.
#define SHOAL_SAME_AS(name) __attribute__((alias(#name)))
decltype(mpi_alltoall_) mpi_alltoall SHOAL_SAME_AS(mpi_alltoall_), mpi_alltoall__ SHOAL_SAME_AS(mpi_alltoall_),
    MPI_ALLTOALL SHOAL_SAME_AS(mpi_alltoall_), ompi_alltoall_f SHOAL_SAME_AS(mpi_alltoall_);
decltype(mpi_alltoallv_) mpi_alltoallv SHOAL_SAME_AS(mpi_alltoallv_), mpi_alltoallv__ SHOAL_SAME_AS(mpi_alltoallv_),
    MPI_ALLTOALLV SHOAL_SAME_AS(mpi_alltoallv_), ompi_alltoallv_f SHOAL_SAME_AS(mpi_alltoallv_);
decltype(mpi_alltoallw_) mpi_alltoallw SHOAL_SAME_AS(mpi_alltoallw_), mpi_alltoallw__ SHOAL_SAME_AS(mpi_alltoallw_),
    MPI_ALLTOALLW SHOAL_SAME_AS(mpi_alltoallw_), ompi_alltoallw_f SHOAL_SAME_AS(mpi_alltoallw_);
decltype(mpi_allgather_) mpi_allgather SHOAL_SAME_AS(mpi_allgather_), mpi_allgather__ SHOAL_SAME_AS(mpi_allgather_),
    MPI_ALLGATHER SHOAL_SAME_AS(mpi_allgather_), ompi_allgather_f SHOAL_SAME_AS(mpi_allgather_);
decltype(mpi_allgatherv_) mpi_allgatherv SHOAL_SAME_AS(mpi_allgatherv_),
    mpi_allgatherv__ SHOAL_SAME_AS(mpi_allgatherv_), MPI_ALLGATHERV SHOAL_SAME_AS(mpi_allgatherv_),
    ompi_allgatherv_f SHOAL_SAME_AS(mpi_allgatherv_);
#undef SHOAL_SAME_AS

}  // extern "C"
#pragma GCC visibility pop

#endif  // OPEN_MPI
