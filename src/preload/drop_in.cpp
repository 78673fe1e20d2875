// The drop-in layer: MPI's names, served by Shoal, which calls only PMPI_ functions. preload.c hands on to it. Of it and a
// tool that wraps the same calls, the one found first has them and the other does not see them.
#include <mpi.h>

#include <cstdint>

#include "calls/deleted_attributes.hpp"
#include "calls/forms.hpp"
#include "calls/process.hpp"
#include "team/boundary.hpp"
#include "transport/buffered_sends.hpp"

using namespace shoal;

// What can be found out before MPI_Init does not burden the first exchange.
__attribute__((constructor)) static void find_out_early() { process::get(); }

#pragma GCC visibility push(default)
extern "C" {

// For preload.c: the job has ended.
void shoal_preload_tell_of_none() { process::get().tell_of_none(); }
// For buffers.c.
void shoal_preload_note_buffer() { buffered_sends::expect(); }
// For duplicates.c.
void shoal_preload_note_duplicate(MPI_Comm comm) { process::get().leave_to_duplicate(comm); }
using deleting = int(std::intptr_t, std::intptr_t);
// For frees.c: a function that deletes the attributes of a communicator; null: of all, as MPI ends. Error handlers may throw
// through it. `instead`: null, or the one that does not wait for what is under way there.
//
// MPI_Comm_disconnect of MPICH waits until no request refers to the communicator, and then does what MPI_Comm_free does,
// without a word to other ranks. So the latter serves where a vote is left that may never end. What is lost is the wait for
// messages whose requests the program has freed. Open MPI's waits for all ranks, and for no request.
int shoal_preload_delete(const MPI_Comm* comm, deleting* function, [[maybe_unused]] deleting* instead, std::intptr_t a,
                         std::intptr_t b) {
  [[maybe_unused]] const bool all_ended = process::get().leave(comm);
#ifndef OPEN_MPI
  if (!all_ended && instead) function = instead;
#endif
  const deleted_attributes deleted(comm);
  return function(a, b);
}

int MPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm) {
  return forms::alltoall.blocking(manners::drop_in, MPI_INFO_NULL, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                  recvtype, comm);
}

int MPI_Alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype, void* recvbuf,
                  const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm) {
  return forms::alltoallv.blocking(manners::drop_in, MPI_INFO_NULL, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                   recvcounts, rdispls, recvtype, comm);
}

int MPI_Alltoallw(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
                  void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
                  MPI_Comm comm) {
  return forms::alltoallw.blocking(manners::drop_in, MPI_INFO_NULL, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                   recvcounts, rdispls, recvtypes, comm);
}

int MPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm) {
  return forms::allgather.blocking(manners::drop_in, MPI_INFO_NULL, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                   recvtype, comm);
}

int MPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
                   const int* displs, MPI_Datatype recvtype, MPI_Comm comm) {
  return forms::allgatherv.blocking(manners::drop_in, MPI_INFO_NULL, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                    displs, recvtype, comm);
}

int MPI_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm) {
  return forms::alltoall_c.blocking(manners::drop_in, MPI_INFO_NULL, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                    recvtype, comm);
}

int MPI_Alltoallv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls, MPI_Datatype sendtype,
                    void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls, MPI_Datatype recvtype,
                    MPI_Comm comm) {
  return forms::alltoallv_c.blocking(manners::drop_in, MPI_INFO_NULL, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                     recvcounts, rdispls, recvtype, comm);
}

int MPI_Alltoallw_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                    const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls,
                    const MPI_Datatype* recvtypes, MPI_Comm comm) {
  return forms::alltoallw_c.blocking(manners::drop_in, MPI_INFO_NULL, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                     recvcounts, rdispls, recvtypes, comm);
}

int MPI_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm) {
  return forms::allgather_c.blocking(manners::drop_in, MPI_INFO_NULL, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                     recvtype, comm);
}

int MPI_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, MPI_Comm comm) {
  return forms::allgatherv_c.blocking(manners::drop_in, MPI_INFO_NULL, sendbuf, sendcount, sendtype, recvbuf,
                                      recvcounts, displs, recvtype, comm);
}

int MPI_Neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                          MPI_Datatype recvtype, MPI_Comm comm) {
  return forms::neighbor_alltoall.blocking(manners::drop_in, MPI_INFO_NULL, sendbuf, sendcount, sendtype, recvbuf,
                                           recvcount, recvtype, comm);
}

int MPI_Neighbor_alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                           void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                           MPI_Comm comm) {
  return forms::neighbor_alltoallv.blocking(manners::drop_in, MPI_INFO_NULL, sendbuf, sendcounts, sdispls, sendtype,
                                            recvbuf, recvcounts, rdispls, recvtype, comm);
}

int MPI_Neighbor_alltoallw(const void* sendbuf, const int* sendcounts, const MPI_Aint* sdispls,
                           const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts, const MPI_Aint* rdispls,
                           const MPI_Datatype* recvtypes, MPI_Comm comm) {
  return forms::neighbor_alltoallw.blocking(manners::drop_in, MPI_INFO_NULL, sendbuf, sendcounts, sdispls, sendtypes,
                                            recvbuf, recvcounts, rdispls, recvtypes, comm);
}

// Called only where the MPI has them.
int MPI_Neighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                            MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return forms::neighbor_alltoall_c.blocking(manners::drop_in, MPI_INFO_NULL, sendbuf, sendcount, sendtype, recvbuf,
                                             recvcount, recvtype, comm);
}

int MPI_Neighbor_alltoallv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                             MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls,
                             MPI_Datatype recvtype, MPI_Comm comm) {
  return forms::neighbor_alltoallv_c.blocking(manners::drop_in, MPI_INFO_NULL, sendbuf, sendcounts, sdispls, sendtype,
                                              recvbuf, recvcounts, rdispls, recvtype, comm);
}

int MPI_Neighbor_alltoallw_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                             const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts,
                             const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm) {
  return forms::neighbor_alltoallw_c.blocking(manners::drop_in, MPI_INFO_NULL, sendbuf, sendcounts, sdispls, sendtypes,
                                              recvbuf, recvcounts, rdispls, recvtypes, comm);
}

int MPI_Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return forms::ialltoall.nonblocking(request, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Ialltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype, void* recvbuf,
                   const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
                   MPI_Request* request) {
  return forms::ialltoallv.nonblocking(request, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                       recvtype, comm);
}

int MPI_Ialltoallw(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
                   void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
                   MPI_Comm comm, MPI_Request* request) {
  return forms::ialltoallw.nonblocking(request, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                       recvtypes, comm);
}

int MPI_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return forms::alltoall_init.persistent(info, request, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                         comm);
}

int MPI_Alltoallv_init(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                       void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
                       MPI_Info info, MPI_Request* request) {
  return forms::alltoallv_init.persistent(info, request, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                          rdispls, recvtype, comm);
}

int MPI_Alltoallw_init(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
                       void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
                       MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return forms::alltoallw_init.persistent(info, request, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                          rdispls, recvtypes, comm);
}

int MPI_Ialltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return forms::ialltoall_c.nonblocking(request, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Ialltoallv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls, MPI_Datatype sendtype,
                     void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls, MPI_Datatype recvtype,
                     MPI_Comm comm, MPI_Request* request) {
  return forms::ialltoallv_c.nonblocking(request, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                         recvtype, comm);
}

int MPI_Ialltoallw_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                     const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls,
                     const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Request* request) {
  return forms::ialltoallw_c.nonblocking(request, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                         recvtypes, comm);
}

int MPI_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                        MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        MPI_Request* request) {
  return forms::alltoall_init_c.persistent(info, request, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                           comm);
}

int MPI_Alltoallv_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                         MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls,
                         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return forms::alltoallv_init_c.persistent(info, request, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                            rdispls, recvtype, comm);
}

int MPI_Alltoallw_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                         const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts,
                         const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Info info,
                         MPI_Request* request) {
  return forms::alltoallw_init_c.persistent(info, request, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                            rdispls, recvtypes, comm);
}

int MPI_Ineighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return forms::ineighbor_alltoall.nonblocking(request, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                               comm);
}

int MPI_Ineighbor_alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                            void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                            MPI_Comm comm, MPI_Request* request) {
  return forms::ineighbor_alltoallv.nonblocking(request, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                                rdispls, recvtype, comm);
}

int MPI_Ineighbor_alltoallw(const void* sendbuf, const int* sendcounts, const MPI_Aint* sdispls,
                            const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts,
                            const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
                            MPI_Request* request) {
  return forms::ineighbor_alltoallw.nonblocking(request, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                                rdispls, recvtypes, comm);
}

int MPI_Neighbor_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return forms::neighbor_alltoall_init.persistent(info, request, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                  recvtype, comm);
}

int MPI_Neighbor_alltoallv_init(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                                void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                                MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return forms::neighbor_alltoallv_init.persistent(info, request, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                                   recvcounts, rdispls, recvtype, comm);
}

int MPI_Neighbor_alltoallw_init(const void* sendbuf, const int* sendcounts, const MPI_Aint* sdispls,
                                const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts,
                                const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Info info,
                                MPI_Request* request) {
  return forms::neighbor_alltoallw_init.persistent(info, request, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                                   recvcounts, rdispls, recvtypes, comm);
}

int MPI_Ineighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                             MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return forms::ineighbor_alltoall_c.nonblocking(request, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                                 comm);
}

int MPI_Ineighbor_alltoallv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                              MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts,
                              const MPI_Aint* rdispls, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return forms::ineighbor_alltoallv_c.nonblocking(request, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                                  rdispls, recvtype, comm);
}

int MPI_Ineighbor_alltoallw_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                              const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts,
                              const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
                              MPI_Request* request) {
  return forms::ineighbor_alltoallw_c.nonblocking(request, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                                  rdispls, recvtypes, comm);
}

int MPI_Neighbor_alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                 MPI_Request* request) {
  return forms::neighbor_alltoall_init_c.persistent(info, request, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                    recvtype, comm);
}

int MPI_Neighbor_alltoallv_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                                  MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts,
                                  const MPI_Aint* rdispls, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request* request) {
  return forms::neighbor_alltoallv_init_c.persistent(info, request, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                                     recvcounts, rdispls, recvtype, comm);
}

int MPI_Neighbor_alltoallw_init_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                                  const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts,
                                  const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Info info,
                                  MPI_Request* request) {
  return forms::neighbor_alltoallw_init_c.persistent(info, request, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                                     recvcounts, rdispls, recvtypes, comm);
}

int MPI_Start(MPI_Request* request) { return start_request(request); }
int MPI_Startall(int count, MPI_Request requests[]) { return start_requests(count, requests); }
int MPI_Request_free(MPI_Request* request) { return free_request(request); }

}  // extern "C"
#pragma GCC visibility pop
