#include "calls/pending_communicator.hpp"

#include <utility>

#include "calls/process.hpp"
#include "team/agree_on_facts.hpp"
#include "team/boundary.hpp"
#include "team/errors.hpp"
#include "transport/mpi_ended.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

// What each rank says, and hears the largest of; behind it where all of them are.
enum term : std::size_t { settings_most, settings_least, unusable, full, devices, few_cores, first_turn, all_terms };

}  // namespace

pending_communicator::pending_communicator(process& job, MPI_Comm users) : job_(job) {
  require(PMPI_Comm_size(users, &ranks_), "MPI_Comm_size");
  require(PMPI_Comm_rank(users, &rank_), "MPI_Comm_rank");
  const int code = PMPI_Comm_idup(users, &own_, &copying_);
  if (code != MPI_SUCCESS) throw raised_error(code, "MPI_Comm_idup");
  progress::get().add_for_mpi(this);
}

pending_communicator::~pending_communicator() {
  progress::get().remove(this);
  if (said_ && stage_ != stage::ready) said_->abandon();
  if (handler_ != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&handler_);
  if (stage_ == stage::ready && !state_) PMPI_Comm_free(&own_);
}

std::vector<std::int64_t> pending_communicator::terms() const {
  const job_facts& here = job_.facts();
  const auto hash = static_cast<std::int64_t>(hash_of(job_.set().canonical()) >> 1);
  std::vector<std::int64_t> mine{hash,
                                 -hash,
                                 !job_.problem().empty(),
                                 job_.is_full(),
                                 here.devices,
                                 -here.cores,
                                 static_cast<std::int64_t>(communicator::first_turn())};
  const std::vector<std::int64_t> places = place_of_rank(here, job_.set().finds_levels, rank_, ranks_);
  mine.insert(mine.end(), places.begin(), places.end());
  return mine;
}

bool pending_communicator::move() noexcept {
  try {
    return advance();
  } catch (...) {
    return fail();
  }
}

bool pending_communicator::fail() noexcept {
  returning_codes(MPI_COMM_SELF, [this] {
    why_ = "the ranks could not agree on what they have in common";
    finish(stage::failed);
    return MPI_SUCCESS;
  });
  return true;
}

bool pending_communicator::advance() {
  bool ended = false;
  if (stage_ == stage::copying) {
    require(test_one(copying_, ended), "MPI_Comm_idup");
    if (!ended) return false;
    PMPI_Comm_set_errhandler(own_, MPI_ERRORS_RETURN);
    said_ = std::make_unique<pending_agreement>(own_, terms());
    stage_ = stage::agreeing;
  }
  if (!said_->test()) return ended;
  make_state(said_->largest());
  finish(stage::ready);
  return true;
}

// The same on every rank.
void pending_communicator::make_state(std::span<const std::int64_t> all) {
  why_ = job_.wrong_settings(all[settings_most], all[settings_least], all[unusable] != 0);
  if (why_.empty() && all[full]) why_ = "too many communicators are in use; free some";
  if (why_.empty() && job_.set().topology) why_ = "SHOAL_TOPOLOGY is for blocking calls";
  if (!why_.empty()) return warn_once(why_);
  settings set = job_.set();
  set.profile = nullptr;  // what is asked for needs none
  common_facts found{places_of_ranks(all.subspan(all_terms), ranks_), -static_cast<int>(all[few_cores]),
                     all[devices] > 0};
  const wait_mode how = set.wait.value_or(polite_mode(job_.facts(), ranks_));
  try {
    state_ = std::make_shared<communicator>(own_, set, std::move(found), how, all[first_turn]);
    job_.count_open(1);
  } catch (const std::invalid_argument& error) {
    warn_once(why_ = error.what());
  }
  if (state_ && left_) leave(own_);
}

void pending_communicator::finish(stage with) {
  const auto alive = shared_from_this();  // what waits for it keeps it
  stage_ = with;
  progress::get().remove(this);
  for (; !then_.empty(); then_.pop_front()) then_.front()();
}

// Errors of what is open go to the handler that the program's communicator had.
void pending_communicator::leave(MPI_Comm users) {
  if (users == MPI_COMM_NULL) return progress::get().remove(this);
  if (!left_) PMPI_Comm_get_errhandler(users, &handler_);
  left_ = true;
  if (!state_) return;
  PMPI_Comm_set_errhandler(own_, handler_);
  state_->leave(own_);
  PMPI_Comm_set_errhandler(own_, MPI_ERRORS_RETURN);
}

}  // namespace shoal
