#include "learn/prepared_algorithms.hpp"

namespace shoal {

prepared& prepared_algorithms::get(const selection& how) {
  const std::string spec = to_string(how);
  if (const auto it = all_.find(spec); it != all_.end()) return it->second;
  prepared ready;
  ready.spec = spec;
  if (how.which->generate) ready.steps = &program_of(how, spec);
  ready.looks_at_sizes = how.which->looks_at_sizes && how.which->looks_at_sizes(of_.where(), how.with);
  return all_.emplace(spec, std::move(ready)).first->second;
}

const program& prepared_algorithms::program_of(const selection& how, const std::string& spec) {
  if (!among_) return of_.program_of(how);
  problem at = of_.where();
  at.neighbors = among_;
  return programs_.emplace(spec, program(generate(how, at, of_.rank()))).first->second;
}

}  // namespace shoal
