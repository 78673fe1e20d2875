#include "learn/investment.hpp"

#include <algorithm>

#include "select/hoped_gain.hpp"
#include "team/job_facts.hpp"

namespace shoal {

// Inside one node the cost is a few agreements, and memory that each rank has to touch; if ranks share a core, each
// waits for its turn to do so. The factors are what the ledger was charged, with 4 to 16 ranks on 2 cores. Between
// nodes the cost is blocking collectives of the MPI's own: each takes about as long as a call, and no longer than an
// agreement with its waiting. For a graph the ranks also tell each other their neighbours.
double investment::cost(const agreed_terms& all) const {
  const double graph = what_ == collective::alltoall ? 0 : 4 * among_.price() + 2e-6 * ranks_;
  if (!is_on_one_node(all)) return 8 * among_.price() + 300e-6 + graph;
  const int sharing = all.ranks_of_a_core();
  const double memory = memory_.usual_time_to_make(all.room(ranks_), ranks_);
  const double agreements = sharing > 1 ? 1.6 : 2, turn = sharing > 1 ? 1.3 : 1;
  const double agreement = among_.is_waiting_lost() ? among_.price() : among_.shortest();
  return memory + agreements * agreement + turn * offered_memory::usual_time_to_map * sharing + graph;
}

// If ranks share cores, each rank touches its memory for the first time in these trials, one after another.
double investment::seconds_of_trials(const agreed_terms& all) const {
  const double call = among_.native_call();
  if (!is_on_one_node(all)) return 8 * call;
  const int sharing = all.ranks_of_a_core();
  return sharing > 1 ? call + offered_memory::usual_time_to_map * sharing : 2 * call;
}

// With how many of the ranks on its node a rank exchanges, about. If blocks are empty, nobody has counted how many, and
// ranks wait for few others.
int investment::met_by(const exchange_field& f, int here) const {
  return what_ == collective::alltoall && f.may_be_ahead ? std::max(2, here / 4) : here;
}

// Goes by what such exchanges gained elsewhere in the job, or else by what those on this communicator might gain.
double investment::hope_of(const exchange_field& f, const exchange_fields& all) const {
  const auto known = job_.known().find(f.shape);
  if (known && known->specs.size() > 1 && known->specs.contains("native")) {
    const double gain = known->specs.at("native").seconds - known->best()->second.seconds;
    return static_cast<double>(f.trials.calls()) * gain;
  }
  const bool is_told = job_.facts().ranks_here > 0 || f.shape.nodes > 0;  // else it hopes for a core for each rank
  const int here = std::min(ranks_ / std::max(1, f.shape.nodes), ranks_on_node(job_.facts(), ranks_));
  const int sharing = is_told ? job_.ranks_of_a_core(here) : 1;
  double hope = 0;
  for (const auto& [key, one] : all)
    hope += hoped_gain(one.trials.native_seconds(), one.trials.calls(), one.mean_load(), met_by(one, here), sharing);
  return hope;
}

// What is made is of use only if the ledger can pay for trials as well.
bool investment::pays(const agreed_terms& all) const {
  const double whole = cost(all);
  const bool none_left = all.some_full() && !is_on_one_node(all);  // exchanges between nodes need a communicator
  return !all.have_devices() && !all.some_copy_much() && !none_left &&
         whole + seconds_of_trials(all) <= all.allowance() && whole <= all.hope();
}

// If it does, the second round offers memory, and the ranks map it if it still pays once that round has told how long
// agreements take. That saves an agreement. If ranks share cores, this might make memory for nothing, at a multiple of
// its usual price.
bool investment::pays_at_once(const agreed_terms& all) const {
  const bool is_wrong = !job_.wrong_settings(all.same_settings(), all.some_unusable()).empty();
  return all.ranks_of_a_core() == 1 && !is_wrong && is_on_one_node(all) && pays(all);
}

// False if the two agreements that this takes would cost more than the ledger allows. The first rank goes by its own
// wait, because the others have not told it yet how long they waited; without this check it would make memory for
// nothing.
bool investment::may_offer_memory(const agreed_terms& all) const {
  return pays_at_once(all) && 2 * among_.last_wait() <= all.allowance();
}

std::optional<int> investment::calls_until_hope(const agreed_terms& all, std::int64_t calls) const {
  const double hope = all.hope(), whole = cost(all), so_far = static_cast<double>(calls);
  if (whole <= hope || hope <= 0) return std::nullopt;
  return static_cast<int>(std::clamp(so_far * (whole / hope - 1), std::min(1e6, so_far / 4), 1e6));
}

std::optional<knowledge::shape_times> investment::expected(const exchange_field& f, const profile* from,
                                                           const agreed_terms& all) const {
  const bool equal = f.shape.form == call_form::equal;
  const bool is_of_profiles = what_ == collective::alltoall && f.shape.form != call_form::any_types;
  if (from && is_of_profiles && from->kinds[equal]) return from->kinds[equal]->expected({f.load / ranks_, 1}, ranks_);
  const auto known = job_.earlier().find(f.shape);
  if (!known || !known->specs.contains("native")) return std::nullopt;
  const double native = known->specs.at("native").seconds;
  const double gain = known->calls_each() * (native - known->best()->second.seconds);
  return gain > cost(all) ? known : std::nullopt;
}

bool investment::is_on_one_node(const agreed_terms& all) const { return job_.is_on_one_node(ranks_, all.same_node()); }

}  // namespace shoal
