// Algorithms made ready for a communicator, each once.
#pragma once

#include <map>
#include <string>

#include "learn/decision.hpp"
#include "team/team.hpp"

namespace shoal {

class prepared_algorithms {
 public:
  explicit prepared_algorithms(team& of) : of_(of) {}

  // Made on first use. Throws std::invalid_argument where it cannot serve these ranks.
  prepared& get(const selection& how);
  // By name.
  const std::map<std::string, prepared>& all() const { return all_; }

 private:
  team& of_;
  std::map<std::string, prepared> all_;
};

}  // namespace shoal
