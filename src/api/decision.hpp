// A way to serve calls on a communicator, ready to run, and why it was taken.
#pragma once

#include <memory>
#include <string>

#include "api/report.hpp"
#include "execute/program.hpp"
#include "select/features.hpp"
#include "select/trial.hpp"

namespace shoal {

// A selection made ready for a communicator, and what was done with it.
struct prepared {
  std::string spec;
  std::unique_ptr<const program> steps;  // null: the MPI's own collective
  bool looks_at_sizes = false;           // would do better with a program made for the sizes of an exchange
  usage uniform_use, nonuniform_use;

  bool has_schedule() const { return steps != nullptr; }
};

// What was decided for a kind of exchange, and why, in one line.
struct decision {
  prepared* how = nullptr;
  std::string reason;
  // Where it was chosen for sizes: what it was expected to take, the next best, and what it took.
  block_mix blocks = {};
  double seconds = 0, next_seconds = 0;
  std::string next = {};
  mutable usage use = {};
  std::string remark = {};    // for the report
  trial* on_trial = nullptr;  // that wants to know what it takes
};

}  // namespace shoal
