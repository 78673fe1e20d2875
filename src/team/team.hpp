// The ranks of a communicator that exchange: what their messages go over, how they wait, the memory of their nodes, and the
// order of their exchanges.
#pragma once

#include <mpi.h>

#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "execute/exchange.hpp"
#include "team/agree_on_facts.hpp"
#include "team/failure_watch.hpp"
#include "team/node_memory.hpp"
#include "team/own_communicator.hpp"
#include "team/team_turns.hpp"
#include "transport/agree.hpp"
#include "transport/mpi_transport.hpp"

namespace shoal {

class team {
 public:
  // Makes nothing of the MPI's and talks to nobody. `clocked`: somebody wants to know where the time goes.
  team(MPI_Comm users, common_facts found, wait_mode mode, bool clocked);
  // Takes over `own`, a communicator of Shoal's for the ranks of `users`, which are asked for the rest. Collective. Throws
  // std::invalid_argument, on every rank, for settings that do not fit these ranks.
  team(MPI_Comm own, MPI_Comm users, const settings& set);
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  int ranks() const { return over_.ranks(); }
  int rank() const { return over_.rank(); }
  const common_facts& facts() const { return found_; }
  // A runtime was loaded since the ranks asked each other; to be called on all of them in the same call.
  void know_of_devices() { found_.devices = true; }
  // What algorithms are made for.
  const problem& where() const { return found_.where; }

  // The communicator that messages go over: made on first use, which is collective.
  MPI_Comm opened();
  // False, on every rank, when the MPI has none left. Collective.
  bool open();
  bool is_open() const { return own_.is_open(); }
  own_communicator& own() { return own_; }

  // Whether its ranks can exchange no more, since one has failed or the program has revoked its communicator: then the
  // MPI's own says so.
  bool is_lost() const { return failures_.is_lost(); }
  // Now and then while this rank waits.
  void look_for_failures() { failures_.look(); }

  waiting& wait() { return wait_; }
  memory_pool& pool() { return pool_; }
  node_memory& memory() { return memory_; }
  agreement& agree() {
    opened();
    return agreement_;
  }
  // What every rank has to say, by rank; as many bytes of each. Collective.
  std::vector<std::byte> gather(std::span<const std::byte> mine);
  // Each number of the rank where it is largest; collective.
  std::vector<std::int64_t> largest(std::span<const std::int64_t> mine);

  // Ready to run; made on first use. Throws std::invalid_argument where it cannot serve these ranks.
  const program& program_of(const selection& chosen);
  // Every exchange takes a turn, in the order of the calls; a blocking one waits until it has come.
  tag_turns& turns() { return turns_; }
  tag_turns::turn next_turn();
  // For an exchange that is started many times. None, on every rank, where too many hold one. Collective.
  std::optional<tag_turns::place> next_place();
  void run(const program& steps, const payload& what);
  // Instead of run(), on a rank whose arguments are wrong and which has no block for others, who do not know: it takes part in
  // what is set up, and in messages that travel all the same, so that later exchanges match again. `uniform`: all ranks know
  // that all blocks are empty.
  void run_without_blocks(const program& steps, bool uniform);
  // Where the time of the last run went; null: nobody wants to know.
  phase_clock* phases() { return phases_ ? &*phases_ : nullptr; }

  // For measuring: see exchange::set_inline_bytes.
  void set_inline_bytes(std::size_t bytes) { exchange_.set_inline_bytes(bytes); }

  // Held by the thread that is here, in a call or to move what is under way.
  std::recursive_mutex& lock() { return lock_; }

 private:
  void wait_as(wait_mode mode);
  void skip(const program& steps);
  node_exchange* inside_nodes();  // null: blocks travel as messages; collective

  own_communicator own_;
  mpi_transport over_;
  failure_watch failures_{own_, over_};
  waiting wait_;
  common_facts found_;
  agreement agreement_{over_, wait_};
  memory_pool pool_;
  std::optional<phase_clock> phases_;
  exchange exchange_{pool_, over_};
  node_memory memory_{pool_, over_, wait_, *found_.where.nodes, phases()};
  std::map<std::string, program> programs_;
  team_turns turns_{over_.highest_tag()};
  std::recursive_mutex lock_;
};

}  // namespace shoal
