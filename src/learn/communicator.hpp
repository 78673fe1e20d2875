// What serves the exchanges of one collective on one of the user's communicators, once its ranks have agreed that Shoal
// may serve them.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "learn/decision.hpp"
#include "learn/job_state.hpp"
#include "learn/neighborhood.hpp"
#include "learn/rank_terms.hpp"
#include "learn/sized_schedules.hpp"
#include "select/settings.hpp"
#include "team/team.hpp"

namespace shoal {

// What is kept about single blocks during an exchange: the element type of each block; and, for the copy of blocks that
// are sent in place, where each block begins and how many bytes it has.
struct block_storage {
  std::vector<element_type> sent, received;
  std::vector<std::int64_t> offsets, bytes;
};

class communicator : public std::enable_shared_from_this<communicator> {
 public:
  // Without a profile this creates nothing of the MPI's and does not communicate. With a profile, which all ranks must
  // have, it is collective and opens Shoal's communicator.
  communicator(MPI_Comm users, collective what, const settings& set, common_facts found, wait_mode mode);
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  team& all() { return all_; }
  int ranks() const { return all_.ranks(); }
  int rank() const { return all_.rank(); }
  phase_clock* phases() { return all_.phases(); }

  // Every rank exchanges with all.
  neighborhood& everyone() { return everyone_; }
  // Who exchanges with whom in calls of this form; null if nobody needed it yet. Exchanges among neighbours have one
  // for each form, because an MPI may match several edges between two ranks differently in different forms.
  neighborhood* among(call_form form);
  // The same, made on first use; collective. Returns null, on every rank, if the ranks can make no graph of their
  // neighbours; `why` then says why. `users`: the program's communicator.
  neighborhood* make_among(call_form form, MPI_Comm users, const settings& set, std::string& why);
  // The profile that the user names, if it fits these ranks; else null.
  const std::shared_ptr<const profile>& fitting_profile() const { return profile_; }
  // What was settled for exchanges of this size class, for use by requests: the same on every rank, or null if nothing
  // was settled.
  const decision* settled(call_form form, int size) const;
  void settle(call_form form, int size, const decision* chosen) { settled_[form][size] = chosen; }
  sized_schedules& for_sizes() { return for_sizes_; }
  // For the blocking call that is being served.
  block_storage& blocks() { return blocks_; }

  // What ran last, for shoal_comm_explain.
  const decision* last = nullptr;
  usage verified, verified_by_sums;

 private:
  bool fits(const profile& from);

  team all_;
  collective what_;
  neighborhood everyone_;  // every rank exchanges with all
  by_form<std::unique_ptr<neighborhood>> of_neighbors_;
  by_form<std::string> lacks_graph_;  // why a form has none
  by_form<std::map<int, const decision*>> settled_;
  sized_schedules for_sizes_{all_};
  std::shared_ptr<const profile> profile_;
  block_storage blocks_;
};

// Makes the communicator for `ranks` ranks, which have agreed on `all`. Collective if the ranks are on several nodes,
// or if the settings need more than the ranks have told. Throws std::invalid_argument on every rank if the settings do
// not fit these ranks.
std::shared_ptr<communicator> make_communicator(MPI_Comm users, collective what, int ranks, const job_state& job,
                                                const agreed_terms& all, waiting& wait);

}  // namespace shoal
