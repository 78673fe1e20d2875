// What Shoal keeps for one of the user's communicators, made collectively on first use.
#pragma once

#include <mpi.h>

#include <bitset>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/report.hpp"
#include "api/requests.hpp"
#include "api/settings.hpp"
#include "execute/agree.hpp"
#include "execute/exchange.hpp"
#include "execute/mpi_transport.hpp"
#include "execute/node_exchange.hpp"
#include "select/choose.hpp"
#include "select/features.hpp"
#include "select/trial.hpp"

namespace shoal {

// A selection made ready for a communicator, and what was done with it.
struct prepared {
  std::string spec;
  std::unique_ptr<const program> steps;  // null: the MPI's own collective
  usage uniform_use, nonuniform_use;

  bool has_schedule() const { return steps != nullptr; }
};

// What was decided for a kind of exchange, and why, in one line.
struct decision {
  prepared* how = nullptr;
  std::string reason;
  // Where it was chosen for sizes: what it was expected to take, the next best, and what it took.
  block_mix blocks = {};
  double seconds = 0, next_seconds = 0;
  std::string next = {};
  mutable usage use = {};
  std::string remark = {};    // for the report
  trial* on_trial = nullptr;  // that wants to know what it takes
};

class communicator : public std::enable_shared_from_this<communicator> {
 public:
  // Takes over `own`, a communicator of Shoal's with the same ranks (MPI_COMM_SELF stays open). Collective. Throws
  // std::invalid_argument, on every rank, for settings that do not fit these ranks.
  communicator(MPI_Comm own, const settings& set);
  ~communicator();
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  MPI_Comm own() const { return own_; }
  int ranks() const { return at_.ranks; }
  int rank() const { return over_.rank(); }
  memory_pool& pool() { return pool_; }
  waiting& wait() { return wait_; }
  // On some node ranks outnumber cores.
  bool crowded() const { return crowded_; }
  // What a profile must be for.
  job_description job() const;
  agreement& agree() { return agreement_; }
  // A device runtime (CUDA, HIP) is loaded on some rank, so any buffer may be device memory.
  bool devices() const { return devices_; }
  std::vector<std::int64_t>& offsets() { return offsets_; }

  // Ready to run; made on first use. Throws std::invalid_argument where it cannot serve these ranks.
  prepared& prepare(const selection& how);
  requests<decision>& asked() { return requests_; }

  features agreed(const features& mine) { return agree_on(mine, agreement_); }
  // Keeps this rank's part of a call of MPI_Alltoallv for which the ranks do not ask each other, and gives it back.
  const features& put_off(const features& mine);
  // When they ask: with all that was kept. What all these calls take together is least where their mean is chosen for, as
  // long as costs grow evenly with messages and bytes.
  features with_put_off(features mine);
  // Each value of the rank where it is largest; collective.
  std::vector<double> slowest(const std::vector<double>& mine);

  // True when all ranks are on one node and share memory there, which is set up on first use; collective.
  bool shares_memory() { return at_.nodes->nodes() == 1 && inside_nodes(); }

  // The choice without asking other ranks in this call, or null: then choose_for() what all ranks agree on. Counts the
  // call: the first few of a kind on a communicator take the likely best, then a handful of exchanges is measured, once.
  const decision* choose_unasked(bool uniform, std::int64_t block_bytes);
  // Whether that depends on sizes that are agreed on in some calls, so that those of the others have to be put off.
  bool asks_at_times(bool uniform) const { return automatic_[uniform].asks == asking::at_times; }
  // An exchange that is not ended in the call that starts it goes over messages: a node's memory serves one at a time.
  enum ways { all_ways, over_messages };
  const decision* choose_for(bool uniform, const features& sizes, ways allowed = all_ways);
  // Measures now, unless that was done; then choose_for() may be asked. Collective.
  void measure(bool uniform);
  // The choice over messages from what is known by now, without a word to other ranks.
  const decision* choose_at_once(bool uniform, std::int64_t block_bytes);

  // What this rank needs for an exchange besides what the algorithm does.
  struct scratch_needs {
    std::int64_t largest_block = 0, packed = 0;  // bytes
  };
  bool limited() const { return max_temp_.has_value(); }
  // `chosen`, which has a schedule, or what serves all ranks instead where it could need more scratch memory than
  // SHOAL_MAX_TEMP on one of them. Collective, unless nothing is limited.
  const decision* within_limit(const decision* chosen, bool uniform, const scratch_needs& mine);

  // Tags for an exchange that is under way beside others, the same on every rank; throws where none are left.
  exchange::tag_range nonblocking_tags();
  exchange::tag_range persistent_tags();  // collective
  void release_tags(exchange::tag_range tags);

  void run(const prepared& how, const payload& what);
  // Where the time of the last run went; null: nobody wants to know.
  phase_clock* phases() { return phases_ ? &*phases_ : nullptr; }
  // For measuring: see exchange::set_inline_bytes.
  void set_inline_bytes(std::size_t bytes) { exchange_.set_inline_bytes(bytes); }

  // What ran last, for shoal_comm_explain.
  const decision* last = nullptr;
  usage verified;
  void report_to(usage_report& report) const;
  // What was measured here, to be kept as a profile; nothing where one decides or nothing was measured.
  std::optional<profile> learned() const;

 private:
  static constexpr int channels = 256;  // exchanges under way at the same time, each with tags of its own

  // Ways that take turns on the program's own exchanges, for a class of sizes or for all.
  struct tried {
    trial turns;
    std::vector<decision> ways;
    decision settled;
  };
  // What is chosen, for one kind of exchange, when nothing is asked for.
  struct automatic {
    int calls = 0;
    std::optional<measured_exchanges> measured;
    decision unmeasured, unasked;
    asking asks = asking::never;
    int calls_left = 0;                          // until ranks ask each other again
    const decision* until = nullptr;             // the choice for those calls
    std::optional<features> put_off;             // this rank's part of the calls since
    std::map<std::uint64_t, decision> by_sizes;  // by class of sizes
    std::map<std::uint64_t, tried> on_trial;
    std::uint64_t last_class = 0;
    decision* last = nullptr;
  };
  const decision* choose_unmeasured(bool uniform);
  const decision* try_out(bool uniform, std::uint64_t sizes, const std::optional<block_mix>& blocks);
  void settle(tried& one, const block_mix& blocks);
  decision made(const choice& best, const block_mix& blocks);
  std::int64_t most_scratch(const prepared& how, bool uniform, const scratch_needs& mine);
  void adopt(const profile& from);
  std::optional<std::string> unfit(const profile& from);
  void adopt(bool uniform, measured_exchanges measured);
  exchange::tag_range claim(int channel);
  int tags_of_channel() const { return over_.highest_tag() / channels; }
  struct card;  // what a rank tells the others about where it runs
  void survey(const settings& set);
  std::shared_ptr<const switch_network> place_ranks(switch_network network);
  template <typename T>
  std::vector<T> gather(const T& mine);
  void release();
  node_exchange* inside_nodes();  // null: blocks travel as messages; collective

  MPI_Comm own_;
  mpi_transport over_;
  waiting wait_{wait_mode::yield};
  agreement agreement_{over_, wait_};
  requests<decision> requests_;
  memory_pool pool_;
  exchange exchange_{pool_, over_};
  std::optional<phase_clock> phases_;
  std::unique_ptr<node_exchange> inside_nodes_;
  bool tried_to_share_ = false;
  problem at_;
  bool crowded_ = false;
  int cores_ = 0;  // of the node that has fewest
  bool devices_ = false;
  bool tries_ = false;     // SHOAL_TUNE=online
  bool profiled_ = false;  // a profile decides
  std::optional<std::int64_t> max_temp_;
  std::map<std::string, decision> replaced_;  // by the spec that needs too much, and what is taken
  std::map<std::string, prepared> prepared_;
  automatic automatic_[2];
  std::bitset<channels> channels_;  // of tags, in use
  int last_nonblocking_ = 0;
  std::vector<std::int64_t> offsets_;
};

}  // namespace shoal
