// What was exchanged, how, and how long it took: the answer to "which algorithm ran?".
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <tuple>

#include "execute/phases.hpp"

namespace shoal {

// Exchanges of one rank on one kind of call: bytes are those it sent, its own block included.
struct usage {
  std::int64_t calls = 0, bytes = 0;
  double seconds = 0;
  phase_seconds phases{};  // of those seconds, where a clock ran

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

class usage_report {
 public:
  void add(const std::string& collective, int ranks, const std::string& algorithm, const usage& what);
  void add_verified(const usage& what) { verified_.add(what); }
  bool empty() const { return rows_.empty(); }
  // A table with the most time first.
  void print(std::ostream& out) const;

 private:
  std::map<std::tuple<std::string, int, std::string>, usage> rows_;
  usage verified_;
};

}  // namespace shoal
