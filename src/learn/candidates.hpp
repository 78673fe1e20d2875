// What may serve the exchanges on a communicator: the MPI's own collective, which is the first, and algorithms of Shoal's.
// A contest knows them by their numbers here.
#pragma once

#include <string>
#include <vector>

#include "learn/exchange_fields.hpp"
#include "learn/prepared_algorithms.hpp"
#include "learn/rank_terms.hpp"
#include "select/knowledge.hpp"
#include "team/team.hpp"

namespace shoal {

class candidates {
 public:
  // Lists those that may serve the exchanges of such ranks whatever their sizes; none are listed before.
  void list(collective what, team& ranks);
  // Adds what the model would take for exchanges of this size, where there are more levels than the nodes.
  void add_levels(const exchange_field& f, const problem& where, const agreed_terms& all);
  // Adds those that are known of such exchanges; what they took, and the best, holds until trials tell otherwise.
  void assume(exchange_field& f, const knowledge::of_shape& known);
  // Makes all of them ready for exchanges, and lets them be tried. `from` are of the same communicator.
  void open(exchange_field& f, prepared_algorithms& from) const;
  // Makes what the contest has told of them part of what the job knows.
  void teach(knowledge& known, const exchange_field& f) const;

  // Whether there is anything but the MPI's own.
  bool are_several() const { return specs_.size() > 1; }
  const std::vector<std::string>& specs() const { return specs_; }

 private:
  int propose(const std::string& spec);

  std::vector<std::string> specs_;
};

}  // namespace shoal
