#include "calls/verification.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "select/settings.hpp"
#include "transport/mpi_ended.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

std::uint64_t sum_of(const user_buffer& buffer, int block) {
  std::string bytes(buffer.bytes(block), '\0');
  buffer.pack(block, reinterpret_cast<std::byte*>(bytes.data()));
  return hash_of(bytes);
}

}  // namespace

std::vector<std::byte> packed(const user_buffer& buffer, int blocks, std::span<const int> peers) {
  const auto bytes = [&](int i) { return peers.empty() || peers[i] != MPI_PROC_NULL ? buffer.bytes(i) : 0; };
  std::size_t total = 0;
  for (int i = 0; i < blocks; ++i) total += bytes(i);
  std::vector<std::byte> all(total);
  std::byte* out = all.data();
  for (int i = 0; i < blocks; out += bytes(i++))
    if (bytes(i) > 0) buffer.pack(i, out);
  return all;
}

void require_equal(const std::vector<std::byte>& shoals, const std::vector<std::byte>& natives, int rank) {
  if (shoals == natives) return;
  const auto at = std::mismatch(shoals.begin(), shoals.end(), natives.begin()).first - shoals.begin();
  throw std::runtime_error("verification failed on rank " + std::to_string(rank) + ": received byte " +
                           std::to_string(at) + " of " + std::to_string(shoals.size()) +
                           " differs from the MPI's own result; please report this");
}

// The MPI may still write here.
block_sums::~block_sums() {
  if (!requests_.empty()) PMPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

block_ends block_ends::of_all(int ranks) {
  block_ends all;
  for (int i = 0; i < ranks; ++i) all.sent.push_back({i, i});
  all.received = all.sent;
  return all;
}

void block_sums::begin(MPI_Comm own, int tag, const user_buffer& sent) {
  sent_.clear();
  for (const auto& [block, to] : ends_.sent) sent_.push_back(sum_of(sent, block));
  received_.resize(ends_.received.size());
  for (std::size_t i = 0; i < received_.size(); ++i)
    require(PMPI_Irecv(&received_[i], 1, MPI_UINT64_T, ends_.received[i].rank, tag, own, &requests_.emplace_back()),
            "MPI_Irecv");
  for (std::size_t i = 0; i < sent_.size(); ++i)
    require(PMPI_Isend(&sent_[i], 1, MPI_UINT64_T, ends_.sent[i].rank, tag, own, &requests_.emplace_back()),
            "MPI_Isend");
}

bool block_sums::test() {
  while (!requests_.empty()) {
    bool ended = false;
    require(test_one(requests_.back(), ended), "MPI_Test");
    if (!ended) return false;
    requests_.pop_back();
  }
  return true;
}

void block_sums::require_equal(const user_buffer& received) const {
  for (std::size_t i = 0; i < received_.size(); ++i)
    if (sum_of(received, ends_.received[i].block) != received_[i])
      throw std::runtime_error("verification failed: a block from rank " + std::to_string(ends_.received[i].rank) +
                               " is not what that rank sent; please report this");
}

}  // namespace shoal
