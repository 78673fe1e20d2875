#include "topology/layout_tree.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <unordered_map>

#include "schedule/text.hpp"

namespace shoal {

namespace {

constexpr std::size_t most_levels = 16;

[[noreturn]] void refuse(std::string_view text, const std::string& what) {
  throw std::invalid_argument(
      "layout '" + std::string(text) + "': " + what +
      "; allowed: levels from the outside in (group:4 node:8 socket:2 core:8; also with / between), a "
      "number for each group (node:3 core:4,4,3), at the end the order of the ranks (node:2 core:2 "
      "ranks:0,2,1,3)");
}

std::vector<int> numbers(std::string_view whole, std::string_view text, int lowest) {
  std::vector<int> all;
  for (std::string_view part : split(text, ',')) {
    const auto value = to_number(part);
    if (!value || *value < lowest || *value > node_layout::most_ranks)
      refuse(whole, "'" + std::string(part) + "' is not a whole number from " + std::to_string(lowest) + " to " +
                        std::to_string(node_layout::most_ranks));
    all.push_back(*value);
  }
  return all;
}

std::vector<int> in_order(int ranks) {
  std::vector<int> all(ranks);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::int64_t sum(const std::vector<int>& all) { return std::accumulate(all.begin(), all.end(), std::int64_t{0}); }

bool is_name(std::string_view text) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && text != "ranks" && std::all_of(text.begin(), text.end(), fits);
}

// What is wrong with the levels, which come from the outside in; empty if nothing is.
std::string fault_in(const std::vector<layout_tree::level>& levels) {
  std::int64_t groups = 1;
  for (auto at = levels.begin(); at != levels.end(); ++at) {
    const auto same = [&](const auto& other) { return other.name == at->name; };
    if (!is_name(at->name)) return "'" + at->name + "' cannot name a level";
    if (std::any_of(levels.begin(), at, same)) return "there are two levels " + at->name;
    if (static_cast<std::int64_t>(at->members.size()) != groups)
      return at->name + " has " + std::to_string(at->members.size()) + " numbers for " + std::to_string(groups) +
             " groups";
    if (std::any_of(at->members.begin(), at->members.end(), [](int m) { return m < 1; }))
      return "a group of the level " + at->name + " is empty";
    groups = sum(at->members);
    if (groups > node_layout::most_ranks) return "more than " + std::to_string(node_layout::most_ranks) + " ranks";
  }
  if (levels.size() > most_levels) return "more than " + std::to_string(most_levels) + " levels";
  return levels.empty() ? "there are no levels" : "";
}

// Puts a node around levels without one, and cores into nodes without levels inside. Returns what is wrong with the
// levels then; nothing if all is well.
std::string complete(std::vector<layout_tree::level>& levels) {
  if (std::string fault = fault_in(levels); !fault.empty()) return fault;
  const auto is_node = [](const layout_tree::level& l) { return l.name == "node"; };
  std::string added;
  if (std::none_of(levels.begin(), levels.end(), is_node)) {
    levels.insert(levels.begin(), {"node", {1}});
    added = ", with the node that is put around them";
  } else if (is_node(levels.back())) {
    levels.push_back({"core", std::vector<int>(sum(levels.back().members), 1)});
    added = ", with the one that is put inside the nodes";
  }
  const std::string fault = fault_in(levels);
  return fault.empty() ? "" : fault + added;
}

std::string fault_in(const std::vector<int>& order, std::int64_t ranks) {
  const auto count = static_cast<std::int64_t>(order.size());
  if (count != ranks) return std::to_string(count) + " ranks are listed for " + std::to_string(ranks) + " places";
  std::vector<char> seen(order.size(), 0);
  for (const int rank : order) {
    if (rank < 0 || rank >= ranks) return "there is no rank " + std::to_string(rank);
    if (seen[rank]++) return "rank " + std::to_string(rank) + " is listed twice";
  }
  return "";
}

std::vector<layout_tree::level> levels_of(const node_layout& nodes) {
  std::vector<int> sizes;
  for (int n = 0; n < nodes.nodes(); ++n) sizes.push_back(nodes.size_of(n));
  return {{"node", {nodes.nodes()}}, {"core", sizes}};
}

std::vector<int> order_of(const node_layout& nodes) {
  std::vector<int> order = in_order(nodes.ranks());
  std::transform(order.begin(), order.end(), order.begin(), [&](int v) { return nodes.rank_at(v); });
  return order;
}

// The ranks, which ascend, parted by their ids. The parts are ordered by their smallest rank, and ranks ascend in them.
std::vector<std::vector<int>> apart(const std::vector<int>& ranks, const std::vector<int>& ids) {
  std::unordered_map<int, std::size_t> number_of;
  std::vector<std::vector<int>> parts;
  for (const int rank : ranks) {
    const auto [found, added] = number_of.try_emplace(ids[rank], parts.size());
    if (added) parts.emplace_back();
    parts[found->second].push_back(rank);
  }
  return parts;
}

std::string joined(const std::vector<int>& all) {
  std::string text;
  for (const int one : all) text += (text.empty() ? "" : ",") + std::to_string(one);
  return text;
}

}  // namespace

layout_tree::layout_tree(std::vector<level> levels, std::vector<int> by_virtual)
    : begins_{in_order(static_cast<int>(by_virtual.size()) + 1)}, by_virtual_(std::move(by_virtual)) {
  std::string fault = complete(levels);
  if (fault.empty()) fault = fault_in(by_virtual_, sum(levels.back().members));
  if (!fault.empty()) throw std::invalid_argument("layout: " + fault);
  for (auto at = levels.rbegin(); at != levels.rend(); ++at) add_level(*at);
  node_level_ = static_cast<int>(std::find(names_.begin(), names_.end(), "node") - names_.begin());
  virtual_.resize(by_virtual_.size());
  for (int v = 0; v < ranks(); ++v) virtual_[by_virtual_[v]] = v;
}

void layout_tree::add_level(const level& of) {
  std::vector<int> begins{0};
  int members = 0;
  for (const int count : of.members) begins.push_back(begins_.back()[members += count]);
  names_.push_back(of.name);
  begins_.push_back(std::move(begins));
}

layout_tree::layout_tree(const node_layout& nodes) : layout_tree(levels_of(nodes), order_of(nodes)) {}

layout_tree layout_tree::from_ids(const std::vector<shared_ids>& outermost_first) {
  const std::size_t ranks = outermost_first.empty() ? 0 : outermost_first[0].ids.size();
  std::vector<std::vector<int>> groups{in_order(static_cast<int>(ranks))};
  std::vector<level> levels;
  for (const auto& [name, ids] : outermost_first) {
    if (ids.size() != ranks) throw std::invalid_argument("layout: not every rank has an id for " + name);
    std::vector<std::vector<int>> inside;
    levels.push_back({name, {}});
    for (const auto& group : groups) {
      auto parts = apart(group, ids);
      levels.back().members.push_back(static_cast<int>(parts.size()));
      std::move(parts.begin(), parts.end(), std::back_inserter(inside));
    }
    groups = std::move(inside);
  }
  levels.push_back({"core", {}});
  std::vector<int> order;
  for (const auto& group : groups) {
    levels.back().members.push_back(static_cast<int>(group.size()));
    order.insert(order.end(), group.begin(), group.end());
  }
  return {std::move(levels), std::move(order)};
}

layout_tree layout_tree::found(std::vector<shared_ids> all) {
  for (std::size_t at = all.size(); at-- > 0;) {
    const layout_tree tree = from_ids(all);
    const int level = tree.levels() - 1 - static_cast<int>(at);
    const bool tells = tree.most_members(level, level + 1) > 1 && tree.most_members(level - 1, level) > 1;
    if (!tells && all[at].name != "node") all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return from_ids(all);
}

layout_tree layout_tree::parse(std::string_view text) {
  if (text.find(':') == std::string_view::npos || text.starts_with("cyclic:"))
    return layout_tree(node_layout::parse(text));
  std::vector<level> levels;
  std::vector<int> order;
  std::string entries(text);
  std::replace(entries.begin(), entries.end(), '/', ' ');
  for (std::string_view entry : split(entries, ' ')) {
    if (entry.empty()) continue;
    const std::size_t colon = std::min(entry.find(':'), entry.size());
    const std::string name(entry.substr(0, colon));
    if (colon == entry.size()) refuse(text, "'" + name + "' is not of the form level:members");
    if (!order.empty()) refuse(text, "ranks: must come last");
    if (name == "ranks") {
      order = numbers(text, entry.substr(colon + 1), 0);
      continue;
    }
    const std::int64_t groups = levels.empty() ? 1 : sum(levels.back().members);
    levels.push_back({name, numbers(text, entry.substr(colon + 1), 1)});
    if (levels.back().members.size() == 1) levels.back().members.resize(groups, levels.back().members[0]);
    if (const std::string fault = fault_in(levels); !fault.empty()) refuse(text, fault);
  }
  if (const std::string fault = complete(levels); !fault.empty()) refuse(text, fault);
  if (order.empty()) order = in_order(static_cast<int>(sum(levels.back().members)));
  if (const std::string fault = fault_in(order, sum(levels.back().members)); !fault.empty()) refuse(text, fault);
  return {std::move(levels), std::move(order)};
}

int layout_tree::group_level() const {
  return static_cast<int>(std::find(names_.begin() + node_level_, names_.end(), "group") - names_.begin());
}

virtual_range layout_tree::group(int height, int virtual_rank) const {
  const std::vector<int>& begins = begins_[height];
  const auto end = std::upper_bound(begins.begin(), begins.end(), virtual_rank);
  return {*(end - 1), *end - *(end - 1)};
}

std::span<const int> layout_tree::members(int height, const virtual_range& group) const {
  const std::vector<int>& begins = begins_[height];
  const auto first = std::lower_bound(begins.begin(), begins.end(), group.first);
  return {first, std::lower_bound(first, begins.end(), group.first + group.size) + 1};
}

int layout_tree::most_members(int height, int outer) const {
  std::size_t most = 0;
  for (int v = 0; v < ranks();) {
    const virtual_range around = group(outer, v);
    most = std::max(most, members(height, around).size() - 1);
    v += around.size;
  }
  return static_cast<int>(most);
}

int layout_tree::largest_group(int height) const { return most_members(0, height); }

node_layout layout_tree::nodes() const {
  std::vector<std::vector<int>> lists;
  for (int v = 0; v < ranks();) {
    const virtual_range node = group(node_level_, v);
    const auto members = ranks_of(node);
    lists.emplace_back(members.begin(), members.end());
    v += node.size;
  }
  return node_layout::from_lists(lists);
}

std::string to_string(const layout_tree& layout) {
  if (layout.names_ == std::vector<std::string>{"core", "node"}) return to_string(layout.nodes());
  std::string text;
  for (int l = layout.levels() - 1; l >= 0; --l) {
    std::vector<int> counts;
    for (std::size_t g = 0; g + 1 < layout.begins_[l + 1].size(); ++g) {
      const int begin = layout.begins_[l + 1][g], end = layout.begins_[l + 1][g + 1];
      counts.push_back(static_cast<int>(layout.members(l, {begin, end - begin}).size()) - 1);
    }
    if (std::equal(counts.begin() + 1, counts.end(), counts.begin())) counts.resize(1);
    text += (text.empty() ? "" : " ") + layout.name(l) + ":" + joined(counts);
  }
  const bool ordered = std::is_sorted(layout.by_virtual_.begin(), layout.by_virtual_.end());
  return ordered ? text : text + " ranks:" + joined(layout.by_virtual_);
}

}  // namespace shoal
