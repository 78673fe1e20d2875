#include "api/process.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>

#include "api/errors.hpp"
#include "api/progress.hpp"
#include "execute/mpi_error.hpp"

namespace shoal {

namespace {

// MPICH has 2048 communicators in all; most belong to the user.
constexpr int most_communicators = 512;

// Runs `call` with errors of `comm` returned instead of handled by the user's handler.
template <typename Call>
int with_errors_returned(MPI_Comm comm, Call call) {
  MPI_Errhandler users;
  require(PMPI_Comm_get_errhandler(comm, &users), "MPI_Comm_get_errhandler");
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int code = call();
  PMPI_Comm_set_errhandler(comm, users);
  PMPI_Errhandler_free(&users);
  return code;
}

// A communicator with the same ranks, or null when the MPI has none left (which every rank then sees). Not made by
// MPI_Comm_dup, which copies the user's attributes by calling the user's functions.
MPI_Comm duplicate(MPI_Comm comm) {
  int ranks = 0;
  require(PMPI_Comm_size(comm, &ranks), "MPI_Comm_size");
  if (ranks == 1) return MPI_COMM_SELF;
  MPI_Group all = MPI_GROUP_NULL;
  require(PMPI_Comm_group(comm, &all), "MPI_Comm_group");
  MPI_Comm copy = MPI_COMM_NULL;
  const int code = with_errors_returned(comm, [&] { return PMPI_Comm_create(comm, all, &copy); });
  PMPI_Group_free(&all);
  if (code != MPI_SUCCESS) return MPI_COMM_NULL;
  PMPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  return copy;
}

// The ranks of both groups, one group behind the other; null as duplicate().
MPI_Comm merge(MPI_Comm groups) {
  MPI_Comm all = MPI_COMM_NULL;
  const int code = with_errors_returned(groups, [&] { return PMPI_Intercomm_merge(groups, 0, &all); });
  if (code != MPI_SUCCESS) return MPI_COMM_NULL;
  PMPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  return all;
}

bool is_of_world(const communicator& state) {
  int world = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &world);
  return world == state.ranks();
}

// Others may wait for what this rank has under way before they come here, so that moves meanwhile. Once this has ended
// all ranks are here, and what follows may block.
template <typename Terms>
void largest_of_all(const Terms& mine, Terms& all, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  require(PMPI_Iallreduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_INT64_T, MPI_MAX, comm, &request),
          "MPI_Iallreduce");
  waiting wait(wait_mode::yield);
  wait.move_meanwhile([] { return progress::get().move(); });
  for (int ended = 0;; wait.idle()) {
    require(PMPI_Test(&request, &ended, MPI_STATUS_IGNORE), "MPI_Test");
    if (ended) return;
  }
}

}  // namespace

process& process::get() {
  static process* one = new process;  // never destroyed: MPI may outlive static objects
  return *one;
}

process::process() {
  int world = 0;
  PMPI_Initialized(&world);
  closed_ = !world;  // only a session, which has no MPI_COMM_SELF to clean up from
  if (closed_) return;
  try {
    settings_ = read_settings();
  } catch (const std::exception& error) {
    problem_ = error.what();
  }
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_free, &state_key_, this);
  // Attributes of MPI_COMM_SELF are deleted first in MPI_Finalize, on every MPI.
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &finalize_key_, this);
  PMPI_Comm_set_attr(MPI_COMM_SELF, finalize_key_, this);
}

// Most calls are on the communicator of the call before. What a thread remembers of that holds until some communicator
// was released: the number of a freed one may come again.
communicator* process::state_of(MPI_Comm comm, std::string& wrong) {
  struct memory {
    MPI_Comm comm = MPI_COMM_NULL;
    attribute* held = nullptr;
    std::uint64_t released = 0;
  };
  thread_local memory last;
  if (closed_) return nullptr;
  const std::uint64_t released = released_.load(std::memory_order_acquire);
  if (!last.held || last.comm != comm || last.released != released) {
    attribute* held = find(comm);
    last = {comm, held ? held : attach(comm), released};
  }
  if (last.held->wrong) wrong = last.held->why;
  return last.held->state.get();
}

communicator* process::present_state_of(MPI_Comm comm) const {
  const attribute* held = closed_ ? nullptr : find(comm);
  return held ? held->state.get() : nullptr;
}

process::attribute* process::find(MPI_Comm comm) const {
  attribute* held = nullptr;
  int found = 0;
  require(PMPI_Comm_get_attr(comm, state_key_, &held, &found), "MPI_Comm_get_attr");
  return found ? held : nullptr;
}

intercommunicator* process::groups_of(MPI_Comm comm, std::string& wrong) {
  if (closed_) return nullptr;
  attribute* held = find(comm);
  if (!held) held = attach(comm);
  if (held->unserved_groups) serve_groups(comm, *held);
  if (held->wrong) wrong = held->why;
  return held->groups.get();
}

std::string process::explain(MPI_Comm comm) {
  if (closed_) return "the MPI library's own collective: outside MPI_Init and MPI_Finalize";
  const attribute* held = find(comm);
  const auto explained = [](const auto* last) {
    return last ? last->how->spec + ": " + last->reason : "nothing was exchanged on this communicator yet";
  };
  if (!held) return "nothing was exchanged on this communicator yet";
  if (held->groups) return explained(held->groups->last);
  if (held->state) return explained(held->state->last);
  return "the MPI library's own collective: " + held->why;
}

process::attribute* process::attach(MPI_Comm comm) {
  auto held = std::make_unique<attribute>();
  held->unserved_groups = between_groups(comm);
  if (held->unserved_groups) held->why = "an inter-communicator";
  else serve(comm, *held);
  require(PMPI_Comm_set_attr(comm, state_key_, held.get()), "MPI_Comm_set_attr");
  const std::scoped_lock guard(lock_);
  attributes_.push_back(held.get());
  return held.release();
}

// Collective: makes the state, or says why the ranks of `comm` cannot use Shoal together.
void process::serve(MPI_Comm comm, attribute& held) {
  const term_list mine = terms();
  term_list all{};
  largest_of_all(mine, all, comm);
  if (!may_serve(all, held)) return;
  const MPI_Comm own = duplicate(comm);
  if (own == MPI_COMM_NULL) return no_communicator(held);
  const settings set = agreed_settings(all);
  if (fits(held, [&] { held.state = std::make_shared<communicator>(own, set); })) ++served_;
}

// Whether `make` can use the settings with these ranks, the same on all of them.
template <typename Make>
bool process::fits(attribute& held, Make make) {
  try {
    make();
    return true;
  } catch (const std::invalid_argument& error) {
    held.why = error.what();
    held.wrong = true;
    return false;
  }
}

// The same for two groups. A reduction over an inter-communicator gives each group what the other one has, so the
// second brings back what the own group has.
void process::serve_groups(MPI_Comm comm, attribute& held) {
  held.unserved_groups = false;
  const term_list mine = terms();
  term_list theirs{}, ours{}, all{};
  largest_of_all(mine, theirs, comm);
  largest_of_all(theirs, ours, comm);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(ours[i], theirs[i]);
  if (!may_serve(all, held)) return;
  const MPI_Comm own = merge(comm);
  if (own == MPI_COMM_NULL) return no_communicator(held);
  int rank = 0, others = 0;
  require(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  require(PMPI_Comm_remote_size(comm, &others), "MPI_Comm_remote_size");
  settings set = settings_;
  set.profile = nullptr;  // it is for all-to-alls
  if (fits(held, [&] { held.groups = std::make_shared<intercommunicator>(own, rank, others, set); })) ++served_;
}

// What ranks must agree on, so that the largest of all ranks tells.
process::term_list process::terms() const {
  const auto half = static_cast<std::int64_t>(hash_of(settings_.canonical()) >> 1);
  const auto profile = static_cast<std::int64_t>(hash_of(settings_.canonical_profile()) >> 1);
  return {half, -half, !problem_.empty(), served_ >= most_communicators, profile, -profile};
}

// The profile counts where all ranks have the same one.
settings process::agreed_settings(const term_list& all) const {
  constexpr const char* instead = "what is not asked for is measured";
  if (!settings_.profile_fault.empty()) warn_once(settings_.profile_fault, instead);
  if (all[4] == -all[5]) return settings_;
  warn_once("the profiles of ranks differ; set SHOAL_PROFILE to the same readable file on all of them", instead);
  settings without = settings_;
  without.profile = nullptr;
  return without;
}

// The same answer on every rank, given the same terms.
bool process::may_serve(const term_list& all, attribute& held) const {
  held.why = wrong_settings(all);
  held.wrong = !held.why.empty();
  if (!held.wrong && all[3]) {
    held.why = "more than " + std::to_string(most_communicators) + " communicators are in use; free some";
    warn_once(held.why);
  }
  return held.why.empty();
}

void process::no_communicator(attribute& held) const {
  held.why = "the MPI library has no communicator left for Shoal";
  warn_once(held.why);
}

// The same text on every rank that has no reason of its own; empty when nothing is wrong.
std::string process::wrong_settings(const term_list& all) const {
  if (!problem_.empty()) return problem_;
  if (all[2]) return "the settings of another rank cannot be used; set the SHOAL_ variables the same on all ranks";
  if (all[0] != -all[1]) return "the SHOAL_ settings differ between ranks; set them the same on all of them";
  return {};
}

void process::release(attribute* held) {
  {
    const std::scoped_lock guard(lock_);
    const auto it = std::find(attributes_.begin(), attributes_.end(), held);
    if (it == attributes_.end()) return;  // finish() was first
    attributes_.erase(it);
    ++released_;
    served_ -= held->state || held->groups;
    if (held->state) held->state->report_to(report_);
    if (held->state && !learned_ && !settings_.save_profile.empty() && is_of_world(*held->state))
      learned_ = held->state->choices().learned();
    if (held->groups) held->groups->report_to(report_);
  }
  delete held;
}

void process::finish() {
  closed_ = true;
  while (!attributes_.empty()) release(attributes_.front());
  if (!settings_.record.empty()) traffic_.write(settings_.record);
  int world_rank = -1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  if (settings_.report != reporting::none && world_rank == 0 && !report_.empty()) report_.print(std::cerr);
  if (world_rank == 0 && learned_) save_profile();
}

void process::save_profile() const {
  std::ofstream file(settings_.save_profile);
  file << to_toml(*learned_);
  if (!file.flush()) warn_once("SHOAL_TUNE_SAVE=" + settings_.save_profile + " cannot be written", "nothing is kept");
}

int process::on_free(MPI_Comm, int, void* held, void* self) {
  return returning_codes(MPI_COMM_SELF, [&] {
    static_cast<process*>(self)->release(static_cast<attribute*>(held));
    return MPI_SUCCESS;
  });
}

int process::on_finalize(MPI_Comm, int, void*, void* self) {
  return returning_codes(MPI_COMM_SELF, [&] {
    static_cast<process*>(self)->finish();
    return MPI_SUCCESS;
  });
}

}  // namespace shoal
