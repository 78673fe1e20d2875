#include "calls/verification.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "select/settings.hpp"

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

block_ends block_ends::of_all(int ranks) {
  block_ends all;
  for (int i = 0; i < ranks; ++i) all.sent.push_back({i, i});
  all.received = all.sent;
  return all;
}

block_ends block_ends::of(const neighbor_graph& graph, int rank) {
  block_ends all;
  const std::span<const int> to = graph.destinations(rank);
  const std::span<const neighbor_graph::arrival> from = graph.arrivals(rank);
  for (int i = 0; i < static_cast<int>(to.size()); ++i)
    if (to[i] >= 0) all.sent.push_back({i, to[i]});
  for (int i = 0; i < static_cast<int>(from.size()); ++i)
    if (from[i].source >= 0) all.received.push_back({i, from[i].source});
  std::sort(all.received.begin(), all.received.end(), [&](const end& a, const end& b) {
    return std::pair(a.rank, from[a.block].edge) < std::pair(b.rank, from[b.block].edge);
  });
  return all;
}

void block_sums::begin(int tag, const user_buffer& sent, const user_buffer& received) {
  numbers_ = std::make_unique<numbers>();
  expected_.clear();
  std::vector<int> receivers;
  for (const auto& one : ends_.received)
    if (!is_abandoned_ && received.bytes(one.block) > 0) expected_.push_back(one);
  for (const auto& [block, to] : ends_.sent)
    if (sent.bytes(block) > 0) receivers.push_back(to), numbers_->sent.push_back(sum_of(sent, block));
  numbers_->received.resize(expected_.size());
  under_way_ = expected_.size() + receivers.size();
  over_.reserve(under_way_);
  ended_.reserve(under_way_);
  constexpr std::size_t bytes = sizeof(std::uint64_t);
  for (std::size_t i = 0; i < expected_.size(); ++i)
    over_.receive(expected_[i].rank, tag, reinterpret_cast<std::byte*>(&numbers_->received[i]), bytes, 0);
  for (std::size_t i = 0; i < receivers.size(); ++i)
    over_.send(receivers[i], tag, reinterpret_cast<const std::byte*>(&numbers_->sent[i]), bytes, 0);
}

bool block_sums::test() {
  if (under_way_ == 0) return true;
  over_.poll(ended_);
  take_ended();
  return under_way_ == 0;
}

void block_sums::take_ended() {
  for (const ended_transfer& one : ended_) {
    --under_way_;
    if (one.failure) failure_ = one.failure;
    if (one.abandoned) [[maybe_unused]]
      const numbers* const left = numbers_.release();  // the MPI may still write there
  }
  ended_.clear();
}

void block_sums::abandon() noexcept {
  if (under_way_ == 0) return;
  is_abandoned_ = true;
  over_.abandon(ended_);
  take_ended();
}

void block_sums::require_equal(const user_buffer& received) const {
  if (failure_) std::rethrow_exception(failure_);
  for (std::size_t i = 0; i < expected_.size(); ++i)
    if (sum_of(received, expected_[i].block) != numbers_->received[i])
      throw std::runtime_error("verification failed: a block from rank " + std::to_string(expected_[i].rank) +
                               " is not what that rank sent; please report this");
}

}  // namespace shoal
