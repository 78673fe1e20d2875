// What tests on many ranks share: who they are, how they wait for each other, and communicators of many kinds.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

int world_rank();
int world_ranks();

// "MPICH 5.0.2", "Open MPI 5.0.8", ...
std::string mpi_name();

// What this rank is doing, for the message when it does not end.
void doing(const std::string& what);
const char* being_done();

// All ranks of the world wait for each other, and leave their cores to others while they wait.
void meet();
// Collective over the world: whether it holds on some rank.
bool on_any_rank(bool here);
// Collective over the world: the texts of all ranks, at rank 0.
std::vector<std::string> collected(const std::string& mine);

// A communicator that is freed at the end of its scope.
class scoped_comm {
 public:
  explicit scoped_comm(MPI_Comm comm) : comm_(comm) {}
  ~scoped_comm() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }
  scoped_comm(const scoped_comm&) = delete;
  scoped_comm& operator=(const scoped_comm&) = delete;
  operator MPI_Comm() const { return comm_; }

 private:
  MPI_Comm comm_;
};

// Collective over `of`. A duplicate returns errors instead of ending the program, as do the others.
MPI_Comm duplicate_of(MPI_Comm of);
MPI_Comm split_of(MPI_Comm of, int color, int key);
// The first ranks of the world; MPI_COMM_NULL elsewhere.
MPI_Comm first_ranks(int ranks);

int rank_in(MPI_Comm comm);
int ranks_of(MPI_Comm comm);

struct named_comm {
  std::string name;
  MPI_Comm comm;  // MPI_COMM_NULL on ranks outside
};

// World, duplicates, parts, reordered ranks, one rank: the same list on every rank, made on first use.
const std::vector<named_comm>& many_communicators();
void free_many_communicators();

}  // namespace shoal
