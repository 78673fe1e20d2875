// One exchange of a program on this rank: its buffers, and every way to call it.
#pragma once

#include <mpi.h>

#include <vector>

#include "program.hpp"
#include "shoal/shoal.h"

namespace random_programs {

class exchange {
 public:
  // `plan` and `where` must outlive the exchange.
  exchange(const exchange_plan& plan, const team& where, int rank);
  ~exchange();
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  // Fills the buffers: with what this rank sends in a run, and with what it cannot receive.
  void fill(int run);
  // Takes what has arrived in a shoal_exchange() that has ended without an error.
  void take_arrivals();

  // These return MPI error codes.
  int call(names used, MPI_Comm comm);
  int begin(MPI_Comm comm, MPI_Request* request);
  int begin(MPI_Comm comm, shoal_request* request);
  int prepare(MPI_Comm comm, MPI_Request* request);
  int prepare(MPI_Comm comm, shoal_request* request);
  // Exchanges by the MPI's own, with the arguments that all ranks should have given.
  int natively(MPI_Comm comm);

  const std::vector<int>& received() const { return recv_; }

 private:
  // How an element of two integers lies in memory: as `count` of the type. The next begins `extent` integers later.
  struct layout {
    MPI_Datatype type;
    int count, extent;
  };
  // Counts and displacements as MPI takes them.
  struct side {
    layout how;
    std::vector<int> counts, at;  // `at` is in bytes if each block has a type of its own
    std::vector<MPI_Datatype> types;
    std::vector<MPI_Aint> far = {};  // the same places
  };
  // The count of each equal block, even without blocks: Open MPI compares what a rank would send and receive.
  int each(const side& of) const { return of.counts.empty() ? plan_.largest * of.how.count : of.counts.front(); }
  static layout layout_of(std::uint64_t number);
  side side_of(const std::vector<int>& elements, const std::vector<int>& room, std::uint64_t number) const;
  const void* sent() const { return plan_.in_place ? MPI_IN_PLACE : send_.data(); }
  template <typename Alltoall, typename Alltoallv, typename Allgather, typename Allgatherv, typename... More>
  int pass_to(Alltoall, Alltoallv, Allgather, Allgatherv, const side& receives, MPI_Comm comm, More... more);
  int call_wide(MPI_Comm comm);
  template <typename Alltoallw, typename... More>
  int pass_types_to(Alltoallw, const side& receives, MPI_Comm comm, More... more);

  template <typename Alltoall, typename Alltoallv, typename Alltoallw, typename... More>
  int pass_among_neighbors(Alltoall, Alltoallv, Alltoallw, const side& receives, MPI_Comm comm, More... more);
  int natively_among_neighbors(MPI_Comm comm);
  // What a rank sends in a shoal_exchange().
  side side_to_some(int rank) const;
  template <typename Exchange, typename... More>
  int pass_to_some(Exchange, MPI_Comm comm, More... more);
  std::vector<int> must_arrive() const;
  int number(int rank, int what, std::size_t at) const {
    return static_cast<int>(mixed(plan_.id, run_, rank, what, at));
  }

  const exchange_plan& plan_;
  const team& where_;
  int rank_, run_ = 0;
  side sends_, receives_, receives_right_;
  std::vector<int> send_, recv_;
  shoal_arrivals* arrivals_ = nullptr;
  MPI_Info info_ = MPI_INFO_NULL;
};

// An info that asks for an algorithm in all functions of the collective.
MPI_Info info_for(const std::string& spec, bool between_groups);

}  // namespace random_programs
