// Arrays of Fortran's datatypes, turned into C's. Not for the standard ABI, whose mpi.h knows nothing of Fortran.
#pragma once

#include <mpi.h>

#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "calls/native.hpp"
#include "team/boundary.hpp"
#include "team/mpi_neighbors.hpp"

namespace shoal {

// C's handles of Fortran's types, and one more, because MPIs want an address even if there are no blocks.
inline std::vector<MPI_Datatype> types_of(const MPI_Fint* fortrans, int blocks) {
  std::vector<MPI_Datatype> all;
  for (int i = 0; i < blocks; ++i) all.push_back(PMPI_Type_f2c(fortrans[i]));
  all.push_back(MPI_DATATYPE_NULL);
  return all;
}

// Lists of C's datatypes for an MPI that looks at the list until a request ends (Open MPI does). Each different list is
// kept once, for ever: a program makes many requests with few different lists.
struct lasting_types {
  const std::vector<MPI_Datatype>& operator()(const MPI_Fint* fortrans, int blocks) const {
    static std::mutex one_at_a_time;
    static auto& all = *new std::set<std::vector<MPI_Datatype>>;  // also used at exit
    std::vector<MPI_Datatype> these = types_of(fortrans, blocks);
    const std::scoped_lock alone(one_at_a_time);
    return *all.insert(std::move(these)).first;
  }
};

// How many types a call names for the blocks it sends, and for those it receives.
struct typed_blocks {
  int sent, received;
};
inline typed_blocks of_all(MPI_Comm comm, bool in_place) {
  const int ranks = peers_of(comm);
  return {in_place ? 0 : ranks, ranks};
}
inline typed_blocks of_neighbors(MPI_Comm comm, bool /*in_place*/) {
  const block_peers among = neighbors_of(comm);
  return {among.sent, among.received};
}

// Makes a call with C's handles of the types. `blocks` returns how many there are; `types` makes their handles.
template <typename Types, typename Blocks, typename Call>
int with_types(Types types, Blocks blocks, const MPI_Fint* sendtypes, const MPI_Fint* recvtypes, MPI_Comm comm,
               Call call) {
  return returning_codes(comm, [&] {
    const typed_blocks of = blocks();
    const auto& sent = types(sendtypes, of.sent);
    const auto& received = types(recvtypes, of.received);
    return calling_handlers([&] { return call(sent.data(), received.data()); });
  });
}

}  // namespace shoal
