// Networks for tests: random ones, all small ones, and shapes by name.
#pragma once

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "topology/switch_network.hpp"

namespace shoal {

// Switches s0.. joined as `parent` says (parent[0] is ignored), machines n0.. on the switches given.
inline switch_network switched(const std::vector<int>& parent, const std::vector<int>& switch_of_machine,
                               double uplink = standard_link_speed) {
  std::vector<network_node> nodes;
  std::vector<network_link> links;
  for (std::size_t s = 0; s < parent.size(); ++s) {
    nodes.push_back({"s" + std::to_string(s), false});
    if (s > 0) links.push_back({parent[s], static_cast<int>(s), uplink});
  }
  for (std::size_t m = 0; m < switch_of_machine.size(); ++m) {
    links.push_back({switch_of_machine[m], static_cast<int>(nodes.size()), standard_link_speed});
    nodes.push_back({"n" + std::to_string(m), true});
  }
  return {std::move(nodes), std::move(links)};
}

// The switches of `count` machines that are dealt to the switches in equal blocks.
inline std::vector<int> in_blocks(int count, int switches) {
  std::vector<int> at;
  for (int m = 0; m < count; ++m) at.push_back(m * switches / count);
  return at;
}
inline switch_network one_switch(int machines) { return switched({0}, in_blocks(machines, 1)); }
inline switch_network star_of_4(int machines, double uplink = standard_link_speed) {
  return switched({0, 0, 0, 0}, in_blocks(machines, 4), uplink);
}
inline switch_network line_of_4(int machines, double uplink = standard_link_speed) {
  return switched({0, 0, 1, 2}, in_blocks(machines, 4), uplink);
}
inline switch_network two_levels(int machines) { return switched({0, 0, 0, 1, 1, 2, 2}, in_blocks(machines, 7)); }

inline switch_network random_network(std::mt19937& random, int most_switches, int most_machines) {
  const int switches = 1 + static_cast<int>(random() % most_switches);
  const int machines = 1 + static_cast<int>(random() % most_machines);
  std::vector<int> parent{0}, at;
  for (int s = 1; s < switches; ++s) parent.push_back(static_cast<int>(random() % s));
  for (int m = 0; m < machines; ++m) at.push_back(static_cast<int>(random() % switches));
  return switched(parent, at);
}

// Makes of `word` the next one of digits below `base`, in counting order. Digits before `from` stay. Returns false
// after the last word.
inline bool next_word(std::vector<int>& word, std::size_t from, int base) {
  for (std::size_t i = word.size(); i-- > from;) {
    if (++word[i] < base) return true;
    word[i] = 0;
  }
  return false;
}

inline bool leads_to_first(const std::vector<int>& parent) {
  for (int s : parent) {
    for (std::size_t steps = 0; s != 0 && steps < parent.size(); ++steps) s = parent[s];
    if (s != 0) return false;
  }
  return true;
}

// Visits every labelled tree of so many switches, with every distribution of so many machines.
inline void for_each_network(int switches, int machines, const std::function<void(const switch_network&)>& visit) {
  std::vector<int> parent(switches, 0);
  do {
    if (!leads_to_first(parent)) continue;
    std::vector<int> at(machines, 0);
    do {
      if (std::is_sorted(at.begin(), at.end())) visit(switched(parent, at));
    } while (next_word(at, 0, switches));
  } while (next_word(parent, 1, switches));
}

}  // namespace shoal
