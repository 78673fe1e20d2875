#include "team/progress.hpp"

#include <dlfcn.h>

#include "transport/mpi_ended.hpp"
#include "transport/mpi_error.hpp"
#include "transport/mpi_newer.hpp"

namespace shoal {

progress& progress::get() {
  static progress* one = new progress;  // never destroyed: MPI may outlive static objects
  return *one;
}

// Counts the part before it looks whether a thread waits in the MPI. hand_to_mpi() does the two the other way round, so
// at least one of them sees the other.
void progress::add(part* one) {
  const std::scoped_lock guard(lock_);
  ++count_;
  try {
    if (handed_ > 0) register_with_mpi();
    under_way_.push_back(one);
  } catch (...) {
    --count_;
    throw;
  }
}

void progress::add_for_mpi(part* one) {
  const std::scoped_lock guard(lock_);
  register_with_mpi();
  add(one);
}

// Takes no lock if nothing is under way, because calls that pass through here may take less time than the lock.
void progress::hand_to_mpi() {
  ++handed_;
  if (count_ == 0) return;
  try {
    const std::scoped_lock guard(lock_);
    register_with_mpi();
  } catch (...) {
    --handed_;
    throw;
  }
}

void progress::remove(part* one) {
  const std::scoped_lock guard(lock_);
  count_ -= static_cast<int>(std::erase(under_way_, one));
}

// Goes from the last part to the first, because a part that ends is taken out. If another thread is in here already,
// this one gains nothing by waiting for its turn.
bool progress::move() {
  if (idle()) return false;
  const std::unique_lock guard(lock_, std::try_to_lock);
  if (!guard || moving_) return false;
  moving_ = true;
  bool moved = false;
  for (std::size_t i = under_way_.size(); i-- > 0;) moved = under_way_[i]->move() || moved;
  moving_ = false;
  return moved;
}

bool progress::move_for_mpi() {
  const inside_mpi here;
  move();
  const std::unique_lock guard(lock_, std::try_to_lock);
  if (!guard || moving_ || !idle()) return false;
  watched_ = false;
  return true;
}

waiting moving_meanwhile(wait_mode mode, int ranks_of_a_core) {
  waiting wait(mode, ranks_of_a_core);
  wait.move_meanwhile([] { return progress::get().move(); });
  return wait;
}

// ---- what MPIs offer -------------------------------------------------------------------------------------------

#ifdef OPEN_MPI

static int move_for_open_mpi() { return !progress::get().idle() && progress::get().move_for_mpi(); }

using progress_register = int (*)(int (*moves)());
static progress_register of_open_mpi() {
  static void* const found = dlsym(RTLD_DEFAULT, "opal_progress_register");
  return reinterpret_cast<progress_register>(found);
}

bool progress::mpi_can_move() { return of_open_mpi(); }

// Open MPI then calls move_for_open_mpi() as long as the process lives.
void progress::register_with_mpi() {
  static const int code = of_open_mpi()(move_for_open_mpi);
  if (code != 0) throw mpi_error(MPI_ERR_INTERN, "opal_progress_register");
}

#else

static int move_for_mpich(void*) {
  constexpr int more = 0, done = 1;
  return progress::get().move_for_mpi() ? done : more;
}

// True for MPICH from 4.3 on, whose requests are integers. Intel MPI has none of these functions.
bool progress::mpi_can_move() {
  return sizeof(MPI_Request) == sizeof(int) && shoal_async_start && shoal_request_is_complete;
}

// MPICH then calls move_for_mpich() until it returns that all is done.
void progress::register_with_mpi() {
  constexpr int no_stream = 0x3c000000;
  if (!watched_) require(shoal_async_start(move_for_mpich, nullptr, no_stream), "MPIX_Async_start");
  watched_ = true;
}

#endif

}  // namespace shoal
