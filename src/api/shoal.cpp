// The C functions of shoal.h.
#include "shoal/shoal.h"

#include <cstdio>

#include "calls/forms.hpp"
#include "calls/process.hpp"
#include "team/boundary.hpp"

using namespace shoal;

extern "C" {

int shoal_alltoall_with(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                        MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info) {
  return forms::alltoall.blocking(manners::strict, info, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                  comm);
}

int shoal_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm) {
  return forms::alltoall.blocking(manners::strict, MPI_INFO_NULL, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                  recvtype, comm);
}

int shoal_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return forms::alltoall_c.blocking(manners::strict, MPI_INFO_NULL, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                    recvtype, comm);
}

int shoal_alltoallv_with(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                         void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Info info) {
  return forms::alltoallv.blocking(manners::strict, info, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                   rdispls, recvtype, comm);
}

int shoal_alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                    void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm) {
  return forms::alltoallv.blocking(manners::strict, MPI_INFO_NULL, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                   recvcounts, rdispls, recvtype, comm);
}

int shoal_alltoallv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls, MPI_Datatype sendtype,
                      void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls, MPI_Datatype recvtype,
                      MPI_Comm comm) {
  return forms::alltoallv_c.blocking(manners::strict, MPI_INFO_NULL, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                     recvcounts, rdispls, recvtype, comm);
}

int shoal_alltoallw_with(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
                         void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
                         MPI_Comm comm, MPI_Info info) {
  return forms::alltoallw.blocking(manners::strict, info, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                   rdispls, recvtypes, comm);
}

int shoal_alltoallw(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
                    void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
                    MPI_Comm comm) {
  return forms::alltoallw.blocking(manners::strict, MPI_INFO_NULL, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                   recvcounts, rdispls, recvtypes, comm);
}

int shoal_alltoallw_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls,
                      const MPI_Datatype* sendtypes, void* recvbuf, const MPI_Count* recvcounts,
                      const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm) {
  return forms::alltoallw_c.blocking(manners::strict, MPI_INFO_NULL, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                     recvcounts, rdispls, recvtypes, comm);
}

int shoal_allgather_with(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info) {
  return forms::allgather.blocking(manners::strict, info, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                   comm);
}

int shoal_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm) {
  return forms::allgather.blocking(manners::strict, MPI_INFO_NULL, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                   recvtype, comm);
}

int shoal_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                      MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return forms::allgather_c.blocking(manners::strict, MPI_INFO_NULL, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                     recvtype, comm);
}

int shoal_allgatherv_with(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          const int* recvcounts, const int* displs, MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info) {
  return forms::allgatherv.blocking(manners::strict, info, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                    recvtype, comm);
}

int shoal_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
                     const int* displs, MPI_Datatype recvtype, MPI_Comm comm) {
  return forms::allgatherv.blocking(manners::strict, MPI_INFO_NULL, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                    displs, recvtype, comm);
}

int shoal_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                       const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, MPI_Comm comm) {
  return forms::allgatherv_c.blocking(manners::strict, MPI_INFO_NULL, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                      displs, recvtype, comm);
}

int shoal_comm_set_info(MPI_Comm comm, MPI_Info info) {
  return returning_codes(comm, [&] {
    std::string wrong;
    try {
      if (between_groups(comm)) {
        if (intercommunicator* state = process::get().groups_of(comm, true, wrong)) state->asked().take(info);
      } else if (communicator* state = process::get().state_of(comm, true, wrong)) {
        const std::scoped_lock alone(state->all().lock());
        state->asked().take(info);
      }
    } catch (const std::invalid_argument& error) {
      return raise_error(comm, MPI_ERR_INFO_VALUE, error.what());
    }
    return wrong.empty() ? MPI_SUCCESS : raise_error(comm, MPI_ERR_OTHER, wrong.c_str());
  });
}

int shoal_comm_explain(MPI_Comm comm, char* text, int size) {
  return returning_codes(comm, [&]() -> int {
    if (!text || size < 1) return raise_error(comm, MPI_ERR_ARG, "shoal_comm_explain needs room for at least one byte");
    const std::string line = process::get().explain(comm);
    std::snprintf(text, static_cast<std::size_t>(size), "%s", line.c_str());
    return MPI_SUCCESS;
  });
}

}  // extern "C"
