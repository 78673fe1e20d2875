#include "run.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>

namespace random_programs {

namespace {

char doing[1024] = "";

int class_of(int code) {
  int error_class = code;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class;
}

MPI_Comm made_of(const std::vector<int>& ranks, int tag) {
  MPI_Group world, group;
  MPI_Comm made;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &made);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return made;
}

MPI_Comm with_neighbors(MPI_Comm own, const team& what, int rank) {
  MPI_Comm made;
  std::vector<int> extents, periods;
  for (const dimension& along : what.grid) {
    extents.push_back(along.ranks);
    periods.push_back(along.is_ring);
  }
  const int dimensions = static_cast<int>(extents.size());
  if (dimensions > 0) return MPI_Cart_create(own, dimensions, extents.data(), periods.data(), 0, &made), made;
  std::vector<int> from = what.sources(rank), to = what.destinations(rank);
  for (std::vector<int>* const side : {&from, &to})
    for (int& peer : *side)
      peer = static_cast<int>(std::find(what.first.begin(), what.first.end(), peer) - what.first.begin());
  MPI_Dist_graph_create_adjacent(own, static_cast<int>(from.size()), from.data(), MPI_UNWEIGHTED,
                                 static_cast<int>(to.size()), to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
  return made;
}

MPI_Comm made_of(const team& what, int rank, int tag) {
  MPI_Comm made, own = made_of(what.own(rank), tag);
  if (what.between_groups()) MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, what.peers(rank).front(), tag, &made);
  else if (what.has_neighbors()) made = with_neighbors(own, what, rank);
  else return own;
  MPI_Comm_free(&own);
  return made;
}

}  // namespace

const char* being_done() { return doing; }

run::run(const program& what, names used, int rank)
    : what_(what),
      used_(used),
      rank_(rank),
      own_random_(mixed(what.seed, rank)),
      places_(what.teams.size()),
      records_(what.exchanges.size()) {}

std::string run::perform() {
  for (const step& one : what_.steps) {
    if (!takes_part(one)) continue;
    step_ = "step " + std::to_string(&one - what_.steps.data()) + ", " + what_.text(one);
    tell("begun");
    perform(one);
    dawdle();
  }
  step_ = "at the end";
  end_all();
  compare();
  close();
  return wrong_;
}

bool run::takes_part(const step& one) const {
  if (one.what == step::deed::message) return rank_ == one.from || rank_ == one.to;
  if (one.what == step::deed::make_team) return true;
  return what_.teams[one.team].has(rank_);
}

void run::perform(const step& one) {
  switch (one.what) {
    case step::deed::make_team: return make(one.team);
    case step::deed::free_team: return free(one.team);
    case step::deed::ask: return ask(one);
    case step::deed::exchange: return call(one);
    case step::deed::begin: return begin(one);
    case step::deed::prepare: return prepare(one);
    case step::deed::start: return start(one);
    case step::deed::release: return release(one);
    case step::deed::message: return send_or_receive(one);
  }
}

// ---- steps -----------------------------------------------------------------------------------------------------

// Shoal's requests do not move while this rank waits in the MPI. Nor do MPICH's own while a rank that they wait for
// makes a communicator, even if that rank has ended its own part. So no rank begins to make one before all ranks have
// ended their requests.
void run::make(int team) {
  end_all();
  wait_for_all();
  if (!what_.teams[team].has(rank_)) return;
  place& made = places_[team];
  made.comm = made_of(what_.teams[team], rank_, team);
  MPI_Comm_set_errhandler(made.comm, MPI_ERRORS_RETURN);
  MPI_Comm_dup(made.comm, &made.reference);
}

// Open MPI does not end its own requests on a communicator that was freed.
void run::free(int team) {
  const auto must_end = [&](const auto& one) {
    if (one->exchange < 0) return false;
    const exchange_plan& plan = what_.exchanges[one->exchange];
    return plan.team == team && !plan.is_shoals;
  };
  for (auto it = open_.begin(); it = std::find_if(open_.begin(), open_.end(), must_end), it != open_.end();)
    wait_for(it->get());
  MPI_Comm_free(&places_[team].comm);
}

void run::ask(const step& one) {
  const bool is_between = what_.teams[one.team].between_groups();
  const bool is_other = one.differs && rank_ == what_.teams[one.team].first.front();
  MPI_Info info = info_for(is_other ? "" : one.spec, is_between);
  if (is_other) MPI_Info_create(&info);
  const int code = shoal_comm_set_info(places_[one.team].comm, info);
  MPI_Info_free(&info);
  const bool is_wrong = one.differs || one.spec == "nonsense";
  expect((code != MPI_SUCCESS) == is_wrong, "code " + std::to_string(class_of(code)));
}

int run::record::free() {
  if (request) return shoal_request_free(&request);
  return natives == MPI_REQUEST_NULL ? MPI_SUCCESS : MPI_Request_free(&natives);
}

run::record& run::fresh(const step& one) {
  record& made = records_[one.exchange];
  if (!made.at) made.at = std::make_unique<exchange>(what_.exchanges[one.exchange], what_.teams[one.team], rank_);
  return made;
}

void run::call(const step& one) {
  record& made = fresh(one);
  for (int i = 0; i < what_.exchanges[one.exchange].times; ++i) {
    made.at->fill(i);
    took(one.exchange, made.at->call(used_, comm_of(one.exchange)));
  }
}

void run::begin(const step& one) {
  record& made = fresh(one);
  made.at->fill(0);
  auto request = std::make_unique<open_request>(one.exchange);
  const MPI_Comm comm = comm_of(one.exchange);
  const int code =
      used_ == names::of_mpi ? made.at->begin(comm, &request->natives) : made.at->begin(comm, &made.request);
  if (code != MPI_SUCCESS) return took(one.exchange, code);
  open_.push_back(std::move(request));
}

void run::prepare(const step& one) {
  record& made = fresh(one);
  const MPI_Comm comm = comm_of(one.exchange);
  const int code =
      used_ == names::of_mpi ? made.at->prepare(comm, &made.natives) : made.at->prepare(comm, &made.request);
  expect((code != MPI_SUCCESS) == what_.exchanges[one.exchange].is_refused, "code " + std::to_string(class_of(code)));
}

void run::start(const step& one) {
  record& made = records_[one.exchange];
  end_of(one.exchange);
  made.at->fill(static_cast<int>(made.received.size()));
  const int code = used_ == names::of_mpi ? MPI_Start(&made.natives) : shoal_start(made.request);
  expect(code == MPI_SUCCESS, "not started");
  open_.push_back(std::make_unique<open_request>(one.exchange, made.natives));
}

void run::release(const step& one) {
  end_of(one.exchange);
  expect(records_[one.exchange].free() == MPI_SUCCESS, "not freed");
}

// The receiver does not name the sender: it takes whatever has the step's number as its tag.
void run::send_or_receive(const step& one) {
  const int tag = static_cast<int>(&one - what_.steps.data());
  const team& where = what_.teams[one.team];
  const MPI_Comm comm = places_[one.team].comm;
  std::vector<int> ints(one.ints);
  for (int i = 0; i < one.ints; ++i) ints[i] = static_cast<int>(mixed(what_.seed, tag, i));
  if (rank_ == one.to) add_message(ints, false, MPI_ANY_SOURCE, tag, comm);
  if (rank_ != one.from) return;
  const std::vector<int>& peers = where.peers(rank_);
  const auto peer = std::find(peers.begin(), peers.end(), one.to) - peers.begin();
  add_message(std::move(ints), true, static_cast<int>(peer), tag, comm);
}

void run::add_message(std::vector<int> ints, bool sends, int peer, int tag, MPI_Comm comm) {
  const auto made = open_.insert(open_.end(), std::make_unique<open_request>());
  open_request& one = **made;
  one.expected = std::move(ints);
  one.ints = sends ? one.expected : std::vector<int>(one.expected.size());
  const int count = static_cast<int>(one.ints.size());
  if (sends) MPI_Isend(one.ints.data(), count, MPI_INT, peer, tag, comm, &one.natives);
  else MPI_Irecv(one.ints.data(), count, MPI_INT, peer, tag, comm, &one.natives);
}

// ---- what is under way -----------------------------------------------------------------------------------------

void run::dawdle() {
  if (below(4) == 0)
    for (const double end = MPI_Wtime() + below(200) * 1e-6; MPI_Wtime() < end;) sched_yield();
  for (int times = below(3); times > 0 && !open_.empty(); --times) {
    open_request* const one = open_[below(static_cast<int>(open_.size()))].get();
    if (below(3) == 0) wait_for(one);
    else look(one);
  }
}

// Returns whether the request has ended. If so, it is gone.
bool run::look(open_request* one) {
  int flag = 0;
  const int code = one->is_shoals() ? shoal_test(&records_[one->exchange].request, &flag)
                                    : MPI_Test(&one->natives, &flag, MPI_STATUS_IGNORE);
  const bool is_over = flag || code != MPI_SUCCESS;
  if (is_over) ended(one, code);
  return is_over;
}

// Shoal's requests do not move while this rank waits in the MPI.
void run::wait_for(open_request* one) {
  tell("waits for " + (one->exchange < 0 ? "a message" : "#" + std::to_string(one->exchange)));
  if (one->is_shoals()) return ended(one, shoal_wait(&records_[one->exchange].request));
  while (!look(one)) {
    if (open_request* const other = open_of_shoal()) look(other);
    sched_yield();
  }
}

run::open_request* run::open_of_shoal() const {
  const auto found = std::find_if(open_.begin(), open_.end(), [](const auto& one) { return one->is_shoals(); });
  return found == open_.end() ? nullptr : found->get();
}

void run::end_of(int exchange) {
  const auto found =
      std::find_if(open_.begin(), open_.end(), [&](const auto& one) { return one->exchange == exchange; });
  if (found != open_.end()) wait_for(found->get());
}

void run::end_all() {
  while (!open_.empty()) wait_for(open_.back().get());
}

// Waits in MPI_Test, which moves everything that other ranks wait for.
void run::wait_for_all() {
  tell("waits for all ranks");
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int flag = 0; !flag; sched_yield()) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

void run::ended(open_request* one, int code) {
  if (one->exchange >= 0) took(one->exchange, code);
  else expect(code == MPI_SUCCESS && one->ints == one->expected, "a message is wrong");
  std::erase_if(open_, [&](const auto& other) { return other.get() == one; });
}

// A run of an exchange has ended. After an error nothing may be written any more.
void run::took(int number, int code) {
  const exchange_plan& plan = what_.exchanges[number];
  record& of = records_[number];
  const int got = class_of(code);
  const bool is_wrong_here = plan.wrong && plan.wrong->rank == rank_;
  const bool may_be_wrong = plan.wrong && (got == MPI_ERR_OTHER || (plan.uniform && got == MPI_ERR_TRUNCATE));
  const bool is_right = plan.is_refused ? got != MPI_SUCCESS
                        : is_wrong_here ? got == MPI_ERR_TRUNCATE
                                        : got == MPI_SUCCESS || may_be_wrong;
  expect(is_right, "#" + std::to_string(number) + " ends with the class " + std::to_string(got));
  if (got != MPI_SUCCESS) of.at->fill(-1);
  else of.at->take_arrivals();
  of.kept = of.at->received();
  of.received.push_back(got == MPI_SUCCESS ? of.kept : std::vector<int>());
}

// ---- comparison ------------------------------------------------------------------------------------------------

// Makes all runs again by the MPI's own, and compares.
void run::compare() {
  for (std::size_t i = 0; i < records_.size(); ++i)
    expect(!records_[i].at || records_[i].received.empty() || records_[i].at->received() == records_[i].kept,
           "#" + std::to_string(i) + " was written after it had ended");
  std::vector<std::size_t> runs(records_.size());
  for (const step& one : what_.steps) {
    const bool runs_once = one.what == step::deed::begin || one.what == step::deed::start;
    if (!takes_part(one) || (one.what != step::deed::exchange && !runs_once)) continue;
    for (int i = runs_once ? 1 : what_.exchanges[one.exchange].times; i > 0; --i)
      compare_run(one.exchange, runs[one.exchange]++);
  }
}

void run::compare_run(int number, std::size_t which) {
  if (what_.exchanges[number].is_refused) return;
  record& of = records_[number];
  tell("compares #" + std::to_string(number));
  of.at->fill(static_cast<int>(which));
  of.at->natively(places_[what_.exchanges[number].team].reference);
  if (which >= of.received.size() || of.received[which].empty()) return;
  const std::vector<int>&ours = of.received[which], &natives = of.at->received();
  if (ours == natives) return;
  const auto at = std::mismatch(ours.begin(), ours.end(), natives.begin()).first - ours.begin();
  expect(false, "run " + std::to_string(which) + " of #" + std::to_string(number) + " differs at integer " +
                    std::to_string(at) + " of " + std::to_string(ours.size()));
}

void run::close() {
  for (record& one : records_) one.free();
  for (place& one : places_)
    for (MPI_Comm* comm : {&one.comm, &one.reference})
      if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
}

void run::expect(bool holds, const std::string& what) {
  if (!holds && wrong_.empty()) wrong_ = step_ + ": " + what;
}

void run::tell(const std::string& now) const {
  std::string all = step_ + ": " + now + "; open:";
  for (const auto& one : open_) all += one->exchange < 0 ? " message" : " #" + std::to_string(one->exchange);
  std::strncpy(doing, all.c_str(), sizeof doing - 1);
}

}  // namespace random_programs
