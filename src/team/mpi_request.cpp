#include "team/mpi_request.hpp"

#include <array>
#include <mutex>
#include <unordered_set>

#include "team/rank_communicator.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

unsigned number_of_tags() {
  int *bound = nullptr, found = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found);
  return static_cast<unsigned>(found ? *bound : 32767);
}

// Gives each request a tag. Tags come round again, which does no harm: of requests that are not persistent, fewer are
// open than there are tags. A persistent request keeps its tag until it is freed.
class tags {
 public:
  static tags& get() {
    static auto& all = *new tags;  // never destroyed: MPI may outlive static objects
    return all;
  }
  int take(bool to_keep) {
    const std::scoped_lock alone(lock_);
    if (kept_.size() >= number_) throw mpi_error(MPI_ERR_OTHER, "too many persistent requests; free some");
    int tag = next();
    while (kept_.contains(tag)) tag = next();
    if (to_keep) kept_.insert(tag);
    return tag;
  }
  void give_back(int tag) {
    const std::scoped_lock alone(lock_);
    kept_.erase(tag);
  }

 private:
  int next() { return static_cast<int>(made_++ % number_); }

  const unsigned number_ = number_of_tags();
  std::mutex lock_;
  unsigned made_ = 0;
  std::unordered_set<int> kept_;
};

// The buffer of all these messages. Nothing is written to it, even if a message has a byte: the receives have no room.
std::array<char, 64> nowhere;

}  // namespace

mpi_request::mpi_request(bool is_persistent) : is_persistent_(is_persistent) {
  const MPI_Comm comm = rank_communicator();
  tag_ = tags::get().take(is_persistent);
  const auto receive = is_persistent ? PMPI_Recv_init : PMPI_Irecv;
  require(receive(nowhere.data(), 0, MPI_BYTE, 0, tag_, comm, &handle_), "making a request");
}

mpi_request::~mpi_request() {
  if (!is_out_) take_back();
  if (is_persistent_) tags::get().give_back(tag_);
}

void mpi_request::start() { require(PMPI_Start(&handle_), "MPI_Start"); }

void mpi_request::end(bool with_error) {
  MPI_Request sent = MPI_REQUEST_NULL;
  require(PMPI_Isend(nowhere.data(), with_error, MPI_BYTE, 0, tag_, rank_communicator(), &sent), "ending a request");
  PMPI_Request_free(&sent);
}

void mpi_request::take_back() noexcept {
  if (is_persistent_) return void(PMPI_Request_free(&handle_));
  try {
    end(false);
  } catch (...) {
    return;  // the message that would end it cannot be sent
  }
  PMPI_Wait(&handle_, MPI_STATUS_IGNORE);
}

}  // namespace shoal
