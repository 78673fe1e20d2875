// An exchange among neighbours in which every rank sends to so many ranks, drawn at random, blocks of one size.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "execute/exchange.hpp"
#include "schedule/neighbor_graph.hpp"

namespace shoal::bench {

// The same on every rank, which in one process have it in common.
inline std::shared_ptr<const neighbor_graph> random_partners(int ranks, int partners) {
  static std::shared_ptr<const neighbor_graph> made;
  if (made) return made;
  std::mt19937 random(7);
  std::vector<neighbor_graph::neighbors> all(static_cast<std::size_t>(ranks));
  for (int from = 0; from < ranks; ++from) {
    auto& to = all[from].destinations;
    while (static_cast<int>(to.size()) < std::min(partners, ranks - 1)) {
      const int drawn = static_cast<int>(random() % static_cast<unsigned>(ranks));
      if (drawn == from || std::find(to.begin(), to.end(), drawn) != to.end()) continue;
      all[drawn].arrivals.push_back({from, static_cast<int>(to.size())});
      to.push_back(drawn);
    }
  }
  return made = std::make_shared<const neighbor_graph>(std::move(all));
}

// The blocks of one rank.
class partner_blocks {
 public:
  partner_blocks(const neighbor_graph& graph, std::int64_t size, int rank)
      : graph_(graph),
        size_(static_cast<std::size_t>(size)),
        rank_(rank),
        send_(size_ * graph.destinations(rank).size()),
        recv_(size_ * graph.arrivals(rank).size()) {}

  void fill() {
    std::fill(recv_.begin(), recv_.end(), std::byte{0xEE});
    for (std::size_t i = 0; i < send_.size(); ++i) send_[i] = content(rank_, static_cast<int>(i / size_), i % size_);
  }
  std::string wrong() const {
    for (std::size_t i = 0; i < recv_.size(); ++i) {
      const auto [source, edge] = graph_.arrivals(rank_)[i / size_];
      if (recv_[i] != content(source, edge, i % size_))
        return "a block of rank " + std::to_string(source) + " is wrong";
    }
    return {};
  }
  payload blocks() {
    payload all;
    all.send.base = send_.data();
    all.recv.base = recv_.data();
    for (user_buffer* one : {&all.send, &all.recv}) {
      one->counts = number_array::linear(static_cast<std::int64_t>(size_), 0);
      one->displacements = number_array::linear(0, static_cast<std::int64_t>(size_));
    }
    return all;
  }
  // As MPICH and Open MPI: a message for each block, all at once. SMPI has no exchanges among neighbours.
  void native() {
    std::vector<MPI_Request> all;
    const int bytes = static_cast<int>(size_);
    for (std::size_t i = 0; i * size_ < recv_.size(); ++i)
      PMPI_Irecv(recv_.data() + i * size_, bytes, MPI_BYTE, graph_.arrivals(rank_)[i].source, 0, MPI_COMM_WORLD,
                 &all.emplace_back());
    for (std::size_t i = 0; i * size_ < send_.size(); ++i)
      PMPI_Isend(send_.data() + i * size_, bytes, MPI_BYTE, graph_.destinations(rank_)[i], 0, MPI_COMM_WORLD,
                 &all.emplace_back());
    PMPI_Waitall(static_cast<int>(all.size()), all.data(), MPI_STATUSES_IGNORE);
  }

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
