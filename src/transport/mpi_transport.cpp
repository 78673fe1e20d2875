#include "transport/mpi_transport.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

#include "transport/failure.hpp"
#include "transport/mpi_ended.hpp"
#include "transport/mpi_error.hpp"
#include "transport/mpi_long_type.hpp"

namespace shoal {

namespace {

std::size_t bytes_of(const MPI_Status& status) {
  int bytes = 0;
  require(PMPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  if (bytes != MPI_UNDEFINED) return static_cast<std::size_t>(bytes);
  MPI_Count many = 0;
  require(PMPI_Get_elements_x(const_cast<MPI_Status*>(&status), MPI_BYTE, &many),
          "MPI_Get_elements_x");  // SMPI takes no const
  return static_cast<std::size_t>(many);
}

// Whether a communicator with such an error can only have such errors from then on.
bool lasts([[maybe_unused]] int code) {
#ifdef MPI_ERR_REVOKED
  return code != MPI_SUCCESS && (is_of_class(code, MPI_ERR_REVOKED) || is_of_class(code, MPI_ERR_PROC_FAILED));
#else
  return false;
#endif
}

}  // namespace

mpi_transport::mpi_transport(MPI_Comm comm, std::size_t most_counted) : comm_(comm), most_counted_(most_counted) {
  require(PMPI_Comm_size(comm, &ranks_), "MPI_Comm_size");
  require(PMPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
  int* bound = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found) == MPI_SUCCESS && found) highest_tag_ = *bound;
}

mpi_transport mpi_transport::another() const {
  mpi_transport other(comm_, most_counted_);
  other.given_up_ = given_up_;
  return other;
}

void mpi_transport::reserve(std::size_t transfers) {
  requests_.reserve(transfers);
  owners_.reserve(transfers);
  indices_.reserve(transfers);
  statuses_.reserve(transfers);
}

template <typename Post>
void mpi_transport::start(std::size_t bytes, owner of, Post post) {
  MPI_Request request = MPI_REQUEST_NULL;
  try {
    require(*given_up_, "waiting for other ranks");
    require(bytes <= most_counted_ ? post(static_cast<int>(bytes), MPI_BYTE, &request)
                                   : post(1, mpi_long_type(bytes, MPI_BYTE, most_counted_).get(), &request),
            "starting a message");
  } catch (const mpi_error&) {
    // If a receive was not started, its message comes all the same.
    refused_.push_back({of.ticket, 0, std::current_exception(), of.receives && *given_up_ == MPI_SUCCESS});
    return;
  }
  requests_.push_back(request);
  owners_.push_back(of);
}

void mpi_transport::send(int peer, int tag, const std::byte* data, std::size_t bytes, int ticket) {
  start(bytes, {ticket, false}, [&](int count, MPI_Datatype type, MPI_Request* request) {
    return PMPI_Isend(data, count, type, peer, tag, comm_, request);
  });
}

void mpi_transport::receive(int peer, int tag, std::byte* data, std::size_t capacity, int ticket) {
  start(capacity, {ticket, true}, [&](int count, MPI_Datatype type, MPI_Request* request) {
    return PMPI_Irecv(data, count, type, peer, tag, comm_, request);
  });
}

void mpi_transport::poll(std::vector<ended_transfer>& ended) {
  const bool some_refused = !refused_.empty();
  std::move(refused_.begin(), refused_.end(), std::back_inserter(ended));
  refused_.clear();
  if (requests_.empty() && some_refused) return;
  if (requests_.empty()) return let_others_progress();
  indices_.resize(requests_.size());
  statuses_.resize(requests_.size());
  int count = 0;
  const int code = test_some(ranks_ == 1, requests_, count, indices_, statuses_);
  // If the communicator was revoked or a rank has failed, Open MPI returns that class here too, although it tells what
  // ended.
  const bool knows_each = code == MPI_SUCCESS || is_of_class(code, MPI_ERR_IN_STATUS) || count > 0;
  if (!knows_each) return abandon(code, ended);
  if (count == MPI_UNDEFINED) return report_lost(ended);
  if (count == 0) return *given_up_ == MPI_SUCCESS ? void() : abandon(*given_up_, ended);
  for (int i = 0; i < count; ++i) ended.push_back(outcome(indices_[i], statuses_[i], code != MPI_SUCCESS));
  drop_ended(count);
}

// How one request ended. `failed`: of the requests that ended together, some failed. Open MPI leaves failed requests to
// us. It is still at work on a failed send, which must not be freed: if the send ended in the error later, the MPI
// would end the program.
ended_transfer mpi_transport::outcome(int index, const MPI_Status& status, bool failed) {
  const owner of = owners_[index];
  if (failed && status.MPI_ERROR != MPI_SUCCESS) {
    if (lasts(status.MPI_ERROR)) give_up(status.MPI_ERROR);  // Open MPI ends programs that go on sending there
    if (of.receives && requests_[index] != MPI_REQUEST_NULL) PMPI_Request_free(&requests_[index]);
    if (of.receives && is_of_class(status.MPI_ERROR, MPI_ERR_TRUNCATE))
      return {of.ticket, 0, std::make_exception_ptr(size_mismatch())};
    const bool at_work = !of.receives && requests_[index] != MPI_REQUEST_NULL;
    return {of.ticket, 0, std::make_exception_ptr(mpi_error(status.MPI_ERROR, "moving a message")), at_work};
  }
  return {of.ticket, of.receives ? bytes_of(status) : 0, nullptr};
}

// Handles an error that names no certain message, after which nothing is known of any message under way. A receive that
// has its message already cannot be cancelled, and nothing ends a send. So all of them get some looks in which they may
// end, unless the MPI itself has called. What does not end is left to the MPI and not freed, because Open MPI ends the
// program if a freed request fails. The MPI may go on using the memory of such a message. Shoal never uses such memory of
// its own again. It cannot keep the user's memory from the user: for that, this is the most that can be done.
void mpi_transport::abandon(int code, std::vector<ended_transfer>& ended) {
  constexpr int looks = 1000;
  if (lasts(code)) give_up(code);
  for (std::size_t i = 0; i < requests_.size(); ++i)
    if (owners_[i].receives && requests_[i] != MPI_REQUEST_NULL) cancel(requests_[i]);
  bool may_end = !inside_mpi::now();
  for (int look = 0, count = 0; may_end && look < looks; ++look) {
    std::erase(requests_, MPI_REQUEST_NULL);  // tests of requests that have ended would move nothing
    const int seen = requests_.empty() ? MPI_ERR_OTHER : test_some(ranks_ == 1, requests_, count, indices_, statuses_);
    may_end = seen == MPI_SUCCESS || is_of_class(seen, MPI_ERR_IN_STATUS);
  }
  end_all(code, true, ended);
}

// Open MPI ends sends on a revoked communicator without saying so: their requests are null, and no others are left.
void mpi_transport::report_lost(std::vector<ended_transfer>& ended) { end_all(MPI_ERR_OTHER, false, ended); }

void mpi_transport::end_all(int code, bool abandoned, std::vector<ended_transfer>& ended) {
  if (*given_up_ != MPI_SUCCESS) code = *given_up_;
  for (const owner& of : owners_)
    ended.push_back({of.ticket, 0, std::make_exception_ptr(mpi_error(code, "moving a message")), abandoned});
  requests_.clear();
  owners_.clear();
}

// Messages of the program's own, and collectives of the MPI's own, must move even while this rank waits for something
// else. A probe for a message moves them, but in MPICH only if the message is not there. So this probes for a message
// that nobody sends: from this rank to itself. If the probe fails, what this rank waits for has not failed, because it
// may come through memory; unless the ranks are lost.
void mpi_transport::let_others_progress() {
  int found = 0;
  require(*given_up_, "waiting for other ranks");
  if (inside_mpi::now()) return;
  const int code = PMPI_Iprobe(rank_, highest_tag_, comm_, &found, MPI_STATUS_IGNORE);
  if (lasts(code)) throw mpi_error(code, "moving messages of others");
}

// Fills the gaps from the end, highest index first.
void mpi_transport::drop_ended(int count) {
  std::sort(indices_.begin(), indices_.begin() + count, std::greater<>());
  for (int i = 0; i < count; ++i) {
    requests_[indices_[i]] = requests_.back();
    owners_[indices_[i]] = owners_.back();
    requests_.pop_back();
    owners_.pop_back();
  }
}

}  // namespace shoal
