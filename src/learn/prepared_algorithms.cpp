#include "learn/prepared_algorithms.hpp"

namespace shoal {

prepared& prepared_algorithms::get(const selection& how) {
  const std::string spec = to_string(how);
  if (const auto it = all_.find(spec); it != all_.end()) return it->second;
  prepared ready;
  ready.spec = spec;
  if (how.which->generate) ready.steps = &of_.program_of(how);
  ready.looks_at_sizes = how.which->looks_at_sizes && how.which->looks_at_sizes(of_.where(), how.with);
  return all_.emplace(spec, std::move(ready)).first->second;
}

}  // namespace shoal
