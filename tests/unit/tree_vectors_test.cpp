// The test data of the tree specification, in tests/vectors/vectors-tree.json.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "algorithms/tree_orders.hpp"
#include "algorithms/tree_phases.hpp"
#include "algorithms/tree_tokens.hpp"
#include "topology/topology_file.hpp"

namespace shoal {
namespace {

using nlohmann::json;
using lists = std::vector<std::vector<int>>;

const json& vectors() {
  static const json data = json::parse(std::ifstream(SHOAL_VECTORS "/vectors-tree.json"));
  return data;
}

std::string crc32(const std::string& text) {
  std::uint32_t crc = ~0u;
  for (unsigned char c : text) {
    crc ^= c;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", ~crc);
  return digits;
}

// The checksum of the table's lines "p i x j y", in order.
std::string crc_of_table(const std::vector<int>& sizes) {
  const phase_table table(sizes);
  std::vector<std::array<std::int64_t, 5>> lines;
  for (int i = 0; i < table.groups(); ++i)
    for (int j = 0; j < table.groups(); ++j)
      for (int x = 0; x < sizes[i]; ++x)
        for (int y = 0; y < sizes[j]; ++y)
          if (i != j || x != y) lines.push_back({table.phase(i, x, j, y), i, x, j, y});
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const auto& line : lines)
    for (std::size_t k = 0; k < line.size(); ++k) text += std::to_string(line[k]) + (k + 1 < line.size() ? " " : "\n");
  return crc32(text);
}

switch_network network_of(const json& topology) {
  switch_network network = parse_topology(topology["slurm"].get<std::string>(), topology["name"]);
  if (topology["root_given"].get<bool>()) network.choose_root(topology["root"].get<std::string>());
  return network;
}

lists flat_phases(const std::vector<message>& ordered) {
  lists phases(phases_of(ordered));
  for (const message& m : ordered) phases[m.phase].insert(phases[m.phase].end(), {m.from, m.to});
  return phases;
}

lists flat_waits(const std::vector<message>& ordered, const synchronisations& waits) {
  lists list;
  for (const auto& [before, after] : waits.kept) {
    const message &a = ordered[before], &b = ordered[after];
    list.push_back({a.phase, a.from, a.to, b.phase, b.from, b.to});
  }
  std::sort(list.begin(), list.end());
  return list;
}

TEST(TreeVectors, Tables) {
  for (const json& entry : vectors()["size_vectors"]) {
    const auto sizes = entry["sizes"].get<std::vector<int>>();
    EXPECT_EQ(phase_table(sizes).phases(), entry["num_phases"].get<int>());
    EXPECT_EQ(crc_of_table(sizes), entry["crc32"].get<std::string>());
  }
}

TEST(TreeVectors, RootsAndSubtrees) {
  for (const json& entry : vectors()["topologies"]) {
    if (entry["num_messages"] == 0) continue;  // one machine has no root
    const switch_network network = network_of(entry);
    const rank_tree tree(network);
    std::vector<std::string> centroids = network.names_of(tree.centroids());
    std::sort(centroids.begin(), centroids.end());
    EXPECT_EQ(network.nodes()[tree.root()].name, entry["root"].get<std::string>());
    EXPECT_EQ(centroids, entry["centroids"].get<std::vector<std::string>>());
    std::vector<std::vector<std::string>> subtrees;
    for (const auto& group : tree.groups()) {
      subtrees.emplace_back();
      for (int rank : group) subtrees.back().push_back(network.hosts()[rank]);
    }
    EXPECT_EQ(subtrees, entry["subtrees"].get<std::vector<std::vector<std::string>>>());
  }
}

TEST(TreeVectors, PhasesAndSynchronisations) {
  for (const json& entry : vectors()["topologies"]) {
    SCOPED_TRACE(entry["name"].get<std::string>());
    const switch_network network = network_of(entry);
    const rank_tree tree(network);
    const std::vector<message> ordered = phased_order(tree);
    EXPECT_EQ(phases_of(ordered), entry["num_phases"].get<int>());
    const lists phases = flat_phases(ordered);
    EXPECT_EQ(phases, entry.value("phases", phases));
    const json& sync = entry["sync"];
    const auto exact = synchronise(tree, ordered, 1, reduction::exact);
    const auto chain2 = synchronise(tree, ordered, 1, reduction::chain2);
    EXPECT_EQ(contending_pairs(tree), sync["before"].get<std::int64_t>());
    EXPECT_EQ(exact.candidates, sync["candidates"].get<std::int64_t>());
    EXPECT_EQ(chain2.candidates, sync["candidates"].get<std::int64_t>());
    EXPECT_EQ(exact.kept.size(), sync["after_exact"].get<std::size_t>());
    EXPECT_EQ(chain2.kept.size(), sync["after_chain2"].get<std::size_t>());
    const lists waits = flat_waits(ordered, exact);
    EXPECT_EQ(waits, sync.value("list", waits));
  }
}

// Section 5 of the tree specification, table 2 of the paper: the senders and receivers of t_0 -> t_1 in the order of
// their phases. Receivers are counted from the one with which the alignment to the end of the schedule starts.
TEST(TreeVectors, RotatePattern) {
  const std::vector<int> sizes{6, 4, 2};
  const phase_table table(sizes);
  std::vector<std::array<int, 2>> pattern(24);
  for (int x = 0; x < 6; ++x)
    for (int y = 0; y < 4; ++y) pattern[table.phase(0, x, 1, y)] = {x, y};
  const int first = pattern[0][1];
  for (std::size_t q = 0; q < pattern.size(); ++q) {
    const json& expected = vectors()["rotate_6x4"][q];
    EXPECT_EQ(pattern[q][0], expected[0].get<int>());
    EXPECT_EQ((pattern[q][1] - first + 4) % 4, expected[1].get<int>());
  }
}

}  // namespace
}  // namespace shoal
