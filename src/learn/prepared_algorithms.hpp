// Algorithms that were made ready for a communicator, each once.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "learn/decision.hpp"
#include "team/team.hpp"

namespace shoal {

class prepared_algorithms {
 public:
  // `among`: the neighbours of all ranks; null: every rank exchanges with all.
  prepared_algorithms(team& of, std::shared_ptr<const neighbor_graph> among) : of_(of), among_(std::move(among)) {}

  // Made ready on first use. Throws std::invalid_argument if the selection cannot serve these ranks.
  prepared& get(const selection& chosen);
  // What needs no scratch memory: each block goes straight to its receiver, or the MPI's own collective serves.
  prepared& straight();
  prepared& natives();
  // By spec.
  const std::map<std::string, prepared>& all() const { return all_; }

 private:
  prepared& named(const char* spec);
  const linked_schedule& schedule_of(const selection& chosen, const std::string& spec);

  team& of_;
  std::shared_ptr<const neighbor_graph> among_;
  std::map<std::string, linked_schedule> schedules_;  // for exchanges among neighbours; the team keeps the others
  std::map<std::string, prepared> all_;
};

}  // namespace shoal
