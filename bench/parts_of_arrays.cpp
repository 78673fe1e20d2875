#include "parts_of_arrays.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "buffer_size.hpp"
#include "state.hpp"

namespace shoal::bench {

namespace {

std::byte number(int origin, int destination, int k) {
  return static_cast<std::byte>(origin * 151 + destination * 31 + k * 7 + (k >> 8));
}

}  // namespace

parts_of_arrays::parts_of_arrays(std::int64_t bytes, int rank, int ranks)
    : rank_(rank),
      ranks_(ranks),
      rows_(static_cast<int>(std::gcd(bytes, std::int64_t{16}))),
      piece_(static_cast<int>(bytes / rows_)),
      send_(counted(bytes, ranks)),
      recv_(send_.size()),
      ones_(ranks, 1),
      zeros_(ranks, 0),
      pieces_(ranks, rows_ * piece_),
      bytes_(ranks, MPI_BYTE) {
  for (int i = 0; i < ranks; ++i) {
    at_.push_back(i * rows_ * piece_);
    const std::array<int, 2> whole{rows_, ranks * piece_}, part{rows_, piece_}, begin{0, i * piece_};
    strips_.push_back(MPI_BYTE);
    if (piece_ == 0) continue;
    PMPI_Type_create_subarray(2, whole.data(), part.data(), begin.data(), MPI_ORDER_C, MPI_BYTE, &strips_.back());
    PMPI_Type_commit(&strips_.back());
  }
  if (piece_ == 0) ones_ = zeros_;
}

parts_of_arrays::~parts_of_arrays() {
  for (MPI_Datatype& strip : strips_)
    if (strip != MPI_BYTE) PMPI_Type_free(&strip);
}

void parts_of_arrays::run(const std::string& variant, MPI_Comm comm) {
  const auto exchange = variant == "native" ? PMPI_Alltoallw : shoal_alltoallw;
  exchange(send_.data(), ones_.data(), zeros_.data(), strips_.data(), recv_.data(), pieces_.data(), at_.data(),
           bytes_.data(), comm);
}

const phase_clock* parts_of_arrays::phases(MPI_Comm comm) const {
  return phases_of(process::get().present_state_of(comm));
}

void parts_of_arrays::fill() {
  for (int d = 0; d < ranks_; ++d)
    for (int k = 0; k < rows_ * piece_; ++k)
      send_[k / piece_ * ranks_ * piece_ + d * piece_ + k % piece_] = number(rank_, d, k);
  std::fill(recv_.begin(), recv_.end(), std::byte{0xEE});
}

std::string parts_of_arrays::wrong() const {
  for (int o = 0; o < ranks_; ++o)
    for (int k = 0; k < rows_ * piece_; ++k)
      if (recv_[at_[o] + k] != number(o, rank_, k))
        return "rank " + std::to_string(rank_) + ": byte " + std::to_string(k) + " of the strip from rank " +
               std::to_string(o) + " is wrong";
  return {};
}

}  // namespace shoal::bench
