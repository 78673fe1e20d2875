// What serves the all-to-alls on one of the user's communicators, once its ranks have agreed that Shoal may serve them.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <vector>

#include "learn/named_algorithms.hpp"
#include "learn/decision.hpp"
#include "learn/job_state.hpp"
#include "learn/prepared_algorithms.hpp"
#include "learn/rank_terms.hpp"
#include "learn/scratch_limit.hpp"
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
  communicator(MPI_Comm users, const settings& set, common_facts found, wait_mode mode);
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  team& all() { return all_; }
  int ranks() const { return all_.ranks(); }
  int rank() const { return all_.rank(); }
  phase_clock* phases() { return all_.phases(); }

  prepared_algorithms& algorithms() { return algorithms_; }
  const prepared_algorithms& algorithms() const { return algorithms_; }
  // The algorithms that the user names.
  named_algorithms<decision>& named() { return named_; }
  // The profile that the user names, if it fits these ranks; else null.
  const std::shared_ptr<const profile>& fitting_profile() const { return profile_; }
  // What was settled for exchanges of this size class, for use by requests: the same on every rank, or null if nothing
  // was settled.
  const decision* settled(call_form form, int size) const;
  void settle(call_form form, int size, const decision* chosen) { settled_[form][size] = chosen; }
  scratch_limit& limit() { return limit_; }
  sized_schedules& for_sizes() { return for_sizes_; }
  // For the blocking call that is being served.
  block_storage& blocks() { return blocks_; }

  // What ran last, for shoal_comm_explain.
  const decision* last = nullptr;
  usage verified, verified_by_sums;

 private:
  bool fits(const profile& from);

  team all_;
  prepared_algorithms algorithms_{all_};
  named_algorithms<decision> named_;
  by_form<std::map<int, const decision*>> settled_;
  scratch_limit limit_;
  sized_schedules for_sizes_{all_};
  std::shared_ptr<const profile> profile_;
  block_storage blocks_;
};

// Makes the communicator for `ranks` ranks, which have agreed on `all`. Collective if the ranks are on several nodes,
// or if the settings need more than the ranks have told. Throws std::invalid_argument on every rank if the settings do
// not fit these ranks.
std::shared_ptr<communicator> make_communicator(MPI_Comm users, int ranks, const job_state& job,
                                                const agreed_terms& all, waiting& wait);

}  // namespace shoal
