#include "neighbor_graphs.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>
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

// The numbers in a text such as 4x2; none if the text has another form.
std::vector<int> extents_in(const std::string& text) {
  std::vector<int> extents;
  for (const std::string& part : split(text, 'x')) extents.push_back(whole_number(part).value_or(0));
  const bool is_whole = !text.ends_with('x') && std::find(extents.begin(), extents.end(), 0) == extents.end();
  return is_whole ? extents : std::vector<int>();
}

}  // namespace

std::optional<int> partners_in(const std::string& name) {
  const std::string prefix = "partners:";
  return name.starts_with(prefix) ? whole_number(name.substr(prefix.size())) : std::nullopt;
}

neighbor_graph graph_named(const std::string& name, int ranks) {
  if (const auto partners = partners_in(name)) return neighbor_graph::random(ranks, *partners);
  const std::string form = name.substr(0, name.find(':'));
  std::vector<int> extents;
  if (form == "grid" || form == "torus") extents = extents_in(name.substr(std::min(name.size(), form.size() + 1)));
  if (extents.empty())
    throw std::invalid_argument(
        name + " is no exchange among neighbours; use partners:N, grid:AxB or torus:AxB, for example torus:4x2");
  const auto places = std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
  if (places != ranks)
    throw std::invalid_argument(name + " is for " + std::to_string(places) + " ranks, not " + std::to_string(ranks));
  return neighbor_graph::grid(extents, form == "torus");
}

}  // namespace shoal::bench
