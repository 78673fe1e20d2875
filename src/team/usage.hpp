// Counts of exchanges.
#pragma once

#include <cstddef>
#include <cstdint>

#include "execute/phases.hpp"
#include "select/call_form.hpp"

namespace shoal {

// The exchanges of one rank in one kind of call. `bytes` are those that the rank sent, its own block included.
struct usage {
  std::int64_t calls = 0, bytes = 0;
  double seconds = 0;
  phase_seconds phases{};  // the parts of `seconds`, if a clock ran

  void add(std::int64_t sent, double took, const phase_clock* clock = nullptr) {
    add({1, sent, took, clock ? clock->seconds() : phase_seconds{}});
  }
  void add(const usage& other) {
    calls += other.calls;
    bytes += other.bytes;
    seconds += other.seconds;
    for (std::size_t p = 0; p < phases.size(); ++p) phases[p] += other.phases[p];
  }
};

// Counts an exchange for the algorithm that served it.
template <typename Decision>
void count(const Decision& chosen, call_form form, std::int64_t sent, double took, const phase_clock* clock) {
  chosen.algorithm->uses[form].add(sent, took, clock);
}

}  // namespace shoal
