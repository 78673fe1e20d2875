#include "learn/communicator.hpp"

#include <utility>

#include "team/agree_on_facts.hpp"
#include "team/errors.hpp"
#include "team/machine.hpp"

namespace shoal {

communicator::communicator(MPI_Comm users, collective what, const settings& set, common_facts found, wait_mode mode)
    : all_(users, std::move(found), mode, set.report == reporting::phases), what_(what), everyone_(*this, set) {
  if (set.profile && all_.open() && fits(*set.profile)) profile_ = set.profile;
}

// Whether the profile fits these ranks. All ranks return the same, though the reason may differ between them. A profile
// for another number of ranks serves as a guess.
bool communicator::fits(const profile& from) {
  profile compared = from;
  compared.ranks = ranks();
  if (from.ranks != ranks()) compared.layout = {};
  const problem& where = all_.where();
  std::optional<std::string> wrong = misfit(compared, {mpi_version(), machine_name(all_.facts().cores), *where.nodes});
  for (const auto& kind : from.kinds)
    for (const auto& [spec, seconds] : kind ? kind->rows.front().seconds : std::map<std::string, double>()) {
      const selection named = parse_selection(spec);
      const auto why = named.which->refuses ? named.which->refuses(where, named.with) : std::nullopt;
      if (why && !wrong) wrong = from.file + ": " + spec + ": " + *why;
    }
  const bool on_some_rank = all_.agree().on_any_rank(wrong.has_value());
  if (on_some_rank && rank() == 0)
    say_once(wrong.value_or(from.file + " does not fit the machine of another rank"), "it is not used");
  return !on_some_rank;
}

neighborhood* communicator::among(call_form form) {
  return what_ == collective::alltoall ? &everyone_ : of_neighbors_[form].get();
}

neighborhood* communicator::make_among(call_form form, MPI_Comm users, const settings& set, std::string& why) {
  const std::scoped_lock alone(all_.lock());
  if (among(form)) return among(form);
  try {
    if (lacks_graph_[form].empty()) of_neighbors_[form] = std::make_unique<neighborhood>(*this, users, form, set);
  } catch (const std::invalid_argument& error) {  // the same on every rank
    lacks_graph_[form] = error.what();
  }
  if (!of_neighbors_[form]) why = lacks_graph_[form];
  return of_neighbors_[form].get();
}

const decision* communicator::settled(call_form form, int size) const {
  const auto it = settled_[form].find(size);
  return it == settled_[form].end() ? nullptr : it->second;
}

std::shared_ptr<communicator> make_communicator(MPI_Comm users, collective what, int ranks, const job_state& job,
                                                const agreed_terms& all, waiting& wait) {
  settings set = job.set();
  constexpr const char* instead = "it is not used";
  if (all.some_full()) set.profile = nullptr;  // to compare it takes a communicator
  if (!set.profile_fault.empty()) warn_once(users, set.profile_fault, instead);
  if (!all.same_profile()) {
    warn_once(users, job_state::differing_profiles, instead);
    set.profile = nullptr;
  }
  std::vector<layout_tree::shared_ids> shared{{"node", std::vector<int>(static_cast<std::size_t>(ranks), 0)}};
  if (!job.is_on_one_node(ranks, all.same_node()) || set.finds_levels)
    shared = places_of_ranks(users, job.facts(), set.finds_levels, wait);
  common_facts found{place_ranks(users, set, std::move(shared), wait), all.cores(), all.have_devices()};
  return std::make_shared<communicator>(users, what, set, std::move(found), wait.mode());
}

}  // namespace shoal
