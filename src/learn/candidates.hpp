// The candidates for serving the exchanges on a communicator: first the MPI's own collective, then algorithms of Shoal.
// A contest knows each candidate by its number in this list.
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
  // Lists the candidates that may serve such ranks whatever the sizes of exchanges. Before this the list is empty.
  void list(collective what, team& ranks);
  // Adds what the model would choose for exchanges of this size, if the layout has more levels than the nodes.
  void add_levels(const exchange_field& f, const problem& where, const agreed_terms& all);
  // Adds the algorithms whose times for such exchanges are known. These times, and the fastest algorithm as the choice,
  // hold until trials show otherwise.
  void assume(exchange_field& f, const knowledge::shape_times& known);
  // Makes all candidates ready for exchanges and lets the field's contest try them. `from` must be of the same
  // communicator.
  void open(exchange_field& f, prepared_algorithms& from) const;
  // Adds what the contest has shown about the candidates to what the job knows.
  void teach(knowledge& known, const exchange_field& f) const;

  // Whether there is any candidate besides the MPI's own.
  bool are_several() const { return specs_.size() > 1; }
  const std::vector<std::string>& specs() const { return specs_; }

 private:
  int propose(const std::string& spec);

  std::vector<std::string> specs_;
};

}  // namespace shoal
