#include "team/team_exchange.hpp"

namespace shoal {

team_exchange::team_exchange(team& ranks, phase_clock* clock)
    : ranks_(ranks), clock_(clock), over_(ranks.messages().another()), by_messages_(ranks.pool(), over_) {
  by_messages_.record_phases(clock);
}

void team_exchange::share(std::size_t most_bytes) {
  inside_ = ranks_.memory().make(over_, node_exchange::room::of_any(most_bytes));
  if (inside_) inside_->record_phases(clock_);
}

void team_exchange::start(const linked_schedule& steps, const payload& what) {
  if (clock_) clock_->begin();
  inside_ ? inside_->start(steps, what) : by_messages_.start(steps, what);
}

}  // namespace shoal
