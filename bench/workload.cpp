#include "workload.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace shoal::bench {

namespace {

// A number in 0..1 that depends on both ranks and nothing else (splitmix64).
double noise(int origin, int destination) {
  std::uint64_t z = (static_cast<std::uint64_t>(origin) << 32 | static_cast<std::uint32_t>(destination)) + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

std::byte content(int origin, int destination, std::size_t k) {
  return static_cast<std::byte>(origin * 151 + destination * 31 + k * 7 + (k >> 8));
}

std::vector<int> starts(const std::vector<int>& counts, std::vector<std::byte>& memory) {
  std::vector<int> at(counts.size());
  std::size_t end = 0;
  for (std::size_t i = 0; i < counts.size(); end += counts[i++]) at[i] = static_cast<int>(end);
  memory.resize(end);
  return at;
}

}  // namespace

const std::vector<std::string>& distributions() {
  static const std::vector<std::string> names{"uniform", "random", "power", "sparse", "hot"};
  return names;
}

std::int64_t block_bytes(const std::string& distribution, std::int64_t size, int origin, int destination) {
  const double x = noise(origin, destination);
  if (distribution == "uniform") return size;
  if (distribution == "random") return static_cast<std::int64_t>(x * static_cast<double>(size + 1));
  if (distribution == "power") return std::min(16 * size, static_cast<std::int64_t>(0.1 * static_cast<double>(size) * std::pow(1 - x, -0.6)));
  if (distribution == "sparse") return x < 0.9 ? 0 : size;
  if (distribution == "hot") return origin == 0 ? size : std::min<std::int64_t>(8, size);
  throw std::invalid_argument("there is no distribution '" + distribution + "'; there are uniform, random, power, sparse, hot");
}

workload::workload(const std::string& distribution, std::int64_t size, int rank, int ranks)
    : uniform_(distribution == "uniform"), rank_(rank), ranks_(ranks) {
  for (int i = 0; i < ranks; ++i) {
    send_counts.push_back(static_cast<int>(block_bytes(distribution, size, rank, i)));
    recv_counts.push_back(static_cast<int>(block_bytes(distribution, size, i, rank)));
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
        return "rank " + std::to_string(rank_) + ": byte " + std::to_string(k) + " of the block from rank " + std::to_string(o) + " is wrong";
  return {};
}

}  // namespace shoal::bench
