#include "learn/prepared_algorithms.hpp"

namespace shoal {

prepared& prepared_algorithms::get(const selection& chosen) {
  const std::string spec = to_string(chosen);
  if (const auto it = all_.find(spec); it != all_.end()) return it->second;
  prepared ready;
  ready.spec = spec;
  if (chosen.which->generate) ready.steps = &schedule_of(chosen, spec);
  ready.looks_at_sizes =
      !among_ && chosen.which->looks_at_sizes && chosen.which->looks_at_sizes(of_.where(), chosen.with);
  return all_.emplace(spec, std::move(ready)).first->second;
}

prepared& prepared_algorithms::named(const char* spec) {
  return get(parse_selection(spec, among_ ? collective::neighbor_alltoall : collective::alltoall));
}

prepared& prepared_algorithms::straight() { return named(among_ ? "direct" : "spread_out"); }

prepared& prepared_algorithms::natives() { return named("native"); }

const linked_schedule& prepared_algorithms::schedule_of(const selection& chosen, const std::string& spec) {
  if (!among_) return of_.schedule_of(chosen);
  problem at = of_.where();
  at.neighbors = among_;
  return schedules_.emplace(spec, linked_schedule(generate(chosen, at, of_.rank()))).first->second;
}

}  // namespace shoal
