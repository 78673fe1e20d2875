// What a communicator takes where nothing is asked for: measured once, after its first calls, or told by a profile.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/decision.hpp"
#include "api/settings.hpp"
#include "select/choose.hpp"
#include "select/features.hpp"
#include "select/trial.hpp"

namespace shoal {

class communicator;

class chooser {
 public:
  explicit chooser(communicator& of) : of_(of) {}

  // The profile and the way of tuning that were asked for. Collective.
  void follow(const settings& set);

  // The choice without asking other ranks in this call, or null: then for_sizes() what all ranks agree on. Counts the
  // call: the first few of a kind on a communicator take the likely best, then a handful of exchanges is measured, once.
  const decision* without_asking(bool uniform, std::int64_t block_bytes);
  // Whether that depends on sizes that are agreed on in some calls, so that those of the others have to be put off.
  bool asks_now_and_then(bool uniform) const { return !tries_ && kinds_[uniform].asks != asking::never; }
  // Keeps this rank's part of a call of MPI_Alltoallv for which the ranks do not ask each other, and gives it back.
  const features& put_off(const features& mine);
  // When they ask: with all that was kept. What all these calls take together is least where their mean is chosen for, as
  // long as costs grow evenly with messages and bytes.
  features with_put_off(features mine);
  const decision* for_sizes(bool uniform, const features& sizes);
  // The choice for an exchange that is planned once and run many times. Measures now, unless that was done; collective.
  const decision* for_repeated(bool uniform, const features& sizes);
  // The choice from what is known by now, without a word to other ranks, for an exchange that is not ended in the call
  // that starts it. It goes over messages: a node's memory serves one at a time.
  const decision* at_once(bool uniform, std::int64_t block_bytes);

  void report_to(usage_report& report) const;
  // What was measured here, to be kept as a profile; nothing where one decides or nothing was measured.
  std::optional<profile> learned() const;

 private:
  // Ways that take turns on the program's own exchanges, for a class of sizes or for all.
  struct tried {
    trial turns;
    std::vector<decision> ways;
    decision settled;
  };
  struct of_kind {
    int calls = 0;
    std::optional<measured_exchanges> measured;
    decision unmeasured, unasked;
    asking asks = asking::never;
    int calls_left = 0;                          // until ranks ask each other again
    int interval = 1;                            // from the last such call to the next
    const decision* until = nullptr;             // the choice for those calls
    std::optional<features> put_off;             // this rank's part of the calls since
    std::map<std::uint64_t, decision> by_sizes;  // by class of sizes
    std::map<std::uint64_t, tried> on_trial;
    std::uint64_t last_class = 0;
    decision* last = nullptr;
  };
  void adopt(const profile& from);
  std::optional<std::string> unfit(const profile& from);
  void adopt(bool uniform, measured_exchanges measured);
  const decision* unmeasured(bool uniform);
  void measure(bool uniform);
  enum ways { all_ways, over_messages };
  measured_exchanges by_messages(const measured_exchanges& all);
  int calls_until_asked(of_kind& kind, const decision& chosen);
  decision* best(of_kind& kind, const features& sizes, ways allowed);
  const decision* try_out(bool uniform, std::uint64_t sizes, const std::optional<block_mix>& blocks);
  void settle(tried& one, const block_mix& blocks);
  decision made(const choice& best, const block_mix& blocks);

  communicator& of_;
  of_kind kinds_[2];       // MPI_Alltoallv, MPI_Alltoall
  bool tries_ = false;     // SHOAL_TUNE=online
  bool profiled_ = false;  // a profile decides
};

}  // namespace shoal
