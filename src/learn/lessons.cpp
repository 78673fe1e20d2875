#include "learn/lessons.hpp"

#include <algorithm>

namespace shoal {

std::vector<lesson> lessons_of(const first_calls& young, const exchange_fields& all, std::span<const std::string> tried,
                               int blocks) {
  std::vector<lesson> lessons;
  for (const call_form form : call_forms)
    if (young.of(form).calls > 0) lessons.push_back({form, young.of(form), 0, ""});
  for (const auto& [key, f] : all)
    lessons.push_back({f.shape.form,
                       {f.calls[0], f.bytes, f.seconds[0]},
                       f.mean_load() / std::max(1, blocks),
                       tried.size() > 1 ? f.summary(tried) : std::string()});
  return lessons;
}

void count_communicator(knowledge& known, const first_calls& young, const exchange_fields& all, int nodes) {
  if (nodes == 0) return;
  for (const call_form form : call_forms)
    if (const usage& of = young.of(form); of.calls > 0 && all.size() == 0) {
      const auto calls = static_cast<double>(of.calls);
      known.add_communicators(all.shape_of(form, static_cast<double>(of.bytes) / calls, nodes), 1, calls);
    }
  for (const auto& [key, f] : all) {
    exchange_shape shape = f.shape;
    shape.nodes = nodes;
    if (f.trials.calls() > 0) known.add_communicators(shape, 1, static_cast<double>(f.young + f.trials.calls()));
  }
}

}  // namespace shoal
