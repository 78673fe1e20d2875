// The functions of MPI that Shoal serves, each with a description of its arguments and with the MPI's own function. The
// functions of shoal.h, and MPI's names in the preload, in C and Fortran, pass their arguments on from here.
#pragma once

#include <mpi.h>

#include <tuple>

#include "calls/allgather.hpp"
#include "calls/alltoall.hpp"
#include "calls/exchange_call.hpp"
#include "calls/native.hpp"
#include "calls/native_call.hpp"
#include "calls/neighbor_alltoall.hpp"
#include "calls/open_exchange.hpp"
#include "calls/passing.hpp"
#include "calls/process.hpp"
#include "team/boundary.hpp"
#include "transport/mpi_newer.hpp"

namespace shoal {

// Where calls go on: among all ranks, along the edges of a grid or graph, or between two groups. of() says so in the
// description of a call, and go_on() serves a blocking one.
struct among_ranks {
  static exchange_call of(exchange_call call) { return call.kind = &among_all, call; }
  template <typename Describe, typename... All>
  static int go_on(interface from, MPI_Info info, MPI_Comm comm, Describe describe, native_call native, All... all) {
    return from == interface::mpi ? alltoall_of_mpi(comm, describe, native, all...)
                                  : alltoall_of_shoal(comm, info, describe, native, all...);
  }
};
struct along_edges {
  static exchange_call of(exchange_call call) { return call.kind = &among_neighbors, call; }
  template <typename Describe, typename... All>
  static int go_on(interface from, MPI_Info, MPI_Comm comm, Describe describe, native_call native, All...) {
    if (from == interface::mpi && recent_calls::is_alone(comm)) return returning_codes(comm, native);
    return serve_along_edges(describe(), from, native);
  }
};
struct between_two_groups {
  static allgather_call of(const allgather_call& call) { return call; }
  template <typename Describe, typename... All>
  static int go_on(interface from, MPI_Info info, MPI_Comm comm, Describe describe, native_call native, All... all) {
    return from == interface::mpi ? allgather_of_mpi(comm, describe, native, all...)
                                  : allgather(describe(), from, info, native);
  }
};

// `all` are the arguments of the MPI's blocking function, with counts of either width.
template <typename Route, typename Describe, typename Native>
class form {
 public:
  constexpr form(Route, Describe describe, Native native) : describe_(describe), native_(native) {}

  template <typename... All>
  auto describe(All... all) const {
    return describe_(all...);
  }
  // Flattened, so that a call that passes runs through one piece of code (see passing.hpp).
  template <typename... All>
  [[gnu::hot, gnu::flatten]] int blocking(interface from, MPI_Info info, All... all) const {
    const MPI_Comm comm = last_of(all...);
    const auto native = [&] { return native_(all...); };
    return Route::go_on(from, info, comm, [&] { return describe(all...); }, native, all...);
  }
  // Instead of blocking() for a call that passed in the preload, where the MPI's own function returned `code`, an error.
  template <typename... All>
  int ended_passing(int code, All... all) const {
    const MPI_Comm comm = last_of(all...);
    return returning_codes(comm, [&] { return carry_out_passed(describe(all...), [&] { return code; }); });
  }
  // Behind requests of the MPI's own. persistent() is called only if the MPI has persistent collectives.
  template <typename... All>
  int nonblocking(MPI_Request* request, All... all) const {
    return start_exchange(describe_for(request, all...), request, [&] { return native_(all..., request); });
  }
  template <typename... All>
  int persistent(MPI_Info info, MPI_Request* request, All... all) const {
    return prepare_exchange(describe_for(request, all...), info, request,
                            [&] { return native_(all..., info, request); });
  }

 private:
  template <typename... All>
  static MPI_Comm last_of(All... all) {
    return std::get<sizeof...(all) - 1>(std::tie(all...));
  }
  template <typename... All>
  auto describe_for(const MPI_Request* request, All... all) const {
    auto call = describe(all...);
    call.lacks_request = !request;
    return call;
  }

  Describe describe_;
  Native native_;
};

namespace forms {

#define SHOAL_FORM(name, route, describe, native) \
  inline constexpr form name(                     \
      route(), [](auto... all) { return route::of(describe(all...)); }, [](auto... all) { return native(all...); })

SHOAL_FORM(alltoall, among_ranks, uniform_call, PMPI_Alltoall);
SHOAL_FORM(alltoallv, among_ranks, varying_call, PMPI_Alltoallv);
SHOAL_FORM(alltoallw, among_ranks, typed_call, PMPI_Alltoallw);
SHOAL_FORM(allgather, between_two_groups, gather_call, PMPI_Allgather);
SHOAL_FORM(allgatherv, between_two_groups, gather_call, PMPI_Allgatherv);

SHOAL_FORM(alltoall_c, among_ranks, uniform_call, native_alltoall_c);
SHOAL_FORM(alltoallv_c, among_ranks, varying_call, native_alltoallv_c);
SHOAL_FORM(alltoallw_c, among_ranks, typed_call, native_alltoallw_c);
SHOAL_FORM(allgather_c, between_two_groups, gather_call, native_allgather_c);
SHOAL_FORM(allgatherv_c, between_two_groups, gather_call, native_allgatherv_c);

SHOAL_FORM(neighbor_alltoall, along_edges, uniform_call, PMPI_Neighbor_alltoall);
SHOAL_FORM(neighbor_alltoallv, along_edges, varying_call, PMPI_Neighbor_alltoallv);
SHOAL_FORM(neighbor_alltoallw, along_edges, typed_call, PMPI_Neighbor_alltoallw);
SHOAL_FORM(neighbor_alltoall_c, along_edges, uniform_call, PMPI_Neighbor_alltoall_c);
SHOAL_FORM(neighbor_alltoallv_c, along_edges, varying_call, PMPI_Neighbor_alltoallv_c);
SHOAL_FORM(neighbor_alltoallw_c, along_edges, typed_call, PMPI_Neighbor_alltoallw_c);

SHOAL_FORM(ialltoall, among_ranks, uniform_call, PMPI_Ialltoall);
SHOAL_FORM(ialltoallv, among_ranks, varying_call, PMPI_Ialltoallv);
SHOAL_FORM(ialltoallw, among_ranks, typed_call, PMPI_Ialltoallw);
SHOAL_FORM(ialltoall_c, among_ranks, uniform_call, PMPI_Ialltoall_c);
SHOAL_FORM(ialltoallv_c, among_ranks, varying_call, PMPI_Ialltoallv_c);
SHOAL_FORM(ialltoallw_c, among_ranks, typed_call, PMPI_Ialltoallw_c);

SHOAL_FORM(alltoall_init, among_ranks, uniform_call, PMPI_Alltoall_init);
SHOAL_FORM(alltoallv_init, among_ranks, varying_call, PMPI_Alltoallv_init);
SHOAL_FORM(alltoallw_init, among_ranks, typed_call, PMPI_Alltoallw_init);
SHOAL_FORM(alltoall_init_c, among_ranks, uniform_call, PMPI_Alltoall_init_c);
SHOAL_FORM(alltoallv_init_c, among_ranks, varying_call, PMPI_Alltoallv_init_c);
SHOAL_FORM(alltoallw_init_c, among_ranks, typed_call, PMPI_Alltoallw_init_c);

SHOAL_FORM(ineighbor_alltoall, along_edges, uniform_call, PMPI_Ineighbor_alltoall);
SHOAL_FORM(ineighbor_alltoallv, along_edges, varying_call, PMPI_Ineighbor_alltoallv);
SHOAL_FORM(ineighbor_alltoallw, along_edges, typed_call, PMPI_Ineighbor_alltoallw);
SHOAL_FORM(ineighbor_alltoall_c, along_edges, uniform_call, PMPI_Ineighbor_alltoall_c);
SHOAL_FORM(ineighbor_alltoallv_c, along_edges, varying_call, PMPI_Ineighbor_alltoallv_c);
SHOAL_FORM(ineighbor_alltoallw_c, along_edges, typed_call, PMPI_Ineighbor_alltoallw_c);

SHOAL_FORM(neighbor_alltoall_init, along_edges, uniform_call, PMPI_Neighbor_alltoall_init);
SHOAL_FORM(neighbor_alltoallv_init, along_edges, varying_call, PMPI_Neighbor_alltoallv_init);
SHOAL_FORM(neighbor_alltoallw_init, along_edges, typed_call, PMPI_Neighbor_alltoallw_init);
SHOAL_FORM(neighbor_alltoall_init_c, along_edges, uniform_call, PMPI_Neighbor_alltoall_init_c);
SHOAL_FORM(neighbor_alltoallv_init_c, along_edges, varying_call, PMPI_Neighbor_alltoallv_init_c);
SHOAL_FORM(neighbor_alltoallw_init_c, along_edges, typed_call, PMPI_Neighbor_alltoallw_init_c);

#undef SHOAL_FORM

}  // namespace forms
}  // namespace shoal
