#include "model/intergroup.hpp"

#include <algorithm>
#include <stdexcept>

#include "algorithms/intergroup.hpp"

namespace shoal {

namespace {

std::string_view name_of(std::string_view network) { return network.substr(0, network.find(':')); }

std::string all_networks(std::span<const algorithm> table) {
  std::string all;
  for (const algorithm& a : table)
    if (!a.network.empty()) all += (all.empty() ? "" : ", ") + a.network;
  return all;
}

bool has_value(std::string_view network) { return network.find(':') != std::string_view::npos; }

// The plain algorithm of the network, and the specs that other algorithms offer for it.
std::vector<selection> candidates(const problem& at, std::string_view network, double bytes, const link_cost& link,
                                  std::span<const algorithm> table) {
  std::vector<selection> all = {schedule_of(network, table)};
  for (const algorithm& a : table) {
    if (!a.on_network) continue;
    for (const std::string& spec : a.on_network(at, name_of(network), bytes, link))
      if (selection more = parse_selection(spec, collective::allgather, table);
          std::find(all.begin(), all.end(), more) == all.end())
        all.push_back(std::move(more));
  }
  return all;
}

}  // namespace

intergroup_cost cost_of(const selection& chosen, const problem& at) { return chosen.which->cost(at, chosen.with); }

double seconds_of(const selection& chosen, const problem& at, double bytes, const link_cost& link) {
  const auto& given = chosen.with.values();
  const bool paced = given.contains("paced") && given.at("paced") == "yes";
  return seconds_of(cost_of(chosen, at), paced, bytes, link);
}

selection schedule_of(std::string_view network, std::span<const algorithm> table) {
  for (const algorithm& a : table) {
    if (a.network.empty() || name_of(a.network) != name_of(network) || has_value(a.network) != has_value(network))
      continue;
    if (!has_value(network)) return parse_selection(a.name, collective::allgather, table);
    const std::string_view value = network.substr(name_of(network).size() + 1);
    return parse_selection(a.name + ":" + a.parameters.at(0).name + "=" + std::string(value), collective::allgather,
                           table);
  }
  throw std::invalid_argument("'" + std::string(network) + "' is not a network; there are " + all_networks(table));
}

std::vector<intergroup_prediction> predict_intergroup(const problem& at, std::string_view network, double bytes,
                                                      const link_cost& link, std::span<const algorithm> table) {
  if (const auto reason = refuses_groups(at, {})) throw std::invalid_argument(*reason);
  std::vector<intergroup_prediction> found;
  for (const selection& chosen : candidates(at, network, bytes, link, table)) {
    const auto reason = chosen.which->refuses(at, chosen.with);
    if (reason) throw std::invalid_argument("network " + std::string(network) + ": " + *reason);
    found.push_back({to_string(chosen), seconds_of(chosen, at, bytes, link)});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return found;
}

}  // namespace shoal
