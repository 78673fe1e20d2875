// Runs one exchange among the ranks of a team, once or many times, beside others that are under way: by messages, or
// through memory that the ranks of each node share for it.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>

#include "team/team.hpp"

namespace shoal {

class team_exchange {
 public:
  // `clock` may be null. Both stay the caller's. Collective, unless the team is open.
  team_exchange(team& ranks, phase_clock* clock);

  // From now on blocks travel through memory inside the nodes, if the ranks can share some. `most_bytes`: the most that
  // any rank sends or receives. Collective.
  void share(std::size_t most_bytes);

  // As the functions of class exchange.
  void set_tags(tag_range tags) { inside_ ? inside_->set_tags(tags) : by_messages_.set_tags(tags); }
  void start(const linked_schedule& steps, const payload& what);
  bool progress(bool& moved) { return inside_ ? inside_->progress(moved) : by_messages_.progress(moved); }
  void run_to_end(waiting& wait) { inside_ ? inside_->run_to_end() : by_messages_.run_to_end(wait); }
  const std::exception_ptr& failure() const { return inside_ ? inside_->failure() : by_messages_.failure(); }

 private:
  team& ranks_;
  phase_clock* clock_;
  mpi_transport over_;
  exchange by_messages_;
  std::unique_ptr<node_exchange> inside_;
};

}  // namespace shoal
