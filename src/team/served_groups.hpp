// Groups of ranks in which every rank knows that Shoal serves all of them, with the same settings. The ranks of a
// communicator inside such a group need not find that out again.
//
// A group is added in a blocking collective on its communicator, and looked for in a blocking collective on another
// one. MPI has all ranks that are in both communicators call the two in the same order, so either all of them find the
// group or none does. This does not hold for ranks with several threads in MPI, so their groups are not added.
#pragma once

#include <mpi.h>

#include <mutex>
#include <vector>

namespace shoal {

// Whether all ranks of a communicator were started together with this one. Shoal may not serve ranks that were spawned
// or connected to, and an agreement in which some ranks take no part would meet the program's own collectives. Local.
bool is_of_one_world(MPI_Comm comm);

class served_groups {
 public:
  served_groups() = default;
  served_groups(const served_groups&) = delete;
  served_groups& operator=(const served_groups&) = delete;

  // Whether there are so many groups that no more should be added. Ranks may differ in this, so they have to agree on
  // it before they add a group.
  bool is_full() const;
  void add(MPI_Comm comm);
  bool contain(MPI_Comm comm) const;

  // On how many communicators of exactly these ranks the ranks have agreed since they last set something up. A program
  // that makes a communicator for each of its steps would pay for an agreement on each. note() is called where groups
  // are added. With `may_begin` it also counts for ranks of which nothing is noted yet. No rank may do that if
  // notes_are_full() on one of them.
  int fruitless_agreements(MPI_Comm comm) const;
  void note(MPI_Comm comm, bool is_set_up, bool may_begin);
  bool notes_are_full() const;

  // Marks a vote of the ranks of a communicator, from its first call to its last. Meanwhile other communicators of
  // exactly these ranks wait for the outcome, instead of each holding a vote of its own.
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
  // To be called before MPI_Finalize.
  void clear();

 private:
  static constexpr std::size_t most = 64;

  struct noted {
    MPI_Group ranks;
    int fruitless_agreements;
  };
  std::vector<noted>::const_iterator find(MPI_Comm comm) const;

  mutable std::mutex lock_;
  std::vector<MPI_Group> groups_, voting_;
  std::vector<noted> notes_;
};

}  // namespace shoal
