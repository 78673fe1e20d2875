// The buffers of an exchange among neighbours, with blocks of one size: their contents, and whether all arrived.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "buffer_size.hpp"
#include "schedule/neighbor_graph.hpp"

namespace shoal::bench {

// The blocks of one rank. The graph must outlive them.
class neighbor_blocks {
 public:
  neighbor_blocks(const neighbor_graph& graph, std::int64_t size, int rank)
      : graph_(graph),
        size_(static_cast<std::size_t>(counted(size))),
        rank_(rank),
        send_(counted(size, std::ssize(graph.destinations(rank)))),
        recv_(counted(size, std::ssize(graph.arrivals(rank)))) {}

  void fill() {
    std::fill(recv_.begin(), recv_.end(), std::byte{0xEE});
    for (std::size_t i = 0; i < send_.size(); ++i) send_[i] = content(rank_, static_cast<int>(i / size_), i % size_);
  }
  std::string wrong() const {
    for (std::size_t i = 0; i < recv_.size(); ++i) {
      const auto [source, edge] = graph_.arrivals(rank_)[i / size_];
      if (recv_[i] != content(source, edge, i % size_))
        return "rank " + std::to_string(rank_) + ": a block from rank " + std::to_string(source) + " is wrong";
    }
    return {};
  }
  // Begins the exchange as MPICH and Open MPI do: one message for each block, all at once.
  std::vector<MPI_Request> begin_messages(MPI_Comm comm) {
    std::vector<MPI_Request> all;
    const int bytes = static_cast<int>(size_);
    for (std::size_t i = 0; i * size_ < recv_.size(); ++i)
      PMPI_Irecv(recv_.data() + i * size_, bytes, MPI_BYTE, graph_.arrivals(rank_)[i].source, 0, comm,
                 &all.emplace_back());
    for (std::size_t i = 0; i * size_ < send_.size(); ++i)
      PMPI_Isend(send_.data() + i * size_, bytes, MPI_BYTE, graph_.destinations(rank_)[i], 0, comm,
                 &all.emplace_back());
    return all;
  }

  std::byte* send() { return send_.data(); }
  std::byte* recv() { return recv_.data(); }

 private:
  static std::byte content(int rank, int edge, std::size_t k) {
    return static_cast<std::byte>(static_cast<std::size_t>(rank) * 151 + static_cast<std::size_t>(edge) * 31 + k * 7);
  }

  const neighbor_graph& graph_;
  std::size_t size_;
  int rank_;
  std::vector<std::byte> send_, recv_;
};

}  // namespace shoal::bench
