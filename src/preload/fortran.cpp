// Fortran's names, for Open MPI: its Fortran wrappers call PMPI_ functions, so the C names of preload.c do not see
// them. Those of MPICH and Intel MPI call the C names, with few exceptions.
//
// `use mpi` and mpif.h bind to mpi_alltoall in the compiler's mangling. `use mpi_f08` binds to mpi_alltoall_f08_,
// which fetches the handles' integers and calls ompi_alltoall_f: that one is taken, because it gets plain addresses
// whatever the compiler passes to the first.
#include <mpi.h>

#ifdef OPEN_MPI

#include <cstdint>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "calls/forms.hpp"
#include "calls/fortran_types.hpp"
#include "preload/fortran_constants.hpp"
#include "team/boundary.hpp"
#include "team/mpi_neighbors.hpp"

using namespace shoal;

static_assert(sizeof(MPI_Fint) == sizeof(int), "the counts of a Fortran with 64-bit default integers need copies");

namespace {

void* buffer(void* address) { return fortran_constants::get().in_c(address); }

void give_back(int code, MPI_Fint* ierror) {
  if (ierror) *ierror = code;
}

// What makes a request, or does something with one.
template <typename Call>
void with_request(MPI_Fint* request, MPI_Fint* ierror, MPI_Request own, Call call) {
  const int code = call(&own);
  if (code == MPI_SUCCESS) *request = PMPI_Request_c2f(own);
  give_back(code, ierror);
}

// C's handles of the types in Fortran's array, until the call returns, or for ever. An MPI wants an address where there are no
// blocks too.
struct types_of_call {
  std::vector<MPI_Datatype> operator()(const MPI_Fint* fortrans, int blocks) const {
    std::vector<MPI_Datatype> these = types_of(fortrans, blocks);
    these.push_back(MPI_DATATYPE_NULL);
    return these;
  }
};

// For an MPI that looks at them until a request ends (Open MPI does). Each list of them stays once: a program makes many
// requests with few lists.
struct lasting_types {
  const std::vector<MPI_Datatype>& operator()(const MPI_Fint* fortrans, int blocks) const {
    static std::mutex one_at_a_time;
    static auto& all = *new std::set<std::vector<MPI_Datatype>>;  // also used at exit
    std::vector<MPI_Datatype> these = types_of_call()(fortrans, blocks);
    const std::scoped_lock alone(one_at_a_time);
    return *all.insert(std::move(these)).first;
  }
};

// A call with C's handles of the blocks' types.
template <typename Types, typename Call>
int with_types(Types types, void* sendbuf, const MPI_Fint* sendtypes, const MPI_Fint* recvtypes, const MPI_Fint* comm,
               Call call) {
  const MPI_Comm of = PMPI_Comm_f2c(*comm);
  return returning_codes(of, [&] {
    const int ranks = peers_of(of);
    const auto& sent = types(sendtypes, buffer(sendbuf) == MPI_IN_PLACE ? 0 : ranks);
    const auto& received = types(recvtypes, ranks);
    return calling_handlers([&] { return call(sent.data(), received.data(), of); });
  });
}

template <typename Types, typename Call>
int with_types_of_neighbors(Types types, const MPI_Fint* sendtypes, const MPI_Fint* recvtypes, const MPI_Fint* comm,
                            Call call) {
  const MPI_Comm of = PMPI_Comm_f2c(*comm);
  return returning_codes(of, [&] {
    const neighbor_ranks among = neighbors_of(of);
    const auto& sent = types(sendtypes, static_cast<int>(among.destinations.size()));
    const auto& received = types(recvtypes, static_cast<int>(among.sources.size()));
    return calling_handlers([&] { return call(sent.data(), received.data(), of); });
  });
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// As shoal_preload_delete(), of drop_in.cpp, for a communicator that Fortran names.
using deleting = int(std::intptr_t, std::intptr_t);
int shoal_preload_delete(const MPI_Comm* comm, deleting* function, deleting* instead, std::intptr_t a, std::intptr_t b);
int shoal_preload_delete_in_fortran(const MPI_Fint* comm, deleting* function, deleting* instead, std::intptr_t a,
                                    std::intptr_t b) {
  const MPI_Comm own = PMPI_Comm_f2c(*comm);
  return shoal_preload_delete(&own, function, instead, a, b);
}

// The same of shoal_preload_note_duplicate().
void shoal_preload_note_duplicate(MPI_Comm comm);
void shoal_preload_note_duplicate_in_fortran(const MPI_Fint* comm) {
  shoal_preload_note_duplicate(PMPI_Comm_f2c(*comm));
}

void mpi_alltoall_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                   MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* ierror) {
  give_back(
      forms::alltoall.blocking(manners::drop_in, MPI_INFO_NULL, buffer(sendbuf), *sendcount, PMPI_Type_f2c(*sendtype),
                               buffer(recvbuf), *recvcount, PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm)),
      ierror);
}

void mpi_alltoallv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtype, void* recvbuf,
                    MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* ierror) {
  give_back(forms::alltoallv.blocking(manners::drop_in, MPI_INFO_NULL, buffer(sendbuf), sendcounts, sdispls,
                                      PMPI_Type_f2c(*sendtype), buffer(recvbuf), recvcounts, rdispls,
                                      PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm)),
            ierror);
}

void mpi_alltoallw_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtypes, void* recvbuf,
                    MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtypes, MPI_Fint* comm, MPI_Fint* ierror) {
  give_back(with_types(types_of_call(), sendbuf, sendtypes, recvtypes, comm,
                       [&](const MPI_Datatype* sent, const MPI_Datatype* received, MPI_Comm of) {
                         return forms::alltoallw.blocking(manners::drop_in, MPI_INFO_NULL, buffer(sendbuf), sendcounts,
                                                          sdispls, sent, buffer(recvbuf), recvcounts, rdispls, received,
                                                          of);
                       }),
            ierror);
}

void mpi_neighbor_alltoall_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                            MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* ierror) {
  give_back(forms::neighbor_alltoall.blocking(manners::drop_in, MPI_INFO_NULL, buffer(sendbuf), *sendcount,
                                              PMPI_Type_f2c(*sendtype), buffer(recvbuf), *recvcount,
                                              PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm)),
            ierror);
}

void mpi_neighbor_alltoallv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtype, void* recvbuf,
                             MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm,
                             MPI_Fint* ierror) {
  give_back(forms::neighbor_alltoallv.blocking(manners::drop_in, MPI_INFO_NULL, buffer(sendbuf), sendcounts, sdispls,
                                               PMPI_Type_f2c(*sendtype), buffer(recvbuf), recvcounts, rdispls,
                                               PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm)),
            ierror);
}

void mpi_neighbor_alltoallw_(void* sendbuf, MPI_Fint* sendcounts, MPI_Aint* sdispls, MPI_Fint* sendtypes, void* recvbuf,
                             MPI_Fint* recvcounts, MPI_Aint* rdispls, MPI_Fint* recvtypes, MPI_Fint* comm,
                             MPI_Fint* ierror) {
  give_back(with_types_of_neighbors(types_of_call(), sendtypes, recvtypes, comm,
                                    [&](const MPI_Datatype* sent, const MPI_Datatype* received, MPI_Comm of) {
                                      return forms::neighbor_alltoallw.blocking(
                                          manners::drop_in, MPI_INFO_NULL, buffer(sendbuf), sendcounts, sdispls, sent,
                                          buffer(recvbuf), recvcounts, rdispls, received, of);
                                    }),
            ierror);
}

void mpi_ialltoall_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                    MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror) {
  with_request(request, ierror, MPI_REQUEST_NULL, [&](MPI_Request* made) {
    return forms::ialltoall.nonblocking(made, buffer(sendbuf), *sendcount, PMPI_Type_f2c(*sendtype), buffer(recvbuf),
                                        *recvcount, PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm));
  });
}

void mpi_ialltoallv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtype, void* recvbuf,
                     MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* request,
                     MPI_Fint* ierror) {
  with_request(request, ierror, MPI_REQUEST_NULL, [&](MPI_Request* made) {
    return forms::ialltoallv.nonblocking(made, buffer(sendbuf), sendcounts, sdispls, PMPI_Type_f2c(*sendtype),
                                         buffer(recvbuf), recvcounts, rdispls, PMPI_Type_f2c(*recvtype),
                                         PMPI_Comm_f2c(*comm));
  });
}

void mpi_ialltoallw_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtypes, void* recvbuf,
                     MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtypes, MPI_Fint* comm, MPI_Fint* request,
                     MPI_Fint* ierror) {
  with_request(request, ierror, MPI_REQUEST_NULL, [&](MPI_Request* made) {
    return with_types(lasting_types(), sendbuf, sendtypes, recvtypes, comm,
                      [&](const MPI_Datatype* sent, const MPI_Datatype* received, MPI_Comm of) {
                        return forms::ialltoallw.nonblocking(made, buffer(sendbuf), sendcounts, sdispls, sent,
                                                             buffer(recvbuf), recvcounts, rdispls, received, of);
                      });
  });
}

void mpi_alltoall_init_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                        MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierror) {
  with_request(request, ierror, MPI_REQUEST_NULL, [&](MPI_Request* made) {
    return forms::alltoall_init.persistent(PMPI_Info_f2c(*info), made, buffer(sendbuf), *sendcount,
                                           PMPI_Type_f2c(*sendtype), buffer(recvbuf), *recvcount,
                                           PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm));
  });
}

void mpi_alltoallv_init_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtype, void* recvbuf,
                         MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* info,
                         MPI_Fint* request, MPI_Fint* ierror) {
  with_request(request, ierror, MPI_REQUEST_NULL, [&](MPI_Request* made) {
    return forms::alltoallv_init.persistent(PMPI_Info_f2c(*info), made, buffer(sendbuf), sendcounts, sdispls,
                                            PMPI_Type_f2c(*sendtype), buffer(recvbuf), recvcounts, rdispls,
                                            PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm));
  });
}

void mpi_alltoallw_init_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtypes, void* recvbuf,
                         MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtypes, MPI_Fint* comm, MPI_Fint* info,
                         MPI_Fint* request, MPI_Fint* ierror) {
  with_request(request, ierror, MPI_REQUEST_NULL, [&](MPI_Request* made) {
    return with_types(lasting_types(), sendbuf, sendtypes, recvtypes, comm,
                      [&](const MPI_Datatype* sent, const MPI_Datatype* received, MPI_Comm of) {
                        return forms::alltoallw_init.persistent(PMPI_Info_f2c(*info), made, buffer(sendbuf), sendcounts,
                                                                sdispls, sent, buffer(recvbuf), recvcounts, rdispls,
                                                                received, of);
                      });
  });
}

void mpi_ineighbor_alltoall_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                             MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror) {
  with_request(request, ierror, MPI_REQUEST_NULL, [&](MPI_Request* made) {
    return forms::ineighbor_alltoall.nonblocking(made, buffer(sendbuf), *sendcount, PMPI_Type_f2c(*sendtype),
                                                 buffer(recvbuf), *recvcount, PMPI_Type_f2c(*recvtype),
                                                 PMPI_Comm_f2c(*comm));
  });
}

void mpi_ineighbor_alltoallv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtype, void* recvbuf,
                              MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm,
                              MPI_Fint* request, MPI_Fint* ierror) {
  with_request(request, ierror, MPI_REQUEST_NULL, [&](MPI_Request* made) {
    return forms::ineighbor_alltoallv.nonblocking(made, buffer(sendbuf), sendcounts, sdispls, PMPI_Type_f2c(*sendtype),
                                                  buffer(recvbuf), recvcounts, rdispls, PMPI_Type_f2c(*recvtype),
                                                  PMPI_Comm_f2c(*comm));
  });
}

void mpi_ineighbor_alltoallw_(void* sendbuf, MPI_Fint* sendcounts, MPI_Aint* sdispls, MPI_Fint* sendtypes,
                              void* recvbuf, MPI_Fint* recvcounts, MPI_Aint* rdispls, MPI_Fint* recvtypes,
                              MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror) {
  with_request(request, ierror, MPI_REQUEST_NULL, [&](MPI_Request* made) {
    return with_types_of_neighbors(lasting_types(), sendtypes, recvtypes, comm,
                                   [&](const MPI_Datatype* sent, const MPI_Datatype* received, MPI_Comm of) {
                                     return forms::ineighbor_alltoallw.nonblocking(made, buffer(sendbuf), sendcounts,
                                                                                   sdispls, sent, buffer(recvbuf),
                                                                                   recvcounts, rdispls, received, of);
                                   });
  });
}

void mpi_neighbor_alltoall_init_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf,
                                 MPI_Fint* recvcount, MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* info,
                                 MPI_Fint* request, MPI_Fint* ierror) {
  with_request(request, ierror, MPI_REQUEST_NULL, [&](MPI_Request* made) {
    return forms::neighbor_alltoall_init.persistent(PMPI_Info_f2c(*info), made, buffer(sendbuf), *sendcount,
                                                    PMPI_Type_f2c(*sendtype), buffer(recvbuf), *recvcount,
                                                    PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm));
  });
}

void mpi_neighbor_alltoallv_init_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtype,
                                  void* recvbuf, MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtype,
                                  MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierror) {
  with_request(request, ierror, MPI_REQUEST_NULL, [&](MPI_Request* made) {
    return forms::neighbor_alltoallv_init.persistent(PMPI_Info_f2c(*info), made, buffer(sendbuf), sendcounts, sdispls,
                                                     PMPI_Type_f2c(*sendtype), buffer(recvbuf), recvcounts, rdispls,
                                                     PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm));
  });
}

void mpi_neighbor_alltoallw_init_(void* sendbuf, MPI_Fint* sendcounts, MPI_Aint* sdispls, MPI_Fint* sendtypes,
                                  void* recvbuf, MPI_Fint* recvcounts, MPI_Aint* rdispls, MPI_Fint* recvtypes,
                                  MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierror) {
  with_request(request, ierror, MPI_REQUEST_NULL, [&](MPI_Request* made) {
    return with_types_of_neighbors(lasting_types(), sendtypes, recvtypes, comm,
                                   [&](const MPI_Datatype* sent, const MPI_Datatype* received, MPI_Comm of) {
                                     return forms::neighbor_alltoallw_init.persistent(
                                         PMPI_Info_f2c(*info), made, buffer(sendbuf), sendcounts, sdispls, sent,
                                         buffer(recvbuf), recvcounts, rdispls, received, of);
                                   });
  });
}

void mpi_start_(MPI_Fint* request, MPI_Fint* ierror) {
  with_request(request, ierror, PMPI_Request_f2c(*request), start_request);
}

void mpi_startall_(MPI_Fint* count, MPI_Fint* requests, MPI_Fint* ierror) {
  const int code = returning_codes(MPI_COMM_SELF, [&] {
    std::vector<MPI_Request> own;
    for (int i = 0; i < *count; ++i) own.push_back(PMPI_Request_f2c(requests[i]));
    const int started = calling_handlers([&] { return start_requests(*count, own.data()); });
    for (int i = 0; i < *count && started == MPI_SUCCESS; ++i) requests[i] = PMPI_Request_c2f(own[i]);
    return started;
  });
  give_back(code, ierror);
}

void mpi_request_free_(MPI_Fint* request, MPI_Fint* ierror) {
  with_request(request, ierror, PMPI_Request_f2c(*request), free_request);
}

void mpi_allgather_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                    MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* ierror) {
  give_back(
      forms::allgather.blocking(manners::drop_in, MPI_INFO_NULL, buffer(sendbuf), *sendcount, PMPI_Type_f2c(*sendtype),
                                buffer(recvbuf), *recvcount, PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm)),
      ierror);
}

void mpi_allgatherv_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcounts,
                     MPI_Fint* displs, MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* ierror) {
  give_back(
      forms::allgatherv.blocking(manners::drop_in, MPI_INFO_NULL, buffer(sendbuf), *sendcount, PMPI_Type_f2c(*sendtype),
                                 buffer(recvbuf), recvcounts, displs, PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm)),
      ierror);
}

// The same under the other names.
#define SHOAL_SAME_AS(name) __attribute__((alias(#name)))
#define SHOAL_ALL_NAMES(lower, upper)                                                                                \
  decltype(mpi_##lower##_) mpi_##lower SHOAL_SAME_AS(mpi_##lower##_), mpi_##lower##__ SHOAL_SAME_AS(mpi_##lower##_), \
      MPI_##upper SHOAL_SAME_AS(mpi_##lower##_), ompi_##lower##_f SHOAL_SAME_AS(mpi_##lower##_)
SHOAL_ALL_NAMES(alltoall, ALLTOALL);
SHOAL_ALL_NAMES(alltoallv, ALLTOALLV);
SHOAL_ALL_NAMES(alltoallw, ALLTOALLW);
SHOAL_ALL_NAMES(neighbor_alltoall, NEIGHBOR_ALLTOALL);
SHOAL_ALL_NAMES(neighbor_alltoallv, NEIGHBOR_ALLTOALLV);
SHOAL_ALL_NAMES(neighbor_alltoallw, NEIGHBOR_ALLTOALLW);
SHOAL_ALL_NAMES(ialltoall, IALLTOALL);
SHOAL_ALL_NAMES(ialltoallv, IALLTOALLV);
SHOAL_ALL_NAMES(ialltoallw, IALLTOALLW);
SHOAL_ALL_NAMES(alltoall_init, ALLTOALL_INIT);
SHOAL_ALL_NAMES(alltoallv_init, ALLTOALLV_INIT);
SHOAL_ALL_NAMES(alltoallw_init, ALLTOALLW_INIT);
SHOAL_ALL_NAMES(ineighbor_alltoall, INEIGHBOR_ALLTOALL);
SHOAL_ALL_NAMES(ineighbor_alltoallv, INEIGHBOR_ALLTOALLV);
SHOAL_ALL_NAMES(ineighbor_alltoallw, INEIGHBOR_ALLTOALLW);
SHOAL_ALL_NAMES(neighbor_alltoall_init, NEIGHBOR_ALLTOALL_INIT);
SHOAL_ALL_NAMES(neighbor_alltoallv_init, NEIGHBOR_ALLTOALLV_INIT);
SHOAL_ALL_NAMES(neighbor_alltoallw_init, NEIGHBOR_ALLTOALLW_INIT);
SHOAL_ALL_NAMES(start, START);
SHOAL_ALL_NAMES(startall, STARTALL);
SHOAL_ALL_NAMES(request_free, REQUEST_FREE);
SHOAL_ALL_NAMES(allgather, ALLGATHER);
SHOAL_ALL_NAMES(allgatherv, ALLGATHERV);
#undef SHOAL_ALL_NAMES
#undef SHOAL_SAME_AS

}  // extern "C"
#pragma GCC visibility pop

#elif defined(MPICH_NAME)  // the standard ABI knows no Fortran

#include "calls/open_exchange.hpp"

// MPICH's `use mpi_f08` calls PMPI_ functions where nothing but handles is passed. There those are C's.
#pragma GCC visibility push(default)
extern "C" {

void mpi_start_f08_(MPI_Request* request, MPI_Fint* ierror) {
  const int code = shoal::start_request(request);
  if (ierror) *ierror = code;
}

void mpi_startall_f08_(const MPI_Fint* count, MPI_Request* requests, MPI_Fint* ierror) {
  const int code = shoal::start_requests(*count, requests);
  if (ierror) *ierror = code;
}

void mpi_request_free_f08_(MPI_Request* request, MPI_Fint* ierror) {
  const int code = shoal::free_request(request);
  if (ierror) *ierror = code;
}

}  // extern "C"
#pragma GCC visibility pop

#endif  // OPEN_MPI
