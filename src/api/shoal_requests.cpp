// The C functions of shoal.h that start an exchange in one call and end it in another.
#include "api/boundary.hpp"
#include "api/native.hpp"
#include "api/process.hpp"
#include "api/request.hpp"
#include "shoal/shoal.h"

using namespace shoal;

namespace {

request* data_of(shoal_request handle) { return reinterpret_cast<request*>(handle); }

void free(shoal_request* handle) {
  delete data_of(*handle);
  *handle = SHOAL_REQUEST_NULL;
}

int nonblocking(const alltoall_call& call, request::native_start native, shoal_request* handle) {
  *handle = SHOAL_REQUEST_NULL;
  return returning_codes(call.comm, [&] {
    auto made = std::make_unique<request>(call, std::move(native));
    if (communicator* state = process::get().present_state_of(call.comm)) made->prepare_once(*state);
    made->start();
    *handle = reinterpret_cast<shoal_request>(made.release());
    return MPI_SUCCESS;
  });
}

int persistent(const alltoall_call& call, MPI_Info info, request::native_start native, shoal_request* handle) {
  *handle = SHOAL_REQUEST_NULL;
  return returning_codes(call.comm, [&]() -> int {
    auto made = std::make_unique<request>(call, std::move(native));
    std::string wrong;
    communicator* const state = process::get().state_of(call.comm, wrong);
    if (!state && !wrong.empty()) return raise_error(call.comm, MPI_ERR_OTHER, wrong);
    made->prepare_repeated(state, info);
    *handle = reinterpret_cast<shoal_request>(made.release());
    return MPI_SUCCESS;
  });
}

// Runs the body on a request's data; then frees what was to be run once and has ended.
template <typename Body>
int on_request(shoal_request* handle, Body body) {
  request* data = data_of(*handle);
  return returning_codes(data->comm(), [&] {
    body(*data);
    if (!data->active() && !data->repeated()) free(handle);
    return MPI_SUCCESS;
  });
}

}  // namespace

extern "C" {

int shoal_ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm, shoal_request* request) {
  const auto call = uniform_call(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  return nonblocking(
      call,
      [=](MPI_Request* own) {
        return PMPI_Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, own);
      },
      request);
}

int shoal_ialltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                     void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
                     shoal_request* request) {
  const alltoall_call call{false,    sendbuf, number_array(sendcounts), number_array(sdispls),
                           sendtype, recvbuf, number_array(recvcounts), number_array(rdispls),
                           recvtype, comm};
  return nonblocking(
      call,
      [=](MPI_Request* own) {
        return PMPI_Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
                               own);
      },
      request);
}

int shoal_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                        MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, shoal_request* request) {
  const auto call = uniform_call(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  return persistent(
      call, info,
      [=](MPI_Request* own) {
        return native_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, own);
      },
      request);
}

int shoal_alltoallv_init(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                         void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Info info, shoal_request* request) {
  const alltoall_call call{false,    sendbuf, number_array(sendcounts), number_array(sdispls),
                           sendtype, recvbuf, number_array(recvcounts), number_array(rdispls),
                           recvtype, comm};
  return persistent(
      call, info,
      [=](MPI_Request* own) {
        return native_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                                     comm, own);
      },
      request);
}

int shoal_start(shoal_request request) {
  if (!request) return MPI_ERR_REQUEST;
  return returning_codes(data_of(request)->comm(), [&] {
    if (!data_of(request)->repeated()) throw mpi_error(MPI_ERR_REQUEST, "only persistent requests are started");
    data_of(request)->start();
    return MPI_SUCCESS;
  });
}

int shoal_test(shoal_request* request, int* flag) {
  *flag = 1;
  if (!*request) return MPI_SUCCESS;
  return on_request(request, [&](auto& data) { *flag = data.test(); });
}

int shoal_wait(shoal_request* request) {
  if (!*request) return MPI_SUCCESS;
  return on_request(request, [](auto& data) { data.wait(); });
}

int shoal_request_free(shoal_request* request) {
  if (!*request) return MPI_ERR_REQUEST;
  if (data_of(*request)->active())
    return raise_error(data_of(*request)->comm(), MPI_ERR_REQUEST, "a request under way cannot be freed; wait first");
  free(request);
  return MPI_SUCCESS;
}

}  // extern "C"
