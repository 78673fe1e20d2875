#include "all_to_all.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "calls/exchange_service.hpp"
#include "calls/forms.hpp"
#include "calls/native.hpp"
#include "state.hpp"
#include "transport/mpi_newer.hpp"

namespace shoal::bench {

void hand_loop::run(workload& w) {
  requests_.clear();
  std::copy_n(w.send.data() + w.send_at[rank_], w.send_counts[rank_], w.recv.data() + w.recv_at[rank_]);
  for (int i = 1; i < ranks_; ++i) {
    const int from = (rank_ + i) % ranks_;
    if (w.recv_counts[from] > 0)
      PMPI_Irecv(w.recv.data() + w.recv_at[from], w.recv_counts[from], MPI_BYTE, from, 0, comm_,
                 &requests_.emplace_back());
  }
  for (int i = 1; i < ranks_; ++i) {
    const int to = (rank_ - i + ranks_) % ranks_;
    if (w.send_counts[to] > 0)
      PMPI_Isend(w.send.data() + w.send_at[to], w.send_counts[to], MPI_BYTE, to, 0, comm_, &requests_.emplace_back());
  }
  end(requests_);
}

void hand_loop::end(std::vector<MPI_Request>& all) {
  const int n = static_cast<int>(all.size());
  ended_.resize(all.size());
  for (int left = n; left > 0;) {
    int count = 0;
    PMPI_Testsome(n, all.data(), &count, ended_.data(), MPI_STATUSES_IGNORE);
    count > 0 ? wait_.progressed() : wait_.idle();
    left -= count;
  }
}

all_to_all::~all_to_all() {
  for (auto& [variant, request] : requests_) shoal_request_free(&request);
  if (natives_ != MPI_REQUEST_NULL) PMPI_Request_free(&natives_);
}

bool all_to_all::only_uniform(const std::string& variant) {
  return variant == "preloaded" || variant.rfind("bruck", 0) == 0;
}

void all_to_all::make_ready(const std::string& variant, MPI_Comm comm) {
  if (variant == "native_persistent") return make_natives_ready(comm);
  if (variant.find(" persistent") == std::string::npos) return;
  shoal_request& request = requests_[variant];
  if (w_.uniform())
    shoal_alltoall_init(w_.send.data(), block(), MPI_BYTE, w_.recv.data(), block(), MPI_BYTE, comm, MPI_INFO_NULL,
                        &request);
  else
    shoal_alltoallv_init(w_.send.data(), w_.send_counts.data(), w_.send_at.data(), MPI_BYTE, w_.recv.data(),
                         w_.recv_counts.data(), w_.recv_at.data(), MPI_BYTE, comm, MPI_INFO_NULL, &request);
}

void all_to_all::run(const std::string& variant, MPI_Comm comm) {
  if (const auto ready = requests_.find(variant); ready != requests_.end()) {
    shoal_start(ready->second);
    shoal_wait(&ready->second);
  } else if (variant == "hand") {
    hand_.run(w_);
  } else if (variant == "memcpy") {
    w_.copy();
  } else if (variant == "choose") {
    choose(comm);
  } else if (variant == "native_nonblocking") {
    nonblocking(comm);
  } else if (variant == "native_persistent") {
    PMPI_Start(&natives_);
    end(natives_);
  } else if (variant == "preloaded") {
    MPI_Alltoall(w_.send.data(), block(), MPI_BYTE, w_.recv.data(), block(), MPI_BYTE, comm);
  } else if (variant == "native") {
    native(comm);
  } else {
    shoals(comm);
  }
}

const phase_clock* all_to_all::phases(MPI_Comm comm) const { return phases_of(process::get().present_state_of(comm)); }

void all_to_all::native(MPI_Comm comm) {
  if (w_.uniform()) PMPI_Alltoall(w_.send.data(), block(), MPI_BYTE, w_.recv.data(), block(), MPI_BYTE, comm);
  else
    PMPI_Alltoallv(w_.send.data(), w_.send_counts.data(), w_.send_at.data(), MPI_BYTE, w_.recv.data(),
                   w_.recv_counts.data(), w_.recv_at.data(), MPI_BYTE, comm);
}

void all_to_all::shoals(MPI_Comm comm) {
  if (w_.uniform()) shoal_alltoall(w_.send.data(), block(), MPI_BYTE, w_.recv.data(), block(), MPI_BYTE, comm);
  else
    shoal_alltoallv(w_.send.data(), w_.send_counts.data(), w_.send_at.data(), MPI_BYTE, w_.recv.data(),
                    w_.recv_counts.data(), w_.recv_at.data(), MPI_BYTE, comm);
}

void all_to_all::nonblocking(MPI_Comm comm) {
  MPI_Request request;
  if (w_.uniform())
    PMPI_Ialltoall(w_.send.data(), block(), MPI_BYTE, w_.recv.data(), block(), MPI_BYTE, comm, &request);
  else
    PMPI_Ialltoallv(w_.send.data(), w_.send_counts.data(), w_.send_at.data(), MPI_BYTE, w_.recv.data(),
                    w_.recv_counts.data(), w_.recv_at.data(), MPI_BYTE, comm, &request);
  end(request);
}

void all_to_all::make_natives_ready(MPI_Comm comm) {
  if (!PMPI_Alltoall_init)
    throw std::runtime_error("native_persistent: this MPI has no persistent collectives, which MPI 4 has");
  if (w_.uniform())
    PMPI_Alltoall_init(w_.send.data(), block(), MPI_BYTE, w_.recv.data(), block(), MPI_BYTE, comm, MPI_INFO_NULL,
                       &natives_);
  else
    PMPI_Alltoallv_init(w_.send.data(), w_.send_counts.data(), w_.send_at.data(), MPI_BYTE, w_.recv.data(),
                        w_.recv_counts.data(), w_.recv_at.data(), MPI_BYTE, comm, MPI_INFO_NULL, &natives_);
}

// Waits in the way in which Shoal's requests wait.
void all_to_all::end(MPI_Request& request) {
  wait_.progressed();
  for (int ended = 0; PMPI_Test(&request, &ended, MPI_STATUS_IGNORE) == MPI_SUCCESS && !ended;) wait_.idle();
}

// Does everything that Shoal does for a call before it exchanges anything.
void all_to_all::choose(MPI_Comm comm) {
  const exchange_call call =
      w_.uniform()
          ? forms::alltoall.describe(w_.send.data(), block(), MPI_BYTE, w_.recv.data(), block(), MPI_BYTE, comm)
          : forms::alltoallv.describe(w_.send.data(), w_.send_counts.data(), w_.send_at.data(), MPI_BYTE,
                                      w_.recv.data(), w_.recv_counts.data(), w_.recv_at.data(), MPI_BYTE, comm);
  exchange_service(state_on(comm).everyone(), call, blocks_).pick(MPI_INFO_NULL);
}

}  // namespace shoal::bench
