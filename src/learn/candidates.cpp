#include "learn/candidates.hpp"

#include <algorithm>

#include "model/best_levels.hpp"

namespace shoal {

// Inside a node Shoal is faster than the MPI's own only through memory that the ranks share.
void candidates::list(collective what, team& ranks) {
  const bool on_one_node = ranks.where().nodes->nodes() == 1;
  specs_ = {"native"};
  if (on_one_node && !ranks.memory().has_all_ranks()) return;
  for (const std::string& spec : worth_trying(what, ranks.where())) propose(spec);
}

void candidates::add_levels(const exchange_field& f, const problem& where, const agreed_terms& all) {
  const layout_tree* const levels = where.levels.get();
  const bool equal = f.shape.form == call_form::equal;
  if (f.shape.what != collective::alltoall || !levels || levels->levels() <= 2 || f.shape.nodes == 1 ||
      (!equal && !all.know_load()))
    return;
  const double load = equal ? f.load : all.load();
  propose(best_levels(*levels, load / f.shape.ranks, common_machine).spec);
}

void candidates::assume(exchange_field& f, const knowledge::shape_times& known) {
  int best = contest::native;
  for (const auto& [spec, entry] : known.specs) {
    const int candidate = propose(spec);
    if (candidate < 0) continue;
    f.trials.assume(candidate, entry.seconds);
    if (f.trials.record_of(candidate).mean < f.trials.record_of(best).mean || !f.trials.record_of(best).mean)
      best = candidate;
  }
  f.trials.prefer(best);
}

void candidates::open(exchange_field& f, prepared_algorithms& from) const {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    f.decisions[i] = {&from.get(parse_selection(specs_[i], f.shape.what)), "settled on the program's own exchanges"};
    f.trials.open(static_cast<int>(i), guess_of(hash_of(specs_[i])) == f.guess);
  }
}

void candidates::teach(knowledge& known, const exchange_field& f) const {
  for (std::size_t i = 0; i < specs_.size(); ++i)
    if (const contest::record& r = f.trials.record_of(static_cast<int>(i)); r.all_calls > 2)
      known.add(f.shape, specs_[i], r.mean, r.calls);
}

// The number of the candidate, which is added if it is new; negative if there are too many.
int candidates::propose(const std::string& spec) {
  auto it = std::find(specs_.begin(), specs_.end(), spec);
  if (it == specs_.end() && specs_.size() < contest::most_candidates) it = specs_.insert(it, spec);
  return it == specs_.end() ? -1 : static_cast<int>(it - specs_.begin());
}

}  // namespace shoal
