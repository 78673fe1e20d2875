// A way to serve calls on a communicator, ready to run, and why it was taken.
#pragma once

#include <string>

#include "execute/linked_schedule.hpp"
#include "select/call_form.hpp"
#include "team/usage.hpp"

namespace shoal {

// A selection made ready for a communicator, and counts of the exchanges that it served.
struct prepared {
  std::string spec;
  const linked_schedule* steps = nullptr;  // null: the MPI's own collective
  bool looks_at_sizes = false;             // would do better with a schedule made for the sizes of an exchange
  by_form<usage> uses;

  bool has_schedule() const { return steps != nullptr; }
};

// What was decided for a kind of exchange, and a line that says why.
struct decision {
  prepared* algorithm = nullptr;
  std::string reason;
};

}  // namespace shoal
