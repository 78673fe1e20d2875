#include "neighbor_graphs.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include "options.hpp"

namespace shoal::bench {

namespace {

std::optional<int> whole_number(const std::string& text) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end && number >= 0 ? std::optional(number) : std::nullopt;
}

neighbor_graph random_partners(int ranks, int partners) {
  std::mt19937 random(7);
  std::vector<std::vector<int>> destinations(static_cast<std::size_t>(ranks));
  for (int from = 0; from < ranks; ++from) {
    std::vector<int>& to = destinations[from];
    while (static_cast<int>(to.size()) < std::min(partners, ranks - 1)) {
      const int drawn = static_cast<int>(random() % static_cast<unsigned>(ranks));
      if (drawn != from && std::find(to.begin(), to.end(), drawn) == to.end()) to.push_back(drawn);
    }
  }
  return neighbor_graph::to(std::move(destinations));
}

// The numbers in a text such as 4x2; none if the text has another form.
std::vector<int> extents_in(const std::string& text) {
  std::vector<int> extents;
  for (const std::string& part : split(text, 'x')) extents.push_back(whole_number(part).value_or(0));
  const bool is_whole = !text.ends_with('x') && std::find(extents.begin(), extents.end(), 0) == extents.end();
  return is_whole ? extents : std::vector<int>();
}

neighbor_graph in_grid(const std::vector<int>& extents, int ranks, bool closed) {
  std::vector<std::vector<int>> destinations(static_cast<std::size_t>(ranks));
  int stride = ranks;
  for (const int extent : extents) {
    stride /= extent;
    for (int rank = 0; rank < ranks; ++rank)
      for (const int step : {-1, 1}) {
        const int at = rank / stride % extent, there = at + step;
        if (closed || (0 <= there && there < extent))
          destinations[rank].push_back(rank + ((there + extent) % extent - at) * stride);
      }
  }
  return neighbor_graph::to(std::move(destinations));
}

}  // namespace

std::optional<int> partners_in(const std::string& name) {
  const std::string prefix = "partners:";
  return name.starts_with(prefix) ? whole_number(name.substr(prefix.size())) : std::nullopt;
}

neighbor_graph graph_named(const std::string& name, int ranks) {
  if (const auto partners = partners_in(name)) return random_partners(ranks, *partners);
  const std::string form = name.substr(0, name.find(':'));
  std::vector<int> extents;
  if (form == "grid" || form == "torus") extents = extents_in(name.substr(std::min(name.size(), form.size() + 1)));
  if (extents.empty())
    throw std::invalid_argument(
        name + " is no exchange among neighbours; use partners:N, grid:AxB or torus:AxB, for example torus:4x2");
  const auto places = std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
  if (places != ranks)
    throw std::invalid_argument(name + " is for " + std::to_string(places) + " ranks, not " + std::to_string(ranks));
  return in_grid(extents, ranks, form == "torus");
}

}  // namespace shoal::bench
