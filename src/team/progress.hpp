// Everything that this process has under way moves whenever one of its threads waits in Shoal, whatever the thread
// waits for. It also moves whenever the MPI does, if the MPI was asked to move some of it.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "transport/waiting.hpp"

namespace shoal {

class progress {
 public:
  // Something that moves.
  class part {
   public:
    virtual ~part() = default;
    // Moves what it can, and returns whether anything moved. May remove only itself.
    virtual bool move() noexcept = 0;
  };

  static progress& get();

  // A part is added when it starts and removed when it ends. The thread that does so holds the lock of what the part
  // works on.
  void add(part* one);
  void remove(part* one);

  // Moves all parts, and returns whether anything moved. A part whose communicator another thread is using is left to
  // that thread.
  bool move();
  bool idle() const { return count_.load(std::memory_order_relaxed) == 0; }
  // Held while parts move.
  std::recursive_mutex& lock() { return lock_; }

  // Whether the MPI can move what is under way in every call in which a rank waits in the MPI.
  static bool mpi_can_move();
  // As add(), but the MPI moves the part too. Throws mpi_error.
  void add_for_mpi(part* one);
  // While an object of this class lives, a thread waits in the MPI, which moves all that is under way or is added
  // meanwhile. Only if mpi_can_move(). Throws mpi_error.
  class handed_to_mpi {
   public:
    handed_to_mpi() { get().hand_to_mpi(); }
    ~handed_to_mpi() { --get().handed_; }
    handed_to_mpi(const handed_to_mpi&) = delete;
    handed_to_mpi& operator=(const handed_to_mpi&) = delete;
  };
  // For the MPI to call. Returns whether nothing is left to move; MPICH then does not call again until it is told to.
  bool move_for_mpi();

 private:
  void hand_to_mpi();
  void register_with_mpi();

  std::recursive_mutex lock_;
  std::vector<part*> under_way_;
  std::atomic<int> count_ = 0, handed_ = 0;
  bool moving_ = false;   // move() runs: a part may make the MPI move, which calls move() again
  bool watched_ = false;  // by the MPI
};

// Waits in this mode, and moves everything under way meanwhile.
waiting moving_meanwhile(wait_mode mode, int ranks_of_a_core = 1);

}  // namespace shoal
