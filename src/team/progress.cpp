#include "team/progress.hpp"

#include "calls/request.hpp"

namespace shoal {

progress& progress::get() {
  static progress* one = new progress;  // never destroyed: MPI may outlive static objects
  return *one;
}

void progress::add(request* one) {
  const std::scoped_lock guard(lock_);
  under_way_.push_back(one);
  ++count_;
}

void progress::remove(request* one) {
  const std::scoped_lock guard(lock_);
  count_ -= static_cast<int>(std::erase(under_way_, one));
}

// From the last: one that ends is taken out. A thread that waits for another one's turn here gains nothing.
bool progress::move() {
  if (idle()) return false;
  const std::unique_lock guard(lock_, std::try_to_lock);
  bool moved = false;
  for (std::size_t i = guard ? under_way_.size() : 0; i-- > 0;) moved = under_way_[i]->move() || moved;
  return moved;
}

}  // namespace shoal
