// The ranks of one of the user's communicators as Shoal serves them, once that was agreed on.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "execute/exchange.hpp"
#include "execute/node_exchange.hpp"
#include "learn/decision.hpp"
#include "learn/requests.hpp"
#include "learn/scratch_limit.hpp"
#include "learn/sized_programs.hpp"
#include "select/features.hpp"
#include "team/agree_on_facts.hpp"
#include "team/settings.hpp"
#include "transport/agree.hpp"
#include "transport/mpi_transport.hpp"

namespace shoal {

// What is kept of single blocks while they are exchanged: what each is made of; and of a copy of those sent in place, where
// each begins and its bytes.
struct block_storage {
  std::vector<element_type> sent, received;
  std::vector<std::int64_t> offsets, bytes;
};

class communicator : public std::enable_shared_from_this<communicator> {
 public:
  // Makes nothing of the MPI's and talks to nobody, unless a topology is given; then it is collective. Throws
  // std::invalid_argument, on every rank, for settings that do not fit these ranks.
  communicator(MPI_Comm users, const settings& set, common_facts found, wait_mode how);
  // Over `own`, a communicator of Shoal's that it takes over. Collective.
  communicator(MPI_Comm own, const settings& set);
  ~communicator();
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  // The communicator that Shoal's messages go over: the same ranks; made on first use, which is collective.
  MPI_Comm own();
  bool is_open() const { return own_ != MPI_COMM_NULL; }
  // False, on every rank, when the MPI has none left. Collective.
  bool open();
  int ranks() const { return at_.ranks; }
  int rank() const { return over_.rank(); }
  memory_pool& pool() { return pool_; }
  waiting& wait() { return wait_; }
  // What a profile must be for.
  job_description job() const;
  // What algorithms are made for.
  const problem& where() const { return at_; }
  agreement& agree() {
    own();
    return agreement_;
  }
  bool devices() const { return found_.devices; }
  block_storage& blocks() { return blocks_; }

  // Ready to run; made on first use. Throws std::invalid_argument where it cannot serve these ranks.
  prepared& prepare(const selection& how);
  // The algorithms that the user names; the default; and what replaces an algorithm that needs too much memory.
  requests<decision>& asked() { return requests_; }
  // The profile that the user names, if it fits these ranks; else null.
  const std::shared_ptr<const profile>& followed() const { return profile_; }
  // What was settled for exchanges of a size, for requests: the same on every rank, or null.
  const decision* settled(call_form form, int size) const;
  void settle(call_form form, int size, const decision* chosen) { settled_[form][size] = chosen; }
  scratch_limit& limit() { return limit_; }
  sized_programs& for_sizes() { return for_sizes_; }

  features agreed(const features& mine) { return agree_on(mine, agree()); }
  // What every rank has to say, by rank; as many bytes of each. Collective.
  std::vector<std::byte> gather(std::span<const std::byte> mine);
  // Each number of the rank where it is largest; collective.
  std::vector<std::int64_t> largest(std::span<const std::int64_t> mine);
  // Each value of the rank where it is largest; collective.
  std::vector<double> slowest(const std::vector<double>& mine);

  // True when all ranks are on one node and share memory there, which is set up on first use; collective.
  bool shares_memory() { return at_.nodes->nodes() == 1 && inside_nodes(); }
  // Memory of the one node that has all ranks.
  void share(node_exchange::mapped given);
  bool has_shared_memory() const { return inside_nodes_ != nullptr; }
  // Then agreements need nothing of the MPI's.
  bool agrees_inside() const { return has_shared_memory() && at_.nodes->nodes() == 1; }

  // Every exchange takes a turn, in the order of the calls; a blocking one waits until it has come.
  tag_turns& turns() { return turns_; }
  tag_turns::turn next_turn();

  void run(const program& how, const payload& what);
  // Where the time of the last run went; null: nobody wants to know.
  phase_clock* phases() { return phases_ ? &*phases_ : nullptr; }

  // The program frees its communicator: errors of what is open are raised on Shoal's own from now on, by the handler that
  // the program's had.
  void leave(MPI_Comm users);
  bool is_left() const { return handler_ != MPI_ERRHANDLER_NULL; }
  // One of the program's is served over it, which may be revoked.
  void serves(MPI_Comm users) { users_ = users; }
  // Whether its ranks can exchange no more, since one has failed or the program has revoked its communicator: then the
  // MPI's own says so.
  bool is_lost() const { return lost_; }
  // Now and then while this rank waits.
  void look_for_failures();
  // The exception being handled; where is_left().
  int raise_on_own() noexcept;

  // Held by the thread that is here, in a call or to move what is under way.
  std::recursive_mutex& lock() { return lock_; }

  // For measuring: see exchange::set_inline_bytes.
  void set_inline_bytes(std::size_t bytes) { exchange_.set_inline_bytes(bytes); }

  // Memory that one exchange has in common with its ranks on this rank's node, for messages of `over` inside the node.
  // Null: there is none, and they travel like others. Collective.
  std::unique_ptr<node_exchange> share_inside_nodes(transport& over, node_exchange::room size = {});

  // What ran last, for shoal_comm_explain.
  const decision* last = nullptr;
  usage verified, verified_by_sums;
  // What was made ready, by name.
  const std::map<std::string, prepared>& all_prepared() const { return prepared_; }

 private:
  void arrange(const settings& set, wait_mode how);
  bool fits(const profile& from);
  void begin_turns(MPI_Comm among, waiting& how);
  std::shared_ptr<const switch_network> place_ranks(switch_network network);
  void release();
  node_exchange* inside_nodes();  // null: blocks travel as messages; collective

  MPI_Comm users_, own_;
  bool lost_ = false;
  unsigned waits_ = 0;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;  // of the program's communicator, once that is freed
  common_facts found_;
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
  std::map<std::string, prepared> prepared_;
  by_form<std::map<int, const decision*>> settled_;
  scratch_limit limit_{*this};
  sized_programs for_sizes_{*this};
  std::shared_ptr<const profile> profile_;
  tag_turns turns_{over_.highest_tag()};
  std::recursive_mutex lock_;
  block_storage blocks_;
};

}  // namespace shoal
