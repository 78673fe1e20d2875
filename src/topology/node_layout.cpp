#include "topology/node_layout.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "schedule/text.hpp"

namespace shoal {

namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& what) {
  throw std::invalid_argument("layout '" + std::string(text) + "': " + what +
                              "; allowed: ranks per node (4,4,3), nodes x ranks per node (8x8), cyclic: before either "
                              "(cyclic:3x4), the ranks of each node (0,3,6/1,4/2,5)");
}

int number(std::string_view whole, std::string_view part, int lowest, const char* meaning) {
  const auto value = to_number(part);
  if (!value || *value < lowest || *value > node_layout::most_ranks)
    refuse(whole, "'" + std::string(part) + "' is not " + meaning + " (a whole number from " + std::to_string(lowest) +
                      " to " + std::to_string(node_layout::most_ranks) + ")");
  return *value;
}

// "4,4,3" or "8x8".
std::vector<int> parse_sizes(std::string_view whole, std::string_view text) {
  std::vector<int> sizes;
  if (const auto parts = split(text, 'x'); parts.size() == 2) {
    const int nodes = number(whole, parts[0], 1, "a number of nodes");
    const int each = number(whole, parts[1], 1, "a number of ranks");
    if (nodes > node_layout::most_ranks / each)
      refuse(whole, "more than " + std::to_string(node_layout::most_ranks) + " ranks");
    sizes.assign(nodes, each);
    return sizes;
  }
  std::int64_t ranks = 0;
  for (std::string_view part : split(text, ',')) {
    sizes.push_back(number(whole, part, 1, "a number of ranks"));
    ranks += sizes.back();
    if (ranks > node_layout::most_ranks)
      refuse(whole, "more than " + std::to_string(node_layout::most_ranks) + " ranks");
  }
  return sizes;
}

std::vector<int> in_order(int ranks) {
  std::vector<int> numbers(ranks);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Ranks 0, 1, 2, ... go to the nodes in turn; a full node is passed over.
std::vector<int> deal_cyclic(const std::vector<int>& sizes) {
  std::vector<int> first(sizes.size());
  std::exclusive_scan(sizes.begin(), sizes.end(), first.begin(), 0);
  std::vector<int> by_virtual(first.back() + sizes.back());
  std::vector<int> open = in_order(static_cast<int>(sizes.size()));
  int rank = 0;
  for (int turn = 0; !open.empty(); ++turn) {
    for (int node : open) by_virtual[first[node] + turn] = rank++;
    std::erase_if(open, [&](int node) { return sizes[node] == turn + 1; });
  }
  return by_virtual;
}

// What is wrong with these lists; empty if nothing is.
std::string fault_in(const std::vector<std::vector<int>>& lists, std::size_t ranks) {
  std::vector<char> seen(ranks, 0);
  for (const auto& list : lists) {
    if (list.empty()) return "a node has no ranks";
    for (int rank : list) {
      if (rank < 0 || static_cast<std::size_t>(rank) >= ranks)
        return "rank " + std::to_string(rank) + " is named but there are only " + std::to_string(ranks) +
               " ranks, 0 to " + std::to_string(ranks - 1);
      if (seen[rank]++) return "rank " + std::to_string(rank) + " is named twice";
    }
  }
  return lists.empty() ? "there are no nodes" : "";
}

std::size_t total_size(const std::vector<std::vector<int>>& lists) {
  std::size_t sum = 0;
  for (const auto& list : lists) sum += list.size();
  return sum;
}

}  // namespace

node_layout::node_layout(const std::vector<int>& sizes, std::vector<int> by_virtual)
    : node_(by_virtual.size()), virtual_(by_virtual.size()), by_virtual_(std::move(by_virtual)), first_{0} {
  for (int size : sizes) {
    const int node = nodes();
    for (int v = first_.back(); v < first_.back() + size; ++v) {
      node_[by_virtual_[v]] = node;
      virtual_[by_virtual_[v]] = v;
    }
    first_.push_back(first_.back() + size);
    largest_ = std::max(largest_, size);
  }
}

node_layout node_layout::from_node_ids(std::span<const int> node_of_rank) {
  std::unordered_map<int, std::size_t> number_of;  // by smallest rank, as ranks are met in ascending order
  std::vector<std::vector<int>> lists;
  for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank) {
    const auto [found, added] = number_of.try_emplace(node_of_rank[rank], lists.size());
    if (added) lists.emplace_back();
    lists[found->second].push_back(static_cast<int>(rank));
  }
  return from_lists(lists);
}

node_layout node_layout::one_rank_per_node(int ranks) { return {std::vector<int>(ranks, 1), in_order(ranks)}; }

node_layout node_layout::from_lists(const std::vector<std::vector<int>>& ranks_of_nodes) {
  if (const std::string fault = fault_in(ranks_of_nodes, total_size(ranks_of_nodes)); !fault.empty())
    throw std::invalid_argument("layout: " + fault);
  std::vector<int> sizes, by_virtual;
  for (const auto& list : ranks_of_nodes) {
    sizes.push_back(static_cast<int>(list.size()));
    by_virtual.insert(by_virtual.end(), list.begin(), list.end());
  }
  return {sizes, std::move(by_virtual)};
}

node_layout node_layout::parse(std::string_view text) {
  if (text.find('/') != std::string_view::npos) {
    std::vector<std::vector<int>> lists;
    for (std::string_view node : split(text, '/')) {
      lists.emplace_back();
      for (std::string_view part : split(node, ',')) lists.back().push_back(number(text, part, 0, "a rank"));
    }
    if (const std::string fault = fault_in(lists, total_size(lists)); !fault.empty()) refuse(text, fault);
    return from_lists(lists);
  }
  constexpr std::string_view cyclic = "cyclic:";
  if (text.starts_with(cyclic)) {
    const auto sizes = parse_sizes(text, text.substr(cyclic.size()));
    return {sizes, deal_cyclic(sizes)};
  }
  const auto sizes = parse_sizes(text, text);
  return {sizes, in_order(std::accumulate(sizes.begin(), sizes.end(), 0))};
}

std::string to_string(const node_layout& layout) {
  bool in_order = true, equal = true;
  std::string sizes, lists;
  for (int node = 0; node < layout.nodes(); ++node) {
    sizes += (node ? "," : "") + std::to_string(layout.size_of(node));
    equal = equal && layout.size_of(node) == layout.size_of(0);
    std::string list;
    for (const int rank : layout.ranks_of(node)) {
      in_order = in_order && layout.virtual_rank(rank) == rank;
      list += (list.empty() ? "" : ",") + std::to_string(rank);
    }
    lists += (node ? "/" : "") + list;
  }
  if (!in_order && layout.nodes() > 1) return lists;
  return equal ? std::to_string(layout.nodes()) + "x" + std::to_string(layout.size_of(0)) : sizes;
}

}  // namespace shoal
