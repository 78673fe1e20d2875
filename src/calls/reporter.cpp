#include "calls/reporter.hpp"

#include "team/boundary.hpp"
#include "team/scoped_group.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

struct members {
  int ranks = 0;
  int first = MPI_UNDEFINED;  // the number that the first one has in the world
  bool have_rank_0 = false;   // that of the world
};

int translated(int rank, MPI_Group from, MPI_Group to) {
  int there = MPI_UNDEFINED;
  require(PMPI_Group_translate_ranks(from, 1, &rank, to, &there), "MPI_Group_translate_ranks");
  return there;
}

members members_of(const scoped_group& group) {
  const scoped_group world(MPI_COMM_WORLD);
  members found;
  require(PMPI_Group_size(group.get(), &found.ranks), "MPI_Group_size");
  found.first = translated(0, group.get(), world.get());
  found.have_rank_0 = translated(0, world.get(), group.get()) != MPI_UNDEFINED;
  return found;
}

// The ranks of both groups. Ranks of other jobs are not in the world.
members members_of_both(const members& own, const members& others) {
  const bool own_are_first = others.first == MPI_UNDEFINED || own.first < others.first;
  return {own.ranks + others.ranks, own_are_first ? own.first : others.first, own.have_rank_0 || others.have_rank_0};
}

}  // namespace

bool tells_instead_of_rank_0(MPI_Comm comm) {
  int rank = -1, world_rank = -1, world_ranks = 0;
  require(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  require(PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank), "MPI_Comm_rank");
  if (rank != 0 || world_rank == 0) return false;
  require(PMPI_Comm_size(MPI_COMM_WORLD, &world_ranks), "MPI_Comm_size");
  members all = members_of(scoped_group(comm));
  if (between_groups(comm)) all = members_of_both(all, members_of(scoped_group(comm, PMPI_Comm_remote_group)));
  return all.first == world_rank && !all.have_rank_0 && all.ranks > 1 && 2 * all.ranks >= world_ranks;
}

}  // namespace shoal
