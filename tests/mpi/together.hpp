// What tests on many ranks share: the ranks' numbers, how ranks wait for each other, and communicators of many kinds.
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

// Notes what this rank is doing, for the message if a test does not end.
void doing(const std::string& what);
const char* being_done();

// Waits for all ranks of the world, and leaves the core to others meanwhile.
void meet();
// Collective over the world: whether `here` is true on any rank.
bool on_any_rank(bool here);
// Collective over the world: the texts of all ranks at rank 0, and only `mine` on the others.
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

// Collective over `of`. All these communicators return errors instead of ending the program.
MPI_Comm duplicate_of(MPI_Comm of);
MPI_Comm split_of(MPI_Comm of, int color, int key);
// A communicator of the first ranks of the world; MPI_COMM_NULL on the others.
MPI_Comm first_ranks(int ranks);

int rank_in(MPI_Comm comm);
int ranks_of(MPI_Comm comm);

struct named_comm {
  std::string name;
  MPI_Comm comm;  // MPI_COMM_NULL on ranks outside
};

// The world, duplicates, parts, reordered ranks, one rank. The list is the same on every rank, and made on first use.
const std::vector<named_comm>& many_communicators();
void free_many_communicators();

}  // namespace shoal
