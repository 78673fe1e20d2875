// Decides between the MPI's own collective and Shoal's candidates, by the program's own exchanges and nothing else.
//
// Calls are numbered. The number of a call and the times that the ranks have agreed on decide which candidate serves
// the call, so ranks cannot differ. A candidate is tried for one call, then for four, then for more, as long as the
// ledger allows it and the candidate is not clearly slower. After each trial the ranks agree on what the calls took on
// the slowest rank. Until they know that, the best candidate so far serves. A candidate whose calls take less than the
// MPI's own takes over, but keeps its place only if the whole program goes on faster (headway). Agreements come at growing
// distances, so their cost vanishes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "select/headway.hpp"
#include "select/size_mix.hpp"

namespace shoal {

class contest {
 public:
  static constexpr int native = 0;                                   // the candidate that is the MPI's own
  static constexpr int most_candidates = size_mix::most_candidates;  // the MPI's own included
  static constexpr double usual_agreement = 5e-6;                    // about, in seconds, if each rank has a core
  // How many numbers each rank says about its calls in an agreement. All ranks hear the largest of each.
  static constexpr int terms = most_candidates + 3;

  // What is known of a candidate. Seconds are those of the slowest rank.
  struct record {
    bool open = false;  // may be tried
    bool dropped = false;
    bool delays = false;  // when last compared, the program went on no faster by it
    bool anew = false;    // to be tried, whatever it took before
    double mean = 0;      // seconds of a call, for the sizes that come now
    double at_trial = 0;  // the same, for the sizes that came when it was last tried
    double least = 0;     // smallest mean of the calls between two agreements; 0: not known
    int calls = 0;        // how many the mean is of; older ones weigh less and less
    std::int64_t all_calls = 0;
    int batch = 1;           // calls in its next trial
    std::int64_t again = 0;  // the call from which on it is tried once more; 0: it has not been set aside
  };

  contest();
  static constexpr int cold_calls = 8;  // before the first agreement
  // Lets the first agreement come after `calls` calls instead. Only the last of these are timed, about a third at most:
  // in the others the MPI opens connections, and pages are touched for the first time. To be called before the first
  // call.
  void wait_first(int calls);

  // Returns true if the best candidate serves the next call and the call need not be timed, as with most calls once
  // nothing is left to be tried. The call is then counted already, and took() must not be called for it.
  bool passes() {
    if (untimed_left_ == 0) return false;
    pass(1);
    return true;
  }
  // How many of the next calls pass. pass() counts calls that passed without a call of passes().
  int untimed_left() const { return untimed_left_; }
  void pass(int calls) {
    untimed_left_ -= calls;
    calls_ += calls;
    passed_ += calls;
  }
  // No longer counts the last call that passed.
  void take_back() {
    ++untimed_left_;
    --calls_;
    --passed_;
  }
  // The candidate for the next call.
  int next() const { return trial_left_ > 0 ? trial_ : best_; }
  // Tells what the call took on this rank, which sent `bytes` in it. `now`: a time in seconds.
  void took(double seconds, double bytes, double now);
  // Called instead of took(), on every rank alike, if the candidate could not serve the call. The time of the call says
  // nothing about the candidate, which is closed. `passed`: passes() has counted the call.
  void gave_way(bool passed);
  // Returns true if the ranks have to agree now. Then every rank must call write(), and agreed() at once or some calls
  // later.
  bool is_due() const { return due_; }
  // Writes what this rank says in the agreement. If two agreements in a row find that exchanges have become twice or
  // half as large, or that calls of the choice have become 1.5 times as slow, everything is tried anew. `now`: a time in
  // seconds.
  void write(std::span<std::int64_t> terms, double now);
  // The terms that tell how large exchanges are on the rank that sends most, as 4 * log2(bytes): on average, and by the
  // mean of the logarithms, in which a few large exchanges hardly count.
  static constexpr int load_term = most_candidates, usual_load_term = load_term + 1;
  // How many nanoseconds passed from one call to the next since the last agreement; or, while two serve in turn, in the
  // second half of a stretch.
  static constexpr int pace_term = usual_load_term + 1;
  // Tells how many seconds an agreement takes, the same on every rank: if agreements take long, they come less often.
  void agreements_take(double seconds) { agreement_ = seconds; }
  // Takes the agreed terms, and plans what comes next. `allowance`: seconds that trials may cost. Both are the same on
  // every rank. `now`: a time in seconds.
  void agreed(std::span<const std::int64_t> terms, double allowance, double now);
  // The ranks cannot agree now. The next agreement is due after twice as many calls as this one; after 4096 at most,
  // or as many as this one if those were more. While candidates are compared it is due soon.
  void postpone();
  // Lets the ranks agree after the next call.
  void hasten() { agree_within(1); }
  // Lets the ranks agree after `calls` calls at the latest. Nothing is tried until then.
  void agree_within(int calls);

  // Lets the candidate be tried from the next agreement on. A `likely` candidate comes first and needs less proof.
  void open(int candidate, bool likely = false);
  // Has all candidates but the best tried again, whatever they took before, because they serve in another way now.
  void try_anew();
  // The candidate cannot serve these calls. If it is being tried, the best one serves the rest of its trial.
  void close(int candidate);
  // Tell what was learnt elsewhere: how long a call takes, and which candidate serves until trials show otherwise.
  void assume(int candidate, double seconds);
  void prefer(int candidate);

  // Whether two serve in turn, to be compared.
  bool is_comparing() const { return headway_.is_on(); }
  // Who serves if nothing is tried; and who the contest has settled on so far, even if it is being compared.
  int best() const { return best_; }
  int choice() const { return headway_.is_on() ? choice_ : best_; }
  const record& record_of(int candidate) const { return records_[candidate]; }
  std::int64_t calls() const { return calls_; }
  // About how many seconds the calls took that passed between the last two calls of write().
  double passed_seconds() const { return passed_seconds_; }
  // How many seconds all calls so far would have taken by the MPI's own, once warm, as far as this rank knows.
  double native_seconds() const;
  // Nothing is left to be tried unless something changes.
  bool settled() const { return settled_; }
  // How many seconds longer the calls between the last two agreements took than the MPI's own would have. Negative: how
  // many seconds less than the MPI's own at its best. Some calls of the MPI's own may have waited for a core, so
  // against its mean the gain would seem too large.
  double excess() const { return excess_; }
  // Tells whether sizes follow no pattern. If so, each call says less, and more of them are needed.
  void set_scattered(bool scattered) { scattered_ = scattered; }

 private:
  // Means of the bytes that this rank sends in a call, over the latest calls.
  struct recent_load {
    double calls = 0, mean = 0, mean_log = 0;
    void add(double bytes);
  };
  void end_wait(double now);
  void lengthen_stretch();
  double as_sizes_are_now(int candidate) const;
  void notice_change(std::span<const std::int64_t> terms);
  void take_in(int candidate, int calls, double mean);
  static int calls_that_count(const record& r, int calls, double mean);
  double excess_of(double mean) const;
  void start_over(double factor);
  bool slower_than_before(int calls, double mean) const;
  double proof(int candidate) const;
  double limit(int candidate) const;
  int choose() const;
  void decide(std::span<const std::int64_t> terms);
  bool comes_late(int candidate) const;
  void take(int candidate);
  std::int64_t next_comparison() const;
  void compare_headway(int candidate, std::span<const std::int64_t> terms);
  void go_on_comparing(double seconds);
  // What the candidate that is compared serves in turn with: the choice; or the MPI's own, if it is the choice itself.
  int rival() const { return choice_ == headway_.candidate() ? native : choice_; }
  void stop_comparing();
  bool worth_trying(int candidate);
  bool pays_to_know(int candidate) const;
  void take_up(record& r);
  void leave(record& r);
  int affordable(int candidate, double allowance) const;
  void plan(double allowance);
  bool has_lost() const;
  void wait_longer(double allowance);
  void wait_for(int calls);
  void rest_for(int calls, int timed);
  static int timed_of(int calls);
  void skip_one();

  // First the members that every call looks at.
  int untimed_left_ = 0;  // calls left until calls are timed again
  int best_ = native;
  std::int64_t calls_ = 0;
  std::int64_t passed_ = 0, reported_passed_ = 0;
  int trial_ = native, trial_left_ = 0;
  int until_agreement_ = 0, timed_left_ = 0;  // calls without a trial before an agreement; how many timed ones are left
  std::int64_t unmeasured_ = 2;               // calls up to this one are not measured: they are slower than later ones
  bool due_ = false, settled_ = false, scattered_ = false;
  int likely_ = native;
  std::int64_t usual_load_ = 0;  // as in usual_load_term; 0: not known
  bool suspects_change_ = false;
  double unsuspected_ = 0;  // seconds of a call of the best before a change was suspected
  recent_load recent_;
  headway headway_;
  std::int64_t compare_again_ = 0;  // the call from which on a choice other than the MPI's own is compared once more
  double stepped_at_ = 0;           // from when on the time between calls is taken, in seconds, and from which call on
  std::int64_t stepped_call_ = 0;
  int choice_ = native;      // while two serve in turn: what had been settled on before
  bool is_in_step_ = false;  // in the second half of a stretch
  double excess_ = 0, passed_seconds_ = 0;
  double agreement_ = usual_agreement;
  std::array<int, most_candidates> reported_{};           // calls that the agreement under way is about, by candidate
  std::array<double, most_candidates> usual_at_trial_{};  // usual_.mean() of each candidate at its trial
  size_mix usual_;
  // Calls since the last agreement began, by candidate, up to the last candidate that has served.
  std::vector<trial_times> now_ = std::vector<trial_times>(1);
  std::array<record, most_candidates> records_{};
};

}  // namespace shoal
