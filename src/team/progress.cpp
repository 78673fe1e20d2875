#include "team/progress.hpp"

namespace shoal {

progress& progress::get() {
  static progress* one = new progress;  // never destroyed: MPI may outlive static objects
  return *one;
}

void progress::add(under_way* one) {
  const std::scoped_lock guard(lock_);
  all_.push_back(one);
  ++count_;
}

void progress::remove(under_way* one) {
  const std::scoped_lock guard(lock_);
  count_ -= static_cast<int>(std::erase(all_, one));
}

// From the last: one that ends is taken out. A thread that waits for another one's turn here gains nothing.
bool progress::move() {
  if (idle()) return false;
  const std::unique_lock guard(lock_, std::try_to_lock);
  bool moved = false;
  for (std::size_t i = guard ? all_.size() : 0; i-- > 0;) moved = all_[i]->move() || moved;
  return moved;
}

}  // namespace shoal
