// The C functions of shoal.h.
#include "shoal/shoal.h"

#include <cstdio>

#include "api/allgather.hpp"
#include "api/alltoall.hpp"
#include "api/boundary.hpp"
#include "api/native.hpp"
#include "api/process.hpp"

using namespace shoal;

namespace {

// The texts of two keys, for equal sizes and for any; empty where a key is absent. Throws where they differ between ranks.
struct asked_texts {
  std::string uniform, other;

  asked_texts(communicator& ranks, MPI_Info info, const std::string& key)
      : uniform(info_value(info, key.c_str()).text()), other(info_value(info, (key + "v").c_str()).text()) {
    if (!ranks.same_everywhere(hash_of(uniform + "|" + other)))
      throw std::invalid_argument(key + " or " + key + "v differ between ranks; give every rank the same info");
  }
};

void set_from_info(communicator& state, MPI_Info info) {
  const asked_texts texts(state, info, "shoal_alltoall");
  settings asked;
  if (!texts.uniform.empty()) asked.set("alltoall", texts.uniform);
  if (!texts.other.empty()) asked.set("alltoallv", texts.other);
  for (const auto& how : {asked.alltoall, asked.alltoallv})
    if (how) state.prepare(*how);  // throws where it cannot serve so many ranks
  if (!texts.uniform.empty()) state.request(true, asked.alltoall);
  if (!texts.other.empty()) state.request(false, asked.alltoallv);
}

void set_from_info(intercommunicator& state, MPI_Info info) {
  const asked_texts texts(state.all(), info, "shoal_allgather");
  settings asked;
  if (!texts.uniform.empty()) asked.set("allgather", texts.uniform);
  if (!texts.other.empty()) asked.set("allgatherv", texts.other);
  for (const auto& how : {asked.allgather, asked.allgatherv})
    if (how) state.require_service(*how);
  if (!texts.uniform.empty()) state.request(true, asked.allgather);
  if (!texts.other.empty()) state.request(false, asked.allgatherv);
}

bool between_groups(MPI_Comm comm) {
  int inter = 0;
  require(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  return inter;
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

int shoal_allgather_with(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info) {
  return allgather(gather_call(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), manners::strict, info,
                   [&] { return PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm); });
}

int shoal_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm) {
  return shoal_allgather_with(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, MPI_INFO_NULL);
}

int shoal_allgatherv_with(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          const int* recvcounts, const int* displs, MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info) {
  const auto call = gather_call(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
  return allgather(call, manners::strict, info, [&] {
    return PMPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
  });
}

int shoal_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int* recvcounts,
                     const int* displs, MPI_Datatype recvtype, MPI_Comm comm) {
  return shoal_allgatherv_with(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm,
                               MPI_INFO_NULL);
}

int shoal_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                      MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return allgather(gather_call(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), manners::strict,
                   MPI_INFO_NULL,
                   [&] { return native_allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm); });
}

int shoal_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                       const MPI_Count* recvcounts, const MPI_Aint* displs, MPI_Datatype recvtype, MPI_Comm comm) {
  const auto call = gather_call(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
  return allgather(call, manners::strict, MPI_INFO_NULL, [&] {
    return native_allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
  });
}

int shoal_comm_set_info(MPI_Comm comm, MPI_Info info) {
  try {
    std::string wrong;
    if (between_groups(comm)) {
      if (intercommunicator* state = process::get().groups_of(comm, wrong)) set_from_info(*state, info);
    } else if (communicator* state = process::get().state_of(comm, wrong)) {
      set_from_info(*state, info);
    }
    return wrong.empty() ? MPI_SUCCESS : raise_error(comm, MPI_ERR_OTHER, wrong);
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
