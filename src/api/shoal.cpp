// The C functions of shoal.h.
#include "shoal/shoal.h"

#include <array>
#include <cstdio>

#include "api/alltoall.hpp"
#include "api/native.hpp"
#include "api/process.hpp"
#include "execute/mpi_error.hpp"

using namespace shoal;

namespace {

std::string info_value(MPI_Info info, const char* key) {
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int found = 0;
  require(PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &found), "MPI_Info_get");
  return value.data();
}

void set_from_info(communicator& state, MPI_Info info) {
  const std::string uniform = info_value(info, "shoal_alltoall"), other = info_value(info, "shoal_alltoallv");
  if (!state.same_everywhere(hash_of(uniform + "|" + other)))
    throw std::invalid_argument("shoal_alltoall or shoal_alltoallv differ between ranks; give every rank the same info");
  settings asked;
  if (!uniform.empty()) asked.set("alltoall", uniform);
  if (!other.empty()) asked.set("alltoallv", other);
  for (const auto& how : {asked.alltoall, asked.alltoallv})
    if (how) state.prepare(*how);  // throws where it cannot serve so many ranks
  if (!uniform.empty()) state.request(true, asked.alltoall);
  if (!other.empty()) state.request(false, asked.alltoallv);
}

}  // namespace

extern "C" {

int shoal_alltoall_with(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                        MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info) {
  return alltoall(uniform_call(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), manners::strict, info,
                  [&] { return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm); });
}

int shoal_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm) {
  return shoal_alltoall_with(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, MPI_INFO_NULL);
}

int shoal_alltoallv_with(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                         void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Info info) {
  const alltoall_call call{false,   sendbuf, number_array(sendcounts), number_array(sdispls), sendtype,
                           recvbuf, number_array(recvcounts), number_array(rdispls), recvtype, comm};
  return alltoall(call, manners::strict, info, [&] {
    return PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
  });
}

int shoal_alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                    void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm) {
  return shoal_alltoallv_with(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
                              MPI_INFO_NULL);
}

int shoal_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return alltoall(uniform_call(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), manners::strict,
                  MPI_INFO_NULL,
                  [&] { return native_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm); });
}

int shoal_alltoallv_c(const void* sendbuf, const MPI_Count* sendcounts, const MPI_Aint* sdispls, MPI_Datatype sendtype,
                      void* recvbuf, const MPI_Count* recvcounts, const MPI_Aint* rdispls, MPI_Datatype recvtype,
                      MPI_Comm comm) {
  const alltoall_call call{false,   sendbuf, number_array(sendcounts), number_array(sdispls), sendtype,
                           recvbuf, number_array(recvcounts), number_array(rdispls), recvtype, comm};
  return alltoall(call, manners::strict, MPI_INFO_NULL, [&] {
    return native_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
  });
}

int shoal_comm_set_info(MPI_Comm comm, MPI_Info info) {
  try {
    std::string wrong;
    communicator* state = process::get().state_of(comm, wrong);
    if (state) set_from_info(*state, info);
    else if (!wrong.empty()) return raise_error(comm, MPI_ERR_OTHER, wrong);
    return MPI_SUCCESS;
  } catch (const mpi_error& error) {
    return raise_code(comm, error.code());
  } catch (const std::exception& error) {
    return raise_error(comm, MPI_ERR_INFO_VALUE, error.what());
  }
}

int shoal_comm_explain(MPI_Comm comm, char* text, int size) {
  if (!text || size < 1) return raise_error(comm, MPI_ERR_ARG, "shoal_comm_explain needs room for at least one byte");
  const std::string line = process::get().explain(comm);
  std::snprintf(text, static_cast<std::size_t>(size), "%s", line.c_str());
  return MPI_SUCCESS;
}

}  // extern "C"
