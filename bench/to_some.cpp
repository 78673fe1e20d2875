#include "to_some.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>

#include "buffer_size.hpp"
#include "neighbor_graphs.hpp"

namespace shoal::bench {

namespace {

char mark_of(int sender) { return static_cast<char>(1 + sender % 127); }

}  // namespace

int to_some::partners_of(const std::string& distribution, int ranks) {
  const auto partners = partners_in(distribution);
  if (!partners)
    throw std::invalid_argument(distribution + ": --collective exchange needs partners:N, for example partners:8");
  return std::min(*partners, ranks - 1);
}

bool to_some::has(const std::string& variant) {
  return variant == "auto" || variant == "native" || variant == "nbx" || variant == "crystal";
}

to_some::to_some(int partners, std::int64_t bytes, int rank, int ranks, wait_mode mode)
    : rank_(rank),
      ranks_(ranks),
      wait_(mode),
      counts_(partners, bytes),
      data_(static_cast<std::size_t>(counted(bytes, partners)) + 1, mark_of(rank)) {
  std::vector<int> distances(ranks - 1), from;
  std::iota(distances.begin(), distances.end(), 1);
  std::mt19937 random(1);
  std::shuffle(distances.begin(), distances.end(), random);
  for (int i = 0; i < partners; ++i) {
    to_.push_back((rank + distances[i]) % ranks);
    at_.push_back(static_cast<MPI_Aint>(i * bytes));
    from.push_back((rank - distances[i] + ranks) % ranks);
  }
  std::sort(from.begin(), from.end());
  for (const int sender : from) expected_.insert(expected_.end(), static_cast<std::size_t>(bytes), mark_of(sender));
}

void to_some::make_ready(const std::string& variant, MPI_Comm comm) {
  if (variant == "nbx") probing_.emplace(comm, wait_, 1);
  if (variant == "crystal") crystal_.emplace(comm, wait_);
}

void to_some::run(const std::string& variant, MPI_Comm comm) {
  last_ = variant;
  if (variant == "auto") return by_shoal(comm);
  if (variant == "native") return with_counts(comm);
  by_hand_ = all_parcels();
  if (variant == "nbx") probing_->deliver(by_hand_, false);
  else crystal_->deliver(by_hand_);
}

void to_some::by_shoal(MPI_Comm comm) {
  shoal_arrivals_free(&arrivals_);
  shoal_exchange(static_cast<int>(to_.size()), to_.data(), data_.data(), counts_.data(), at_.data(), MPI_BYTE, comm,
                 &arrivals_);
}

void to_some::with_counts(MPI_Comm comm) {
  std::vector<int> sent(ranks_), got(ranks_), sent_at(ranks_), got_at(ranks_);
  for (std::size_t i = 0; i < to_.size(); ++i) {
    sent[to_[i]] = static_cast<int>(counts_[i]);
    sent_at[to_[i]] = static_cast<int>(at_[i]);
  }
  PMPI_Alltoall(sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT, comm);
  std::exclusive_scan(got.begin(), got.end(), got_at.begin(), 0);
  by_counts_ = std::vector<char>(static_cast<std::size_t>(got_at.back() + got.back()));
  PMPI_Alltoallv(data_.data(), sent.data(), sent_at.data(), MPI_BYTE, by_counts_.data(), got.data(), got_at.data(),
                 MPI_BYTE, comm);
}

parcels to_some::all_parcels() const {
  parcels held(std::size_t{1} << 30);
  for (std::size_t i = 0; i < to_.size(); ++i)
    held.add({rank_, to_[i], static_cast<std::uint64_t>(counts_[i])},
             reinterpret_cast<const std::byte*>(data_.data() + at_[i]));
  return held;
}

std::vector<char> to_some::received() const {
  if (last_ == "native") return by_counts_;
  std::map<int, std::vector<char>> by_sender;
  for (int i = 0; last_ == "auto" && i < arrivals_->blocks; ++i) {
    const char* const block = static_cast<const char*>(arrivals_->data) + arrivals_->displs[i];
    by_sender[arrivals_->sources[i]].assign(block, block + arrivals_->counts[i]);
  }
  if (last_ != "auto")
    by_hand_.each([&](const parcels::label& what, const std::byte* block, const std::byte*) {
      const char* const data = reinterpret_cast<const char*>(block);
      by_sender[what.origin].assign(data, data + what.bytes);
    });
  std::vector<char> all;
  for (const auto& [sender, block] : by_sender) all.insert(all.end(), block.begin(), block.end());
  return all;
}

std::string to_some::wrong() const {
  return received() == expected_ ? "" : "rank " + std::to_string(rank_) + " did not get what was sent to it";
}

}  // namespace shoal::bench
