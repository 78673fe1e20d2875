#include "block_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "select/sparse_pattern.hpp"
#include "traffic_file.hpp"

namespace shoal::bench {

namespace {

// A number in 0..1 that depends on both ranks and nothing else (splitmix64).
double noise(int origin, int destination) {
  std::uint64_t z = static_cast<std::uint64_t>(origin) << 32 | static_cast<std::uint32_t>(destination);
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

std::int64_t bytes(double count) { return static_cast<std::int64_t>(std::min(count, 0x1p62)); }

// The method of Box and Muller. It needs a second random number for each block: the noise of the two ranks in reverse
// order, with the destination shifted so far that no other block uses this number.
double normal(int origin, int destination) {
  const double u = 1 - noise(origin, destination), v = noise(destination + (1 << 30), origin);
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

double pareto(int origin, int destination) { return 0.1 * std::pow(1 - noise(origin, destination), -0.6); }

// For each rank, its place in a random order of popularity. The most popular rank has place 1.
std::vector<int> popularity(int ranks) {
  std::vector<int> order(ranks), place(ranks);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [](int a, int b) { return noise(-1, a) < noise(-1, b); });
  for (int i = 0; i < ranks; ++i) place[order[i]] = i + 1;
  return place;
}

size_rule from_file(const std::string& path, std::int64_t size, int ranks) {
  const auto traffic = std::make_shared<const traffic_matrix>(read_traffic(path));
  if (traffic->ranks != ranks)
    throw std::invalid_argument(path + " is for " + std::to_string(traffic->ranks) + " ranks, not " +
                                std::to_string(ranks));
  const double largest = traffic->bytes.empty() ? 0 : *std::max_element(traffic->bytes.begin(), traffic->bytes.end());
  const double scale = size == 0 || largest == 0 ? 1 : static_cast<double>(size) / largest;
  return [=](int o, int d) { return bytes(std::round(scale * traffic->at(o, d))); };
}

using maker = size_rule (*)(std::int64_t size, int ranks);
const std::vector<std::pair<std::string, maker>> makers{
    {"uniform", [](std::int64_t size, int) -> size_rule { return [=](int, int) { return size; }; }},
    {"random",
     [](std::int64_t size, int) -> size_rule { return [=](int o, int d) { return bytes(noise(o, d) * (size + 1)); }; }},
    {"normal",
     [](std::int64_t size, int) -> size_rule {
       return [=](int o, int d) { return bytes(std::clamp(0.5 + 0.12 * normal(o, d), 0.0, 1.0) * size); };
     }},
    {"power",
     [](std::int64_t size, int) -> size_rule {
       return [=](int o, int d) { return bytes(std::min(16.0, pareto(o, d)) * size); };
     }},
    {"sparse",
     [](std::int64_t size, int) -> size_rule { return [=](int o, int d) { return noise(o, d) < 0.9 ? 0 : size; }; }},
    {"pairs",
     [](std::int64_t size, int) -> size_rule { return [=](int o, int d) { return sparse_pair(o, d) ? size : 0; }; }},
    {"hot",
     [](std::int64_t size, int) -> size_rule {
       return [=](int o, int) { return o == 0 ? size : std::min<std::int64_t>(8, size); };
     }},
    {"fft1",
     [](std::int64_t size, int ranks) -> size_rule {
       return [=](int o, int d) { return o < 0.625 * ranks && d < 0.78125 * ranks ? size : 0; };
     }},
    {"fft2",
     [](std::int64_t size, int ranks) -> size_rule {
       return [=](int o, int) { return o == ranks - 1 ? size / 4 : size; };
     }},
    {"experts",
     [](std::int64_t size, int ranks) -> size_rule {
       return [=, place = popularity(ranks)](int o, int d) { return bytes((0.5 + noise(o, d) / 2) * size / place[d]); };
     }},
};

}  // namespace

const std::vector<std::string>& distributions() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, make] : makers) all.push_back(name);
    return all;
  }();
  return names;
}

size_rule sizes_of(const std::string& distribution, std::int64_t size, int ranks) {
  if (distribution.rfind("matrix:", 0) == 0) return from_file(distribution.substr(7), size, ranks);
  for (const auto& [name, make] : makers)
    if (name == distribution) return make(size, ranks);
  std::string known;
  for (const std::string& name : distributions()) known += name + ", ";
  throw std::invalid_argument("there is no distribution '" + distribution + "'; there are " + known + "matrix:FILE");
}

}  // namespace shoal::bench
