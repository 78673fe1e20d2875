// Communicators of Shoal's own beside the user's.
#pragma once

#include <mpi.h>

namespace shoal {

// Both functions return MPI_COMM_NULL, on every rank, if the MPI has no communicator left.

// A new communicator with the same ranks, which returns errors. Collective. For a rank that is alone it is
// MPI_COMM_SELF, which must not be freed.
MPI_Comm duplicate(MPI_Comm comm);
// A new communicator with the ranks of both groups of an inter-communicator, one group after the other. It returns
// errors. Collective.
MPI_Comm merged(MPI_Comm groups);

// Shoal's own communicator beside one of the program's. It is made when it is needed, and stays if the program frees
// its own.
class own_communicator {
 public:
  explicit own_communicator(MPI_Comm users) : users_(users) {}
  // Takes `own` over.
  own_communicator(MPI_Comm users, MPI_Comm own) : users_(users), own_(own) {}
  ~own_communicator();
  own_communicator(const own_communicator&) = delete;
  own_communicator& operator=(const own_communicator&) = delete;

  // MPI_COMM_NULL if it was not made.
  MPI_Comm get() const { return own_; }
  bool is_open() const { return own_ != MPI_COMM_NULL; }
  // Makes the communicator. It stays null, on every rank, if the MPI has none left. Collective.
  void make() { own_ = duplicate(users_); }

  MPI_Comm users() const { return users_; }
  // To be called when the program frees its communicator. From now on, errors of what is still open are raised on
  // Shoal's own communicator, by the handler that the program's had.
  void leave();
  bool is_orphaned() const { return handler_ != MPI_ERRHANDLER_NULL; }
  // Raises the exception being handled; only if is_orphaned().
  int raise();

  // Throws the error of a revoked communicator if the program has revoked its own. Shoal's may not be revoked yet.
  void require_not_revoked() const;
  // Why the ranks can no longer exchange, as a code of lasting_error(). If a rank has failed, everything that the others
  // wait for on Shoal's own communicator ends. If the program's was revoked, each rank finds that out itself. Shoal's is
  // not revoked then: Open MPI ends a job if sends fail that it has reported as complete.
  int find_failure() noexcept;

 private:
  // The one that tells of failures.
  MPI_Comm watched() const { return is_orphaned() ? own_ : users_; }

  MPI_Comm users_, own_ = MPI_COMM_NULL;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;  // of the program's communicator, once that is freed
};

}  // namespace shoal
