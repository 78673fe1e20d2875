// The ranks of a communicator that exchange: what moves their messages, how they wait, the memory of their nodes, and
// the order of their exchanges.
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
  // Creates nothing of the MPI's yet and does not communicate. `clocked`: somebody wants to know where the time goes.
  team(MPI_Comm users, common_facts found, wait_mode mode, bool clocked);
  // Takes over `own`, a communicator of Shoal's for the ranks of `users`, and asks these ranks for the facts.
  // Collective. Throws std::invalid_argument, on every rank, if the settings do not fit these ranks.
  team(MPI_Comm own, MPI_Comm users, const settings& set);
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  int ranks() const { return over_.ranks(); }
  int rank() const { return over_.rank(); }
  const common_facts& facts() const { return found_; }
  // A device runtime was loaded since the ranks asked each other. All of them call this in the same call of the
  // program.
  void know_of_devices() { found_.devices = true; }
  // The problem that algorithms make schedules for.
  const problem& where() const { return found_.where; }

  // The communicator that messages go over. The first use makes it, and is collective.
  MPI_Comm opened();
  // What moves the messages on it.
  const mpi_transport& messages() {
    opened();
    return over_;
  }
  // Makes that communicator. Returns false, on every rank, if the MPI has none left. Collective.
  bool open();
  bool is_open() const { return own_.is_open(); }
  own_communicator& own() { return own_; }

  // Whether the ranks can no longer exchange, because one has failed or the program has revoked its communicator. The
  // MPI's own collectives then report that.
  bool is_lost() const { return failures_.is_lost(); }
  // Called again and again while this rank waits.
  void look_for_failures() { failures_.look(); }

  waiting& wait() { return wait_; }
  memory_pool& pool() { return pool_; }
  node_memory& memory() { return memory_; }
  agreement& agree() {
    opened();
    return agreement_;
  }
  // Returns what every rank has to say, by rank. Every rank gives the same number of bytes. Collective.
  std::vector<std::byte> gather(std::span<const std::byte> mine);
  // Returns the largest of each number over all ranks. Collective.
  std::vector<std::int64_t> largest(std::span<const std::int64_t> mine);

  // The schedule of an algorithm, ready to run; made on first use. Throws std::invalid_argument if the algorithm cannot
  // serve these ranks.
  const linked_schedule& schedule_of(const selection& chosen);
  // Every exchange takes a turn, in the order of the calls. next_turn() is for blocking exchanges, and waits until the
  // turn has come.
  tag_turns& turns() { return turns_; }
  tag_turns::turn next_turn();
  // A place for an exchange that is started many times. Empty, on every rank, if too many hold one. Collective.
  std::optional<tag_turns::place> next_place();
  void run(const linked_schedule& steps, const payload& what);
  // Called instead of run() on a rank whose arguments are wrong and that has no block for others, while the others do
  // not know. The rank takes part in what is set up, and in messages that travel all the same, so that later exchanges
  // match again. `uniform`: all ranks know that all blocks are empty.
  void run_without_blocks(const linked_schedule& steps, bool uniform);
  // Where the time of the last run went; null if nobody wants to know.
  phase_clock* phases() { return phases_ ? &*phases_ : nullptr; }

  // For measuring: see exchange::set_inline_bytes.
  void set_inline_bytes(std::size_t bytes) { exchange_.set_inline_bytes(bytes); }

  // Held by the thread that uses the team, in a call or to move what is under way.
  std::recursive_mutex& lock() { return lock_; }

 private:
  void wait_as(wait_mode mode);
  void skip(const linked_schedule& steps);
  node_exchange* inside_nodes();  // null if blocks travel as messages; collective

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
  std::map<std::string, linked_schedule> schedules_;
  team_turns turns_{over_.highest_tag()};
  std::recursive_mutex lock_;
};

}  // namespace shoal
