// The functions of MPI that Shoal serves, each with a description of its arguments and with the MPI's own function. The
// functions of shoal.h, and MPI's names in the preload, in C and Fortran, pass their arguments on from here.
#pragma once

#include <mpi.h>

#include <tuple>
#include <type_traits>

#include "calls/allgather.hpp"
#include "calls/alltoall.hpp"
#include "calls/native.hpp"
#include "calls/native_call.hpp"
#include "calls/neighbor_alltoall.hpp"
#include "calls/open_exchange.hpp"
#include "calls/passing.hpp"
#include "calls/process.hpp"
#include "team/boundary.hpp"
#include "transport/mpi_newer.hpp"

namespace shoal {

inline int serve(const neighbor_call& call, interface from, MPI_Info, native_call native) {
  return neighbor_alltoall(call, from, native);
}

// `all` are the arguments of the MPI's blocking function, with counts of either width.
template <typename Describe, typename Native>
class form {
 public:
  constexpr form(Describe describe, Native native) : describe_(describe), native_(native) {}

  template <typename... All>
  auto describe(All... all) const {
    return describe_(all...);
  }
  // Flattened, so that a call that passes runs through one piece of code (see passing.hpp).
  template <typename... All>
  [[gnu::hot, gnu::flatten]] int blocking(interface from, MPI_Info info, All... all) const {
    const MPI_Comm comm = last_of(all...);
    const auto native = [&] { return native_(all...); };
    const auto described = [&] { return describe(all...); };
    using call = decltype(described());
    if constexpr (std::is_same_v<call, alltoall_call>) {
      return from == interface::mpi ? alltoall_of_mpi(comm, described, native, all...)
                                    : alltoall_of_shoal(comm, info, described, native, all...);
    } else if constexpr (std::is_same_v<call, allgather_call>) {
      return from == interface::mpi ? allgather_of_mpi(comm, described, native, all...)
                                    : allgather(described(), from, info, native);
    } else {
      if (from == interface::mpi && recent_calls::is_alone(comm)) return returning_codes(comm, native_call(native));
      return serve(described(), from, info, native);
    }
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

#define SHOAL_FORM(name, describe, native) \
  inline constexpr form name([](auto... all) { return describe(all...); }, [](auto... all) { return native(all...); })

SHOAL_FORM(alltoall, uniform_call, PMPI_Alltoall);
SHOAL_FORM(alltoallv, varying_call, PMPI_Alltoallv);
SHOAL_FORM(alltoallw, typed_call, PMPI_Alltoallw);
SHOAL_FORM(allgather, gather_call, PMPI_Allgather);
SHOAL_FORM(allgatherv, gather_call, PMPI_Allgatherv);

SHOAL_FORM(alltoall_c, uniform_call, native_alltoall_c);
SHOAL_FORM(alltoallv_c, varying_call, native_alltoallv_c);
SHOAL_FORM(alltoallw_c, typed_call, native_alltoallw_c);
SHOAL_FORM(allgather_c, gather_call, native_allgather_c);
SHOAL_FORM(allgatherv_c, gather_call, native_allgatherv_c);

SHOAL_FORM(neighbor_alltoall, uniform_neighbors, PMPI_Neighbor_alltoall);
SHOAL_FORM(neighbor_alltoallv, varying_neighbors, PMPI_Neighbor_alltoallv);
SHOAL_FORM(neighbor_alltoallw, typed_neighbors, PMPI_Neighbor_alltoallw);
SHOAL_FORM(neighbor_alltoall_c, uniform_neighbors, PMPI_Neighbor_alltoall_c);
SHOAL_FORM(neighbor_alltoallv_c, varying_neighbors, PMPI_Neighbor_alltoallv_c);
SHOAL_FORM(neighbor_alltoallw_c, typed_neighbors, PMPI_Neighbor_alltoallw_c);

SHOAL_FORM(ialltoall, uniform_call, PMPI_Ialltoall);
SHOAL_FORM(ialltoallv, varying_call, PMPI_Ialltoallv);
SHOAL_FORM(ialltoallw, typed_call, PMPI_Ialltoallw);
SHOAL_FORM(ialltoall_c, uniform_call, PMPI_Ialltoall_c);
SHOAL_FORM(ialltoallv_c, varying_call, PMPI_Ialltoallv_c);
SHOAL_FORM(ialltoallw_c, typed_call, PMPI_Ialltoallw_c);

SHOAL_FORM(alltoall_init, uniform_call, PMPI_Alltoall_init);
SHOAL_FORM(alltoallv_init, varying_call, PMPI_Alltoallv_init);
SHOAL_FORM(alltoallw_init, typed_call, PMPI_Alltoallw_init);
SHOAL_FORM(alltoall_init_c, uniform_call, PMPI_Alltoall_init_c);
SHOAL_FORM(alltoallv_init_c, varying_call, PMPI_Alltoallv_init_c);
SHOAL_FORM(alltoallw_init_c, typed_call, PMPI_Alltoallw_init_c);

SHOAL_FORM(ineighbor_alltoall, uniform_neighbors, PMPI_Ineighbor_alltoall);
SHOAL_FORM(ineighbor_alltoallv, varying_neighbors, PMPI_Ineighbor_alltoallv);
SHOAL_FORM(ineighbor_alltoallw, typed_neighbors, PMPI_Ineighbor_alltoallw);
SHOAL_FORM(ineighbor_alltoall_c, uniform_neighbors, PMPI_Ineighbor_alltoall_c);
SHOAL_FORM(ineighbor_alltoallv_c, varying_neighbors, PMPI_Ineighbor_alltoallv_c);
SHOAL_FORM(ineighbor_alltoallw_c, typed_neighbors, PMPI_Ineighbor_alltoallw_c);

SHOAL_FORM(neighbor_alltoall_init, uniform_neighbors, PMPI_Neighbor_alltoall_init);
SHOAL_FORM(neighbor_alltoallv_init, varying_neighbors, PMPI_Neighbor_alltoallv_init);
SHOAL_FORM(neighbor_alltoallw_init, typed_neighbors, PMPI_Neighbor_alltoallw_init);
SHOAL_FORM(neighbor_alltoall_init_c, uniform_neighbors, PMPI_Neighbor_alltoall_init_c);
SHOAL_FORM(neighbor_alltoallv_init_c, varying_neighbors, PMPI_Neighbor_alltoallv_init_c);
SHOAL_FORM(neighbor_alltoallw_init_c, typed_neighbors, PMPI_Neighbor_alltoallw_init_c);

#undef SHOAL_FORM

}  // namespace forms
}  // namespace shoal
