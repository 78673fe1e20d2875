#include "execute/mpi_transport.hpp"

#include <algorithm>
#include <functional>

#include "execute/mpi_error.hpp"

namespace shoal {

mpi_transport::mpi_transport(MPI_Comm comm, std::size_t piece_bytes) : comm_(comm), piece_bytes_(piece_bytes) {
  require(PMPI_Comm_size(comm, &ranks_), "MPI_Comm_size");
  require(PMPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
  int* bound = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found) == MPI_SUCCESS && found) highest_tag_ = *bound;
}

void mpi_transport::reserve(std::size_t transfers) {
  requests_.reserve(transfers);
  tickets_.reserve(transfers);
  indices_.reserve(transfers);
}

template <typename Post>
void mpi_transport::in_pieces(std::size_t bytes, int ticket, Post post) {
  int pieces = 0;
  std::size_t offset = 0;
  do {
    const std::size_t size = std::min(bytes - offset, piece_bytes_);
    MPI_Request request = MPI_REQUEST_NULL;
    require(post(offset, static_cast<int>(size), &request), "starting a message");
    requests_.push_back(request);
    tickets_.push_back(ticket);
    offset += size;
    ++pieces;
  } while (offset < bytes);
  if (pieces > 1) pieces_left_[ticket] = pieces;
}

void mpi_transport::send(int peer, int tag, const std::byte* data, std::size_t bytes, int ticket) {
  in_pieces(bytes, ticket, [&](std::size_t offset, int size, MPI_Request* request) {
    return PMPI_Isend(data + offset, size, MPI_BYTE, peer, tag, comm_, request);
  });
}

void mpi_transport::receive(int peer, int tag, std::byte* data, std::size_t capacity, int ticket) {
  in_pieces(capacity, ticket, [&](std::size_t offset, int size, MPI_Request* request) {
    return PMPI_Irecv(data + offset, size, MPI_BYTE, peer, tag, comm_, request);
  });
}

void mpi_transport::poll(std::vector<int>& ended) {
  if (requests_.empty()) return let_others_progress();
  const int active = static_cast<int>(requests_.size());
  indices_.resize(requests_.size());
  int count = 0;
  require(PMPI_Testsome(active, requests_.data(), &count, indices_.data(), MPI_STATUSES_IGNORE), "moving messages");
  if (count == MPI_UNDEFINED || count == 0) return;
  for (int i = 0; i < count; ++i) {
    const int ticket = tickets_[indices_[i]];
    const auto split = pieces_left_.empty() ? pieces_left_.end() : pieces_left_.find(ticket);
    if (split != pieces_left_.end()) {
      if (--split->second > 0) continue;
      pieces_left_.erase(split);
    }
    ended.push_back(ticket);
  }
  drop_ended(count);
}

// Messages of the program's own must move even while this rank waits for something else.
void mpi_transport::let_others_progress() {
  int found = 0;
  require(PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE), "moving messages of others");
}

// Fills the gaps from the end, highest index first.
void mpi_transport::drop_ended(int count) {
  std::sort(indices_.begin(), indices_.begin() + count, std::greater<>());
  for (int i = 0; i < count; ++i) {
    requests_[indices_[i]] = requests_.back();
    tickets_[indices_[i]] = tickets_.back();
    requests_.pop_back();
    tickets_.pop_back();
  }
}

}  // namespace shoal
