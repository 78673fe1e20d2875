// Groups of ranks of which all know that Shoal serves every one of them, with the same settings: the ranks of a
// communicator among them need not find that out again.
//
// A group is added in a blocking collective on its communicator, and looked for in one on another. MPI has all ranks of
// both call the two in the same order, so all of them find it or none. That does not hold for ranks with several threads
// in MPI: groups of these are not added.
#pragma once

#include <mpi.h>

#include <mutex>
#include <vector>

namespace shoal {

// Whether all ranks of a communicator were started with this one. Others, spawned or connected to, may not be served by
// Shoal, and agreements with ranks that take no part would meet the program's own collectives. Local.
bool is_of_one_world(MPI_Comm comm);

class served_groups {
 public:
  served_groups() = default;
  served_groups(const served_groups&) = delete;
  served_groups& operator=(const served_groups&) = delete;

  // Whether there are so many that no more should be added: ranks may differ in that, and have to agree on it before they add.
  bool is_full() const;
  void add(MPI_Comm comm);
  bool contain(MPI_Comm comm) const;

  // On how many communicators of just these ranks they have agreed since they last set something up. A program that makes
  // one for each of its steps would pay for an agreement on each. Noted where groups are added; `may_begin`: also of ranks
  // of which nothing is noted yet. No rank may where notes_are_full() on one.
  int fruitless(MPI_Comm comm) const;
  void note(MPI_Comm comm, bool is_set_up, bool may_begin);
  bool notes_are_full() const;

  // A vote of the ranks of a communicator, from its first call to its last: others of just these ranks wait for what comes of
  // it, where each of many communicators would have one of its own.
  class voting {
   public:
    voting(served_groups& among, MPI_Comm comm);
    ~voting();
    voting(const voting&) = delete;
    voting& operator=(const voting&) = delete;

   private:
    served_groups& among_;
    MPI_Group ranks_ = MPI_GROUP_NULL;
  };
  bool are_voting(MPI_Comm comm) const;
  // Before MPI_Finalize.
  void clear();

 private:
  static constexpr std::size_t most = 64;

  struct noted {
    MPI_Group ranks;
    int fruitless;
  };
  std::vector<noted>::const_iterator find(MPI_Comm comm) const;

  mutable std::mutex lock_;
  std::vector<MPI_Group> groups_, voting_;
  std::vector<noted> notes_;
};

}  // namespace shoal
