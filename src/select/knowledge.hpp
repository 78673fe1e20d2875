// What exchanges took on this machine, by the shape of the communicator and the size of the blocks: what a job has learnt
// on one communicator serves the next of the same shape, and where it is kept in a file, the next job.
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

// Exchanges that take about as long.
struct exchange_shape {
  collective what = collective::alltoall;
  call_form form = call_form::equal;
  int ranks = 1, nodes = 1;
  int size = 0;  // as size_class()

  std::string name() const { return name_of(to_string(what), form); }

  auto operator<=>(const exchange_shape&) const = default;
};
// Bits of the bytes that a rank sends each other on average; to neighbours, of all that it sends, since ranks may have
// different numbers of them. `load`: bytes that a rank sends in one exchange.
int size_class(collective what, double load, int ranks);

class knowledge {
 public:
  struct entry {
    double seconds = 0;  // of an exchange
    double calls = 0;    // that this is the mean of
  };
  struct of_shape {
    std::map<std::string, entry, std::less<>> specs;
    double communicators = 0, calls = 0;  // that made such exchanges, and how many in all
    // The fastest, or null.
    const std::pair<const std::string, entry>* best() const;
    double calls_each() const { return communicators > 0 ? calls / communicators : 0; }
  };

  knowledge() = default;
  knowledge(const knowledge& other) : shapes_(other.all()) {}

  // Threads may call these. What is newer takes the place of what was known.
  void add(const exchange_shape& shape, const std::string& spec, double seconds, double calls);
  void add_communicators(const exchange_shape& shape, double number, double calls);
  // Between sizes that are known it is interpolated: of the nearest known size that is at most `far` classes away.
  std::optional<of_shape> find(exchange_shape shape, int far = 1) const;
  // Whether something was faster than the MPI's own for any exchange of this form among so many ranks.
  bool may_gain(collective what, call_form form, int ranks) const;
  std::map<exchange_shape, of_shape> all() const;
  bool empty() const { return all().empty(); }
  // Takes over what the other one knows and this one does not; of what both know, the one with more calls.
  void merge(const knowledge& other);

 private:
  mutable std::mutex lock_;
  std::map<exchange_shape, of_shape> shapes_;
};

}  // namespace shoal
