// What exchanges took on this machine, by the shape of the communicator and the size of the blocks. What a job has
// learnt on one communicator serves the next communicator of the same shape. If it is kept in a file, it serves the
// next job too.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "algorithms/algorithm.hpp"
#include "select/call_form.hpp"

namespace shoal {

// Exchanges of one shape all take about as long.
struct exchange_shape {
  collective what = collective::alltoall;
  call_form form = call_form::equal;
  int ranks = 1, nodes = 1;
  int size = 0;  // see size_class()

  std::string name() const { return name_of(to_string(what), form); }

  auto operator<=>(const exchange_shape&) const = default;
};
// The number of bits in a number of bytes: in an all-to-all, the bytes that a rank sends to each other rank on average.
// Among neighbours, all bytes that it sends, because ranks may have different numbers of neighbours. `load`: bytes that
// a rank sends in one exchange.
int size_class(collective what, double load, int ranks);

class knowledge {
 public:
  struct entry {
    double seconds = 0;  // of an exchange, on average
    double calls = 0;    // how many the mean is of
  };
  struct shape_times {
    std::map<std::string, entry, std::less<>> specs;
    double communicators = 0, calls = 0;  // communicators that made such exchanges, and their calls in all
    // The fastest spec, or null.
    const std::pair<const std::string, entry>* best() const;
    double calls_each() const { return communicators > 0 ? calls / communicators : 0; }
  };

  knowledge() = default;
  knowledge(const knowledge& other) : shapes_(other.all()) {}

  // Several threads may call these. add() replaces what was known of the spec.
  void add(const exchange_shape& shape, const std::string& spec, double seconds, double calls);
  void add_communicators(const exchange_shape& shape, double number, double calls);
  // What is known of the nearest size, at most `far` classes away; of the smaller one if two are as near.
  std::optional<shape_times> find(exchange_shape shape, int far = 1) const;
  // Whether an algorithm was faster than the MPI's own for any exchange of this form among so many ranks, or the MPI's
  // own was not timed.
  bool may_gain(collective what, call_form form, int ranks) const;
  std::map<exchange_shape, shape_times> all() const;
  bool empty() const { return all().empty(); }
  // Takes over what only `other` knows. Of what both know, the one with more calls stays.
  void merge(const knowledge& other);

 private:
  mutable std::mutex lock_;
  std::map<exchange_shape, shape_times> shapes_;
};

}  // namespace shoal
