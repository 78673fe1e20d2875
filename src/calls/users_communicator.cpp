#include "calls/users_communicator.hpp"

namespace shoal {

int users_communicator::open_communicators() const {
  int open = (of_groups && of_groups->state()) + (sparse != nullptr);
  each_learner([&](const learner& of) { open += of.is_counted(); });
  return open;
}

void users_communicator::leave_communicators() {
  if (of_groups && of_groups->state()) of_groups->state()->all().own().leave();
  if (sparse) sparse->own().leave();
  each_learner([](const learner& of) {
    if (of.state()) of.state()->all().own().leave();
  });
}

}  // namespace shoal
