// Communicators of Shoal's own beside the user's.
#pragma once

#include <mpi.h>

namespace shoal {

// Both return null, on every rank, when the MPI has none left.

// The same ranks; collective. Its errors are returned. MPI_COMM_SELF for a rank alone, which stays open.
MPI_Comm duplicate(MPI_Comm comm);
// The ranks of both groups of an inter-communicator, one group behind the other; collective.
MPI_Comm merged(MPI_Comm groups);

// The one beside a communicator of the program's: made when it is needed, and it stays when the program's is freed.
class own_communicator {
 public:
  explicit own_communicator(MPI_Comm users) : users_(users) {}
  // Takes `own` over.
  own_communicator(MPI_Comm users, MPI_Comm own) : users_(users), own_(own) {}
  ~own_communicator();
  own_communicator(const own_communicator&) = delete;
  own_communicator& operator=(const own_communicator&) = delete;

  // Null: not made.
  MPI_Comm get() const { return own_; }
  bool is_open() const { return own_ != MPI_COMM_NULL; }
  // It stays null, on every rank, when the MPI has none left. Collective.
  void make() { own_ = duplicate(users_); }

  MPI_Comm users() const { return users_; }
  // The program frees its communicator: errors of what is open are raised on Shoal's own from now on, by the handler that
  // the program's had.
  void leave();
  bool is_left() const { return handler_ != MPI_ERRHANDLER_NULL; }
  // The exception being handled; where is_left().
  int raise();

  // Why its ranks can exchange no more: as lasting_error(). Where they cannot, what they wait for on Shoal's own ends.
  int find_failure() noexcept;

 private:
  MPI_Comm users_, own_ = MPI_COMM_NULL;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;  // of the program's communicator, once that is freed
};

}  // namespace shoal
