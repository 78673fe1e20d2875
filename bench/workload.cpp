#include "workload.hpp"

#include <algorithm>
#include <cstring>

#include "block_sizes.hpp"
#include "buffer_size.hpp"

namespace shoal::bench {

namespace {

std::byte content(int origin, int destination, std::size_t k) {
  return static_cast<std::byte>(origin * 151 + destination * 31 + k * 7 + (k >> 8));
}

std::vector<int> starts(const std::vector<int>& counts, std::vector<std::byte>& memory) {
  std::vector<int> at;
  std::int64_t end = 0;
  for (const int count : counts) {
    at.push_back(counted(end));
    end += count;
  }
  memory.resize(counted(end));
  return at;
}

}  // namespace

workload::workload(const std::string& distribution, std::int64_t size, int rank, int ranks)
    : uniform_(distribution == "uniform"), rank_(rank), ranks_(ranks) {
  const size_rule bytes = sizes_of(distribution, size, ranks);
  for (int i = 0; i < ranks; ++i) {
    send_counts.push_back(counted(bytes(rank, i)));
    recv_counts.push_back(counted(bytes(i, rank)));
  }
  send_at = starts(send_counts, send);
  recv_at = starts(recv_counts, recv);
}

void workload::fill() {
  for (int d = 0; d < ranks_; ++d)
    for (int k = 0; k < send_counts[d]; ++k) send[send_at[d] + k] = content(rank_, d, k);
  std::fill(recv.begin(), recv.end(), std::byte{0xEE});
}

void workload::copy() {
  for (int i = 0; i < ranks_; ++i) {
    const auto bytes = static_cast<std::size_t>(std::min(send_counts[i], recv_counts[i]));
    if (bytes > 0) std::memcpy(recv.data() + recv_at[i], send.data() + send_at[i], bytes);
  }
}

std::string workload::wrong() const {
  for (int o = 0; o < ranks_; ++o)
    for (int k = 0; k < recv_counts[o]; ++k)
      if (recv[recv_at[o] + k] != content(o, rank_, k))
        return "rank " + std::to_string(rank_) + ": byte " + std::to_string(k) + " of the block from rank " +
               std::to_string(o) + " is wrong";
  return {};
}

}  // namespace shoal::bench
