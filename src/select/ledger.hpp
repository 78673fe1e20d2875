// What Shoal costs a job and what it gains for the job: one account for the process, over all its communicators.
#pragma once

#include <algorithm>
#include <atomic>

namespace shoal {

// Pays for all that the user did not ask for: set-up, agreements, exchanges that turned out slower than the MPI's own.
// Several threads may use it.
class ledger {
 public:
  // A job may spend on learning these seconds or this share of its time in calls so far, whichever is more, and half of
  // what it has gained. So it stays ahead of the job without Shoal.
  static constexpr double free_seconds = 5e-3, share = 0.02, share_of_gain = 0.5;

  void called(double seconds) { in_calls_.fetch_add(seconds, std::memory_order_relaxed); }
  void spend(double seconds) { spent_.fetch_add(seconds, std::memory_order_relaxed); }
  void gain(double seconds) { gained_.fetch_add(seconds, std::memory_order_relaxed); }

  // Books how many seconds longer calls took than the MPI's own would have; negative: how many less.
  void settle(double excess) { excess > 0 ? spend(excess) : gain(-excess); }

  double in_calls() const { return in_calls_.load(std::memory_order_relaxed); }
  double spent() const { return spent_.load(std::memory_order_relaxed); }
  double gained() const { return gained_.load(std::memory_order_relaxed); }

  // How many seconds ranks last took to agree by the MPI's own collectives; 0: they never have.
  void agreed_in(double seconds) { agreement_.store(seconds, std::memory_order_relaxed); }
  double agreement() const { return agreement_.load(std::memory_order_relaxed); }

  // Seconds that may still be spent; negative if too much was spent.
  double allowance() const { return std::max(free_seconds, share * in_calls()) + share_of_gain * gained() - spent(); }

 private:
  std::atomic<double> in_calls_ = 0, spent_ = 0, gained_ = 0, agreement_ = 0;
};

}  // namespace shoal
