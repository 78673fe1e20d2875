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

void block_sums::begin(MPI_Comm own, int tag, const user_buffer& sent, int blocks) {
  int ranks = 0;
  require(PMPI_Comm_size(own, &ranks), "MPI_Comm_size");
  sent_.clear();
  for (int i = 0; i < ranks; ++i) sent_.push_back(i < blocks ? sum_of(sent, i) : sent_.front());
  received_.resize(sent_.size());
  for (int i = 0; i < ranks; ++i) {
    require(PMPI_Irecv(&received_[i], 1, MPI_UINT64_T, i, tag, own, &requests_.emplace_back()), "MPI_Irecv");
    require(PMPI_Isend(&sent_[i], 1, MPI_UINT64_T, i, tag, own, &requests_.emplace_back()), "MPI_Isend");
  }
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

void block_sums::require_equal(const user_buffer& received, int blocks, int first) const {
  for (int i = 0; i < blocks; ++i)
    if (sum_of(received, i) != received_[first + i])
      throw std::runtime_error("verification failed: the block from rank " + std::to_string(first + i) +
                               " is not what that rank sent; please report this");
}

}  // namespace shoal
