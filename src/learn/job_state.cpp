#include "learn/job_state.hpp"

#include <mpi.h>

#include <algorithm>
#include <stdexcept>
#include <system_error>

#include "select/wisdom.hpp"
#include "team/devices.hpp"
#include "team/errors.hpp"
#include "team/job_parts.hpp"
#include "team/machine.hpp"
#include "team/nearest_rounding.hpp"
#include "team/other_nodes.hpp"

namespace shoal {

job_state::job_state() {
  const nearest_rounding as_on_others;
  try {
    settings_ = read_settings();
  } catch (const std::exception& error) {
    problem_ = error.what();
    settings_ = read_report_alone();
  }
  for (const collective what : collectives)
    for (const call_form form : call_forms)
      asks_for_[static_cast<std::size_t>(what)][form] = !problem_.empty() || settings_.named(what, form) ||
                                                        (what == collective::allgather && settings_.names_network());
  knows_before_ = settings_.profile || !settings_.profile_fault.empty() || !settings_.wisdom.empty();
  facts_ = find_job_facts(settings_.nodes_share);
}

void job_state::begin_job(MPI_Comm comm) {
  int threads = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&threads);
  has_threads_ = threads == MPI_THREAD_MULTIPLE;
  int ranks = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  all_here_ = ranks == facts_.ranks_here;
  if (const std::string unknown = unknown_variables(); !unknown.empty()) warn_once(comm, unknown, "it is ignored");
  remember(comm);
}

std::string job_state::wrong_settings(bool same, bool some_unusable) const {
  if (!problem_.empty()) return problem_;
  if (some_unusable)
    return "the settings of another rank cannot be used; set the SHOAL_ variables the same on all ranks";
  if (!same) return "the SHOAL_ settings differ between ranks; set them the same on all of them";
  return {};
}

// Looks at processes only if the whole job is on this node: ranks on other nodes would not know what is found here.
const job_parts& job_state::parts() {
  std::call_once(looked_for_parts_, [this] {
    if (all_here_) parts_ = job_parts::find();
    else parts_.some_nodes_lack_preload = other_nodes_lack_preload();
  });
  return parts_;
}

const char* job_state::some_may_lack_shoal(MPI_Comm comm) {
  if (!is_of_one_world(comm))
    return "ranks that were started apart (MPI_Comm_spawn, MPI_Comm_connect) may not all have Shoal";
  if (parts().some_lack_preload) return "some ranks of the job run without Shoal's preload";
  if (parts().some_nodes_lack_preload)
    return "ranks on other nodes run without Shoal's preload; start the program with `shoal run`, or give mpirun -x "
           "LD_PRELOAD, and put its file on all nodes";
  return nullptr;
}

int job_state::nodes_if_known(int ranks, bool found_one) const {
  const auto& layout = settings_.layout;
  return layout && layout->ranks() == ranks ? layout->nodes().nodes() : found_one;
}

rank_terms job_state::terms(int ranks) const {
  rank_terms mine;
  mine.settings = hash_of(settings_.canonical());
  mine.profile = hash_of(settings_.canonical_profile());
  mine.wisdom = wisdom_hash_;
  mine.node = facts_.node;
  mine.domain = facts_.domain;
  mine.is_unusable = !problem_.empty();
  mine.knows_nothing = !knows_before_;
  mine.is_full = is_full();
  mine.cannot_note_vote = has_threads_ || served_.is_full();
  mine.has_full_notes = served_.notes_are_full();
  mine.has_devices = device_runtime_loaded();
  mine.cores = facts_.cores;
  mine.ranks_of_a_core = ranks_of_a_core(ranks);
  return mine;
}

int job_state::ranks_of_a_core(int ranks) const {
  return std::max(1, ranks_on_node(facts_, ranks) / std::max(1, facts_.cores));
}

void job_state::remember(MPI_Comm comm) {
  if (settings_.wisdom.empty()) return;
  constexpr const char* instead = "what it knows is not used";
  try {
    const wisdom found = read_wisdom(settings_.wisdom);
    const bool fits = found.mpi == mpi_version() && found.machine == machine_name(facts_.cores);
    if (fits) {
      wisdom_hash_ = hash_of(to_toml(found));
      earlier_.merge(found.known);
    } else if (!found.mpi.empty())
      warn_once(comm,
                "SHOAL_WISDOM=" + settings_.wisdom + " was learnt with " + found.mpi + " on " + found.machine +
                    ", but this job runs " + mpi_version() + " on " + machine_name(facts_.cores),
                instead);
  } catch (const std::invalid_argument& error) {
    warn_once(comm, error.what(), instead);
  }
}

void job_state::keep_wisdom() {
  try {
    if (!settings_.wisdom.empty() && !known_.empty())
      add_to_wisdom(settings_.wisdom, {mpi_version(), machine_name(facts_.cores), known_});
  } catch (const std::system_error& error) {
    say_once("SHOAL_WISDOM=" + settings_.wisdom + " cannot be written: " + error.code().message(), "nothing is kept");
  }
}

}  // namespace shoal
