// Settles between the MPI's own collective and Shoal's candidates on a program's own exchanges, and on nothing else.
//
// Calls are numbered, and the number of a call alone tells which candidate serves it, so ranks cannot differ. A candidate
// is tried for one call, then for four, then for more, as long as the ledger allows and it is not clearly slower. After
// each trial the ranks agree on what the calls took on the slowest of them; until that is known the best so far serves.
// Agreements come at distances that grow, so what they cost vanishes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "select/size_mix.hpp"

namespace shoal {

class contest {
 public:
  static constexpr int native = 0;                                   // the candidate that is the MPI's own
  static constexpr int most_candidates = size_mix::most_candidates;  // with it
  static constexpr double usual_agreement = 5e-6;                    // seconds, about, where ranks have cores
  // What each rank says of its calls in an agreement, and the largest of which all ranks hear.
  static constexpr int terms = most_candidates + 2;

  // What is known of a candidate. Seconds are those of the slowest rank.
  struct record {
    bool open = false;  // may be tried
    bool dropped = false;
    bool anew = false;    // to be tried whatever it took before
    double mean = 0;      // seconds of a call, of the sizes that come now
    double at_trial = 0;  // and of those that came when it was last tried
    double least = 0;     // mean of the calls between two agreements that took least; 0: not known
    int calls = 0;        // that the mean is of; older ones weigh less and less
    int all_calls = 0;
    int batch = 1;           // calls of the next trial
    std::int64_t again = 0;  // the call from which on it is tried once more; 0: it is not left
  };

  contest();
  static constexpr int cold_calls = 8;  // before ranks agree on anything
  // The first agreement comes after so many calls instead, of which the last count, and at most a third: before, the MPI opens
  // connections, and pages are touched for the first time. Before the first call.
  void wait_first(int calls);

  // Whether the next call is the best one's, and no time of it is needed: so are most, once nothing is left to be tried. It
  // is counted then, and took() is not to be called.
  bool passes() {
    if (untimed_ == 0) return false;
    pass(1);
    return true;
  }
  // How many more calls pass; and that some have.
  int untimed() const { return untimed_; }
  void pass(int calls) {
    untimed_ -= calls;
    calls_ += calls;
    passed_ += calls;
  }
  // The last of these is counted no more.
  void take_back() {
    ++untimed_;
    --calls_;
    --passed_;
  }
  // The candidate for the next call.
  int next() const { return trial_left_ > 0 ? trial_ : best_; }
  // What that call took on this rank, which sent so many bytes.
  void took(double seconds, double bytes);
  // Instead, on every rank alike: another had to serve that call, and what it took says nothing of the candidate, which is
  // closed. `passed`: the call was one that passes().
  void gave_way(bool passed);
  // The ranks have to agree now; then write() is to be called, and agreed() some calls later, on every rank alike.
  bool is_due() const { return due_; }
  // What was tried is tried anew where exchanges have become twice as large or half as large, or those of the choice 1.5
  // times as slow.
  void write(std::span<std::int64_t> terms);
  // Of what was heard: how large exchanges are on the rank that sends most, in quarters of powers of two of bytes: on
  // average, and the usual ones, among which a few large ones hardly count.
  static constexpr int load_term = most_candidates, usual_load_term = load_term + 1;
  // What an agreement takes, in seconds, the same on every rank: they come less often where it is long.
  void agreements_take(double seconds) { agreement_ = seconds; }
  // The same on every rank. `allowance`: seconds that trials may cost.
  void agreed(std::span<const std::int64_t> terms, double allowance);
  // Nobody can agree now: the next time it is due is as far away as the last.
  void postpone();
  // They have to agree after the next call.
  void hasten() { agree_within(1); }
  // They have to agree after so many calls at the latest, and nothing is tried until then.
  void agree_within(int calls);

  // From the next agreement on the candidate may be tried. `likely` ones come first and need less proof.
  void open(int candidate, bool likely = false);
  // All but the best are, whatever they took before: they serve in another way now.
  void try_anew();
  // It cannot serve these calls.
  void close(int candidate);
  // What was learnt elsewhere: that a call takes so long, and who serves until trials tell otherwise.
  void assume(int candidate, double seconds);
  void prefer(int candidate);

  int best() const { return best_; }
  const record& of(int candidate) const { return records_[candidate]; }
  std::int64_t calls() const { return calls_; }
  // What the calls took, about, that passed before the last write(), and after the one before: seconds.
  double passed_seconds() const { return passed_seconds_; }
  // What all calls so far would have taken by the MPI's own when it is warm, as far as this rank knows: seconds.
  double native_seconds() const;
  // Nothing is left to be tried unless something changes.
  bool settled() const { return settled_; }
  // What the calls between the last two agreements took more than the MPI's own, or less (negative): seconds. Less than
  // the MPI's own at its best: some calls of that may have waited for a core, and then a gain would seem too large.
  double excess() const { return excess_; }
  // On a rank where sizes follow no pattern calls say less: more of them are needed.
  void set_scattered(bool scattered) { scattered_ = scattered; }

 private:
  // Of the bytes that this rank sends in a call, over some last calls.
  struct recent_load {
    double calls = 0, mean = 0, mean_log = 0;
    void add(double bytes);
  };
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
  bool worth_trying(int candidate);
  bool pays_to_know(int candidate) const;
  static void take_up(record& r);
  void leave(record& r);
  int affordable(int candidate, double allowance) const;
  void plan(double allowance);
  bool has_lost() const;
  void wait_longer(double allowance);
  void wait_for(int calls);
  void rest_for(int calls);
  void skip_one();

  // First what every call looks at.
  int untimed_ = 0;  // calls until these are timed
  int best_ = native;
  std::int64_t calls_ = 0;
  int passed_ = 0, told_passed_ = 0;
  int trial_ = native, trial_left_ = 0;
  int quiet_ = 0, quiet_left_ = 0;  // calls without a trial until the ranks agree again
  std::int64_t unmeasured_ = 2;     // calls up to this one are not counted: they are slower than others will be
  bool due_ = false, settled_ = false, scattered_ = false;
  int likely_ = native;
  std::int64_t usual_load_ = 0;  // quarters of powers of two; 0: not known
  bool suspects_change_ = false;
  double unsuspected_ = 0;  // seconds of a call of the best before that
  recent_load recent_;
  double excess_ = 0, passed_seconds_ = 0;
  double agreement_ = usual_agreement;
  std::array<int, most_candidates> told_{};               // calls that the agreement under way is about
  std::array<double, most_candidates> usual_at_trial_{};  // what usual_ said of a candidate
  size_mix usual_;
  // Since the last agreement was begun; up to the last candidate that has served.
  std::vector<trial_times> now_ = std::vector<trial_times>(1);
  std::array<record, most_candidates> records_{};
};

}  // namespace shoal
