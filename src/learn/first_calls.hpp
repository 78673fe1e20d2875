// The first calls on a communicator: the MPI's own serves them, and its ranks have not agreed on anything yet.
#pragma once

#include <cstdint>

#include "select/call_form.hpp"
#include "team/usage.hpp"

namespace shoal {

// Of the very first calls only counts are kept: many a communicator sees no more.
class first_calls {
 public:
  // Whether the call of this number, from one, is to be counted here. `known_sizes`: all ranks know how large exchanges are;
  // `load`: bytes that this rank sends in one.
  static bool contain(std::int64_t call, bool known_sizes, double load);

  // How many more of the same kind as the call of this number are.
  static int left_behind(std::int64_t call);

  void add(call_form form, double load, double seconds) {
    counts_[form].add(static_cast<std::int64_t>(load), seconds);
    last_ = form;
    last_load_ = static_cast<std::int64_t>(load);
  }
  // As many as the last one.
  void add_again(int calls) { counts_[last_].add({calls, calls * last_load_}); }
  const usage& of(call_form form) const { return counts_[form]; }

 private:
  by_form<usage> counts_;
  call_form last_{};
  std::int64_t last_load_ = 0;
};

// After how many calls of a kind, behind so many `others`, the ranks agree for the first time. `load` as above.
// `fruitless`: on how many communicators of the same ranks they have agreed for nothing.
int calls_before_agreement(bool known_sizes, double load, int ranks, std::int64_t others, int fruitless);

}  // namespace shoal
