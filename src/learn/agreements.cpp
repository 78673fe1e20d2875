#include "learn/agreements.hpp"

#include <algorithm>
#include <mutex>
#include <span>
#include <utility>

#include "team/pending_agreement.hpp"

namespace shoal {

std::vector<std::int64_t> agreements::agree(std::vector<std::int64_t> mine, team* through) {
  const double begin = PMPI_Wtime();
  if (through && through->memory().has_all_ranks()) {
    const std::scoped_lock alone(through->lock());
    mine = through->largest(mine);
    waited_ = PMPI_Wtime() - begin;
    own_loss_ = may_go_on_ ? waited_ : 0;
    return mine;
  }
  pending_agreement said(comm_, std::move(mine));
  const std::span<const std::int64_t> all = said.wait(wait_);
  note_wait(PMPI_Wtime() - begin);
  return {all.begin(), all.end()};
}

void agreements::note_wait(double seconds, double apart) {
  books_.agreed_in(waited_ = seconds);
  own_loss_ = may_go_on_ ? std::max(seconds, apart) : 0;
}

rank_times agreements::times() {
  reported_paid_ += std::exchange(paid_, 0);
  return {waited_ > 0 ? waited_ : books_.agreement(), books_.allowance() + reported_paid_, reported_paid_, own_loss_};
}

void agreements::hear(const agreed_terms& all) {
  if (all.shortest_agreement() > 0) shortest_ = all.shortest_agreement();
  if (all.longest_agreement() > 0) longest_ = all.longest_agreement();
  largest_loss_ = all.lost();
  for_cores_ = all.ranks_of_a_core() > 1 ? time_slice * all.ranks_of_a_core() : 0;
}

void agreements::hear(const agreed_terms& all, contest& of, int sharing) {
  hear(all);
  of.agreements_take(price() * sharing);
  of.agreed(all.of_contest(), all.allowance(), PMPI_Wtime());
  native_call_ = of.record_of(contest::native).mean;
  call_ = of.record_of(of.best()).mean;
  books_.settle(of.excess());
  correct_books(all);
}

void agreements::correct_books(const agreed_terms& all) {
  const double reported = std::exchange(reported_paid_, 0);
  if (!is_waiting_lost()) books_.spend(all.paid() - reported);
}

// If ranks share cores, others run while a rank waits for its core, so that wait is not lost.
bool agreements::is_waiting_lost() const { return largest_loss_ > std::max({200e-6, 8 * native_call_, for_cores_}); }

double agreements::price() const {
  return is_waiting_lost() ? largest_loss_ : std::max(shortest_, std::min(longest_, call_));
}

}  // namespace shoal
