// What Shoal keeps for one of the user's communicators, made collectively on first use.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/chooser.hpp"
#include "api/decision.hpp"
#include "api/report.hpp"
#include "api/requests.hpp"
#include "api/scratch_limit.hpp"
#include "api/settings.hpp"
#include "api/sized_programs.hpp"
#include "execute/agree.hpp"
#include "execute/exchange.hpp"
#include "execute/mpi_transport.hpp"
#include "execute/node_exchange.hpp"
#include "select/features.hpp"

namespace shoal {

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
  // What algorithms are made for.
  const problem& where() const { return at_; }
  agreement& agree() { return agreement_; }
  // A device runtime (CUDA, HIP) is loaded on some rank, so any buffer may be device memory.
  bool devices() const { return devices_; }
  std::vector<std::int64_t>& offsets() { return offsets_; }

  // Ready to run; made on first use. Throws std::invalid_argument where it cannot serve these ranks.
  prepared& prepare(const selection& how);
  // What is asked for; what is taken where nothing is; and what instead of what needs too much memory.
  requests<decision>& asked() { return requests_; }
  chooser& choices() { return choices_; }
  scratch_limit& limit() { return limit_; }
  sized_programs& for_sizes() { return for_sizes_; }

  features agreed(const features& mine) { return agree_on(mine, agreement_); }
  // What every rank has to say, by rank; as many bytes of each. Collective.
  std::vector<std::byte> gather(std::span<const std::byte> mine);
  // Each value of the rank where it is largest; collective.
  std::vector<double> slowest(const std::vector<double>& mine);

  // True when all ranks are on one node and share memory there, which is set up on first use; collective.
  bool shares_memory() { return at_.nodes->nodes() == 1 && inside_nodes(); }

  // Every exchange takes a turn, in the order of the calls; a blocking one waits until it has come.
  tag_turns& turns() { return turns_; }
  tag_turns::turn next_turn();

  void run(const program& how, const payload& what);
  // Where the time of the last run went; null: nobody wants to know.
  phase_clock* phases() { return phases_ ? &*phases_ : nullptr; }

  // Held by the thread that is here, in a call or to move what is under way.
  std::recursive_mutex& lock() { return lock_; }

  // For measuring: see exchange::set_inline_bytes.
  void set_inline_bytes(std::size_t bytes) { exchange_.set_inline_bytes(bytes); }

  // Memory that one exchange has in common with its ranks on this rank's node, for messages of `over` inside the node.
  // Null: there is none, and they travel like others. Collective.
  std::unique_ptr<node_exchange> share_inside_nodes(transport& over, std::size_t most = node_window::any);

  // What ran last, for shoal_comm_explain.
  const decision* last = nullptr;
  usage verified;
  void report_to(usage_report& report) const;

 private:
  struct card;  // what a rank tells the others about where it runs
  void survey(const settings& set);
  void begin_turns();
  std::shared_ptr<const switch_network> place_ranks(switch_network network);
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
  std::map<std::string, prepared> prepared_;
  chooser choices_{*this};
  scratch_limit limit_{*this};
  sized_programs for_sizes_{*this};
  tag_turns turns_{over_.highest_tag()};
  std::recursive_mutex lock_;
  std::vector<std::int64_t> offsets_;
};

}  // namespace shoal
