// Everything that this process has under way moves whenever one of its threads waits in Shoal, for whatever; and whenever the
// MPI moves, where something of it is to.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "transport/waiting.hpp"

namespace shoal {

class progress {
 public:
  // What moves.
  class part {
   public:
    virtual ~part() = default;
    // Whether anything moved. May remove only itself.
    virtual bool move() noexcept = 0;
  };

  static progress& get();

  // From its start to its end. A thread that does this has what the part works on for itself.
  void add(part* one);
  void remove(part* one);

  // Whether anything moved. What belongs to communicators on which other threads are is left to them.
  bool move();
  bool idle() const { return count_.load(std::memory_order_relaxed) == 0; }
  // Held while parts move.
  std::recursive_mutex& lock() { return lock_; }

  // Whether the MPI can move what is under way in all that a rank waits for there.
  static bool has_mpi_for_it();
  // As add(), and the MPI moves it. Throws mpi_error.
  void add_for_mpi(part* one);
  // While one of these lives a thread waits in the MPI, which moves all that is under way or is added. Only where it can. Throws
  // mpi_error.
  class handed_to_mpi {
   public:
    handed_to_mpi() { get().hand_to_mpi(); }
    ~handed_to_mpi() { --get().handed_; }
    handed_to_mpi(const handed_to_mpi&) = delete;
    handed_to_mpi& operator=(const handed_to_mpi&) = delete;
  };
  // For the MPI to call. Whether nothing is left to move; then it does not call again until it is told to.
  bool move_for_mpi();

 private:
  void hand_to_mpi();
  void have_mpi_move();

  std::recursive_mutex lock_;
  std::vector<part*> under_way_;
  std::atomic<int> count_ = 0, handed_ = 0;
  bool moving_ = false;   // one that moves may make the MPI move, and that all others
  bool watched_ = false;  // by the MPI
};

// Waits so, and moves all that meanwhile.
waiting moving_meanwhile(wait_mode mode, int ranks_of_a_core = 1);

}  // namespace shoal
