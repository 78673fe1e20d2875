// The first calls on a communicator: the MPI's own serves them, and its ranks have not agreed on anything yet.
#pragma once

#include <cstdint>

#include "select/call_form.hpp"
#include "team/usage.hpp"

namespace shoal {

// Only counts are kept of the very first calls, since many communicators see no more than these.
class first_calls {
 public:
  // Whether the call of this number (the first is 1) is to be counted here. `known_sizes`: all ranks know how large
  // exchanges are; `load`: bytes that this rank sends in an exchange.
  static bool contain(std::int64_t call, bool known_sizes, double load);

  // How many calls after the call of this number are to be counted here too, if they are of the same kind.
  static int left_behind(std::int64_t call);

  void add(call_form form, double load, double seconds) {
    counts_[form].add(static_cast<std::int64_t>(load), seconds);
    last_ = form;
    last_load_ = static_cast<std::int64_t>(load);
  }
  // Counts `calls` more calls like the last one.
  void add_again(int calls) { counts_[last_].add({calls, calls * last_load_}); }
  const usage& of(call_form form) const { return counts_[form]; }

 private:
  by_form<usage> counts_;
  call_form last_{};
  std::int64_t last_load_ = 0;
};

// After how many calls of a kind and size the ranks agree for the first time, if `others` calls of other kinds and
// sizes came before these. `load` as above. `fruitless_agreements`: on how many communicators of the same ranks
// agreements came to nothing.
int calls_before_agreement(bool known_sizes, double load, int ranks, std::int64_t others, int fruitless_agreements);

}  // namespace shoal
