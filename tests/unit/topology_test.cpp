// Topology files, the network they describe, and where its ranks are.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "topology/host_list.hpp"
#include "topology/rank_tree.hpp"
#include "topology/topology_file.hpp"
#include "tree_inputs.hpp"

namespace shoal {
namespace {

using names = std::vector<std::string>;

// ---- names ------------------------------------------------------------------------------------------------

TEST(HostList, ComparesNumbersInNamesAsNumbers) {
  const names ascending{"n", "n0", "n02", "n2", "n10", "n10a", "n10b", "rack1n9", "rack1n10", "rack2n1"};
  for (std::size_t i = 0; i < ascending.size(); ++i)
    for (std::size_t j = 0; j < ascending.size(); ++j)
      EXPECT_EQ(natural_less(ascending[i], ascending[j]), i < j) << ascending[i] << " " << ascending[j];
}

TEST(HostList, Expands) {
  EXPECT_EQ(expand_host_list("n0"), (names{"n0"}));
  EXPECT_EQ(expand_host_list("n[0-2,5],m1"), (names{"n0", "n1", "n2", "n5", "m1"}));
  EXPECT_EQ(expand_host_list("r[1-2]n[08-10]x"), (names{"r1n08x", "r1n09x", "r1n10x", "r2n08x", "r2n09x", "r2n10x"}));
}

TEST(HostList, FoldsToWhatExpandsAgain) {
  EXPECT_EQ(fold_host_list({"n0", "n1", "n2", "n5", "m1"}), "n[0-2,5],m1");
  EXPECT_EQ(fold_host_list({"n08", "n09", "n10"}), "n[08-10]");
  EXPECT_EQ(fold_host_list({"n8", "n9", "n10", "n010"}), "n[8-10,010]");
  EXPECT_EQ(fold_host_list({"login", "n3"}), "login,n3");
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    names list;
    for (int i = 0; i < 1 + round % 12; ++i)
      list.push_back(std::string(1, "ab"[random() % 2]) + (random() % 3 ? "" : "0") + std::to_string(random() % 13));
    EXPECT_EQ(expand_host_list(fold_host_list(list)), list);
  }
}

// ---- what is wrong with a file ------------------------------------------------------------------------------

struct wrong_file {
  const char* text;
  const char* says;
};

TEST(TopologyFile, NamesTheLineAndTheFault) {
  const std::vector<wrong_file> files{
      {"", "f: no switch and no machine"},
      {"# nothing\n\n", "f: no switch and no machine"},
      {"Nodes=n0\n", "f:1: no SwitchName="},
      {"SwitchName=s0 Nods=n0\n", "f:1: 'nods=' is unknown; expected SwitchName=, Nodes=, Switches= or LinkSpeed="},
      {"SwitchName=s0 Nodes=n0\nBlockName=b Nodes=n1\n", "f:2: 'blockname=' is unknown"},
      {"\nSwitchName=s0 Nodes=n0 LinkSpeed=banana\n", "f:2: LinkSpeed=banana is not a speed"},
      {"SwitchName=s0 Nodes=n0 LinkSpeed=0\n", "f:1: LinkSpeed=0 is not a speed"},
      {"SwitchName=s0 Level=low Nodes=n0\n", "f:1: Level=low is not a level"},
      {"SwitchName=s0 Nodes=n0\nSwitchName=s1 Switches=s[0,3]\n", "f:2: switch s3 is described nowhere"},
      {"- topology: a\n  tree:\n    switches:\n      - switch: s0\n        nods: n0\n", "f:5: 'nods:' is unknown"},
      {"- topology: a\n  tree:\n    switches:\n      - switch: s0\n        children: s1\n",
       "f:4: switch s1 is described nowhere"},
      {"---\ntree:\n", "f:2: no topology: before tree:"},
      {"---\n- topology: a\n  block:\n    blocks:\n      - block: b\n        nodes: n0\n",
       "f:2: topology a is not a tree of switches"},
      {"---\n", "f: no switch and no machine"},
      {"- topology: a\n  trees:\n", "f:2: 'trees:' is unknown; expected tree:"},
      {"- topology: a\n  tree:\n    {switch: s0}\n", "f:3: '{switch:' is unknown"},
      {"SwitchName=s0 Nodes\n", "f:1: 'Nodes' is not of the form key=value"},
      {"SwitchName=s0 Nodes=\n", "f:1: 'Nodes=' is not of the form key=value"},
      {"\n=s0\n", "f:2: '=s0' is not of the form key=value"},
      {"SwitchName=s0 Nodes=n0 nodes=n1\n", "f:1: nodes= is given twice"},
      {"SwitchName=s[0-1] Nodes=n0\n", "f:1: 's[0-1]' is not a name"},
      {"SwitchName=s0 Nodes=n0\nSwitchName=s0 Nodes=n1\n", "f:2: switch s0 is already described in line 1"},
      {"SwitchName=s0 Nodes=n[0-1]\n\nSwitchName=s1 Switches=s0 \\\n Nodes=n1\n",
       "f:3: machine n1 already has a link in line 1"},
      {"SwitchName=s0 Nodes=n0\nSwitchName=s1 Switches=n0\n", "f:2: n0 is a switch here but a machine in line 1"},
      {"SwitchName=s0 Nodes=s1\nSwitchName=s1 Nodes=n1\n", "f:2: s1 is a switch here but a machine in line 1"},
      {"SwitchName=s0 Switches=s0\n", "f:1: a link from s0 to itself"},
      {"SwitchName=s0 Switches=s1\nSwitchName=s1 Switches=s0\n", "f:2: the link s1 - s0 is already in line 1"},
      {"SwitchName=s0 Switches=s[1-2]\nSwitchName=s1 Switches=s2\n",
       "f:2: the link s1 - s2 closes a cycle with s1 - s0 - s2; expected a tree"},
      {"SwitchName=s0 Nodes=n0\nSwitchName=s1 Nodes=n1\n", "f:2: s1 is not connected to s0"},
      {"SwitchName=s0 Nodes=n[3-1]\n", "f:1: '3-1' runs backwards"},
      {"SwitchName=s0 Nodes=n[0-\n", "f:1: 'n[0-' has a bracket without its partner"},
      {"SwitchName=s0 Nodes=n0]\n", "f:1: 'n0]' has a bracket without its partner"},
      {"SwitchName=s0 Nodes=n[0-[1]]\n", "has a bracket without its partner"},
      {"SwitchName=s0 Nodes=n[]\n", "f:1: '' is not a range"},
      {"SwitchName=s0 Nodes=n[a-b]\n", "f:1: 'a-b' is not a range"},
      {"SwitchName=s0 Nodes=n[1-2-3]\n", "f:1: '1-2-3' is not a range"},
      {"SwitchName=s0 Nodes=n0,,n1\n", "f:1: 'n0,,n1' has an empty name"},
      {"SwitchName=s0 Nodes=n[0-999999]\n", "f:1: '0-999999' makes more than 131072 names"},
      {"SwitchName=s0 Nodes=n[0-9999999999]\n", "f:1: '0-9999999999' has a number of more than 9 digits"},
      {"SwitchName=s0 Nodes=n[0-999][0-999]\n", "f:1: the brackets make more than 131072 names"},
      {"s0\n", "f:1: 1 word; expected a link as two names"},
      {"s0 n0 1G fast\n", "f:1: 4 words; expected a link as two names"},
      {"s0 n0\ns0 n1 quick\n", "f:2: 'quick' is not a bandwidth"},
      {"s0 n0 0\n", "f:1: '0' is not a bandwidth"},
      {"s0 n0 -1G\n", "f:1: '-1G' is not a bandwidth"},
      {"s0 n0 1X\n", "f:1: '1X' is not a bandwidth"},
      {"s0 n0 1GG\n", "f:1: '1GG' is not a bandwidth"},
      {"s0 n0 nan\n", "f:1: 'nan' is not a bandwidth"},
      {"s0 n0\ns0 n0\n", "f:2: the link s0 - n0 is already in line 1"},
      {"s0 s1\ns1 s2\n\ns0 s2\n", "f:4: the link s0 - s2 closes a cycle with s0 - s1 - s2"},
      {"s0 n0\ns1 n1\n", "f:2: s1 is not connected to s0"},
      {"machine n0\nn0 s0\nn0 s1\n", "f:3: machine n0 already has a link in line 2"},
      {"n0 s0\nn0 s1\nmachine n0\n", "f:3: machine n0 has links in lines 1 and 2"},
      {"switch a\nmachine a\n", "f:2: a is a machine here but a switch in line 1"},
      {"machine\n", "f:1: no name behind 'machine'"},
      {"a\x01 b\n", "is not a name"},
  };
  for (const wrong_file& file : files) try {
      parse_topology(file.text, "f");
      ADD_FAILURE() << "accepted: " << file.text;
    } catch (const topology_error& error) {
      EXPECT_NE(std::string(error.what()).find(file.says), std::string::npos)
          << file.text << "says   " << error.what() << "\nwanted " << file.says;
    }
}

TEST(TopologyFile, SaysThatItCannotBeRead) {
  try {
    read_topology("/nowhere/topology.conf");
    FAIL();
  } catch (const topology_error& error) {
    EXPECT_STREQ(error.what(), "/nowhere/topology.conf: cannot be read; expected a topology file");
    EXPECT_EQ(error.line(), 0);
  }
}

TEST(TopologyFile, NeverDoesAnythingElseThanAnswerOrRefuse) {
  const std::string letters = "s01n[]-,=# \\\n\tSwitchName=Nodes=Switches=machine switch 1G.k";
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (unsigned i = random() % 60; i > 0; --i) text += letters[random() % letters.size()];
    try {
      const switch_network network = parse_topology(text, "f");
      rank_tree tree(network);
    } catch (const topology_error&) {
    }
  }
}

// ---- what a file says ---------------------------------------------------------------------------------------

TEST(TopologyFile, ReadsSlurm) {
  const switch_network network = parse_topology(
      "# Figure 1\n"
      "switchname=s0 NODES=n[0-2]\n"
      "SwitchName=s2\n"
      "SwitchName=s1 Switches=s[0,2,3] \\\r\n"
      "   Nodes=n5   # at the root\n"
      "SwitchName=s3 Nodes=n[3-4]",
      "f");
  EXPECT_EQ(network.nodes().size(), 10u);
  EXPECT_EQ(network.links().size(), 9u);
  EXPECT_FALSE(network.nodes()[network.find("s2")].machine);
  EXPECT_EQ(network.names_of(network.machines()), (names{"n0", "n1", "n2", "n3", "n4", "n5"}));
  for (const network_link& link : network.links()) EXPECT_EQ(link.bits_per_second, standard_link_speed);
}

std::set<std::tuple<std::string, std::string, double>> links_of(const switch_network& network) {
  std::set<std::tuple<std::string, std::string, double>> links;
  for (const network_link& link : network.links()) {
    const auto [a, b] = std::minmax(network.nodes()[link.a].name, network.nodes()[link.b].name);
    links.emplace(a, b, link.bits_per_second);
  }
  return links;
}

std::vector<double> speeds(const switch_network& network) {
  std::vector<double> all;
  for (const network_link& link : network.links()) all.push_back(link.bits_per_second);
  return all;
}

TEST(TopologyFile, ReadsTheSpeedsOfASwitchesLinks) {
  const switch_network network = parse_topology(
      "SwitchName=s0 Nodes=n0 LinkSpeed=100\nSwitchName=s1 Nodes=n1 LinkSpeed=2.5Gbit\n"
      "SwitchName=s2 Switches=s[0-1]\n",
      "f");
  EXPECT_EQ(speeds(network), (std::vector<double>{1e11, 2.5e9, standard_link_speed, standard_link_speed}));
}

// scontrol lists every node again at each switch above it.
TEST(TopologyFile, ReadsWhatScontrolPrints) {
  const switch_network network = parse_topology(
      "SwitchName=s2 Level=1 LinkSpeed=1 Nodes=n[0-4] Switches=s[0-1] \n"
      "SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[0-1] \n"
      "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[2-3] \n",
      "f");
  const switch_network same = parse_topology(
      "SwitchName=s0 Nodes=n[0-1]\nSwitchName=s1 Nodes=n[2-3]\nSwitchName=s2 Switches=s[0-1] Nodes=n4", "f");
  EXPECT_EQ(links_of(network), links_of(same));
}

TEST(TopologyFile, ReadsSlurmsYaml) {
  const std::string text =
      "---\n"
      "- topology: blocks   # not a tree\n"
      "  block:\n"
      "    block_sizes:\n"
      "      - 2\n"
      "    blocks:\n"
      "      - block: b1\n"
      "        nodes: n[0-3]\n"
      "- topology: \"tree\"\n"
      "  cluster_default: false\n"
      "  tree:\n"
      "    switches:\n"
      "      - switch: root\n"
      "        children: s[0-1]\n"
      "      - switch: s0\n"
      "        nodes: 'n[0-1]'\n"
      "      - switch: s1\n"
      "        nodes: n[2-3]\n";
  const switch_network same =
      parse_topology("SwitchName=root Switches=s[0-1]\nSwitchName=s0 Nodes=n[0-1]\nSwitchName=s1 Nodes=n[2-3]\n", "f");
  EXPECT_EQ(links_of(parse_topology(text, "f")), links_of(same));
  const std::string other = "- topology: small\n  cluster_default: true\n  tree:\n    switches:\n      - switch: s\n";
  EXPECT_EQ(parse_topology(text + other, "f").nodes().size(), 1u);
}

TEST(TopologyFile, ReadsEdgeListsWithSpeeds) {
  const switch_network network =
      parse_topology("s0 n[0-1] 100M\ns0 s1 2.5Gbit # trunk\ns1 n2 1000\nswitch s2\ns1 s2\n", "f");
  EXPECT_EQ(network.names_of(network.machines()), (names{"n0", "n1", "n2"}));
  const std::vector<double> speeds{1e8, 1e8, 2.5e9, 1000, standard_link_speed};
  for (std::size_t i = 0; i < speeds.size(); ++i) EXPECT_EQ(network.links()[i].bits_per_second, speeds[i]);
}

TEST(TopologyFile, ReadsTheSmallestNetworks) {
  EXPECT_EQ(parse_topology("machine n0", "f").ranks(), 1);
  EXPECT_EQ(parse_topology("switch s0", "f").ranks(), 0);
  EXPECT_EQ(parse_topology("a b", "f").ranks(), 2);  // two machines back to back
  EXPECT_EQ(parse_topology("SwitchName=s0", "f").ranks(), 0);
}

TEST(TopologyFile, WritesWhatItReadsAgain) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const switch_network network = random_network(random, 12, 40);
    const switch_network slurm = parse_topology(to_slurm(network), "f");
    const switch_network edges = parse_topology(to_edge_list(network), "f");
    EXPECT_EQ(links_of(slurm), links_of(network));
    EXPECT_EQ(links_of(edges), links_of(network));
    EXPECT_EQ(edges.nodes(), network.nodes());
    EXPECT_EQ(slurm.machines().size(), network.machines().size());
  }
  const switch_network speeds = parse_topology("a b 2.5G\nb c 1001\nb d 1T\nb e 0.5G\n", "f");
  EXPECT_EQ(links_of(parse_topology(to_edge_list(speeds), "f")), links_of(speeds));
  EXPECT_THROW(to_slurm(parse_topology("a b", "f")), std::invalid_argument);
}

TEST(TopologyFile, WritesNamesThatAreWordsOfTheFormat) {
  const switch_network network = parse_topology("SwitchName=switch Nodes=machine Switches=s1\nSwitchName=s1\n", "f");
  EXPECT_THROW(to_edge_list(network), std::invalid_argument);
  const switch_network other = parse_topology("SwitchName=switch Nodes=n0 Switches=s1\nSwitchName=s1\n", "f");
  EXPECT_EQ(links_of(parse_topology(to_edge_list(other), "f")), links_of(other));
}

TEST(SwitchNetwork, RefusesWhatIsNotATree) {
  const std::vector<network_node> nodes{{"s0", false}, {"s1", false}, {"n0", true}};
  EXPECT_NO_THROW(switch_network(nodes, {{0, 1, 1}, {0, 2, 1}}));
  EXPECT_THROW(switch_network(nodes, {{0, 1, 1}}), std::invalid_argument);                        // disconnected
  EXPECT_THROW(switch_network(nodes, {{0, 1, 1}, {1, 0, 1}}), std::invalid_argument);             // cycle
  EXPECT_THROW(switch_network(nodes, {{0, 2, 1}, {2, 1, 1}}), std::invalid_argument);             // machine inside
  EXPECT_THROW(switch_network(nodes, {{0, 1, 1}, {0, 3, 1}}), std::invalid_argument);             // no such node
  EXPECT_THROW(switch_network(nodes, {{0, 1, 0}, {0, 2, 1}}), std::invalid_argument);             // no bandwidth
  EXPECT_THROW(switch_network({{"a", false}, {"a", true}}, {{0, 1, 1}}), std::invalid_argument);  // one name twice
}

// ---- ranks --------------------------------------------------------------------------------------------------

TEST(SwitchNetwork, KnowsTheSwitchesOfRanks) {
  switch_network network({{"top", false}, {"s0", false}, {"s1", false}, {"n0", true}, {"n1", true}, {"n2", true}},
                         {{0, 1, 1}, {2, 0, 1}, {3, 1, 1}, {1, 4, 1}, {5, 2, 1}});
  network.place_ranks({"n2", "n0", "n1", "n0"});
  EXPECT_EQ(network.switch_of_ranks(), (std::vector<int>{2, 1, 1, 1}));
}

TEST(SwitchNetwork, PlacesRanksByHostName) {
  switch_network network = one_switch(12);
  EXPECT_EQ(network.hosts()[10], "n10");  // natural order
  network.place_ranks({"n3", "n3", "n0.cluster.example.org"});
  EXPECT_EQ(network.ranks(), 3);
  EXPECT_EQ(network.hosts(), (names{"n3", "n3", "n0"}));
  const auto complaint = [&](const names& hosts) {
    try {
      network.place_ranks(hosts);
      return std::string("none");
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(complaint({"n0", "m7"}),
            "rank 1 is on host 'm7', which the topology does not have; its machines are n[0-11]");
  EXPECT_EQ(complaint({"s0"}), "rank 0 is on host 's0', which is a switch in the topology; its machines are n[0-11]");
  EXPECT_EQ(network.ranks(), 3);  // unchanged
}

TEST(SwitchNetwork, RemembersUntilItChanges) {
  switch_network network = one_switch(4);
  int made = 0;
  const auto count = [&] { return *network.remember<int>("key", [&] { return ++made; }); };
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(count(), 1);
  network.place_ranks({"n0", "n1"});
  EXPECT_EQ(count(), 2);
  const switch_network copy = network;
  network.choose_root("s0");
  EXPECT_EQ(count(), 3);
  EXPECT_EQ(*copy.remember<int>("key", [] { return 0; }), 2);
}

TEST(RankTree, FindsTheRoot) {
  switch_network tie = parse_topology(
      "SwitchName=s0 Nodes=n[0-2]\nSwitchName=s1 Switches=s[0,2,3] Nodes=n5\nSwitchName=s2\nSwitchName=s3 "
      "Nodes=n[3-4]\n",
      "f");
  const rank_tree free_choice(tie);
  EXPECT_EQ(tie.names_of(free_choice.centroids()), (names{"s1", "s0"}));  // three branches before four
  EXPECT_EQ(free_choice.root(), tie.find("s1"));
  EXPECT_EQ(free_choice.groups(), (std::vector<std::vector<int>>{{0, 1, 2}, {3, 4}, {5}}));
  tie.choose_root("s0");
  EXPECT_EQ(rank_tree(tie).groups(), (std::vector<std::vector<int>>{{3, 4, 5}, {0}, {1}, {2}}));
  tie.choose_root("s3");
  try {
    rank_tree refused(tie);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "s3 cannot be the root: a branch has 4 of 6 ranks, more than half; possible: s[1,0]");
  }
  EXPECT_THROW(tie.choose_root("s9"), std::invalid_argument);
}

TEST(RankTree, KnowsLoadsAndBounds) {
  const switch_network network = line_of_4(32);
  const rank_tree tree(network);
  const link_bound bound = uniform_bound(tree);
  EXPECT_EQ(bound.phases, 256);  // 16 * 16 on the middle link
  EXPECT_EQ(tree.load(bound.link), 256);
  EXPECT_DOUBLE_EQ(bound.seconds(262144), 256 * 262144 * 8 / 1e9);
  EXPECT_EQ(bytes_on_wire(0), 0);
  EXPECT_EQ(bytes_on_wire(1448), 1538);
  EXPECT_EQ(bytes_on_wire(1449), 1449 + 180);
  std::vector<std::int64_t> bytes(32 * 32, 1000);
  EXPECT_DOUBLE_EQ(sized_bound(tree, bytes), bound.seconds(1000));
  bytes[0 * 32 + 1] = 1000000;  // one large block decides: 30 others and this one leave rank 0
  EXPECT_DOUBLE_EQ(sized_bound(tree, bytes), (1000000 + 30 * 1000) * 8 / 1e9);
}

TEST(RankTree, BoundsTheFasterLinksByTheirStreams) {
  const std::vector<std::pair<double, int>> expected{{1e9, 192}, {2e9, 96}, {2.5e9, 96}, {3e9, 64}, {8e9, 31}};
  for (const auto& [speed, phases] : expected) {
    const switch_network network = star_of_4(32, speed);
    EXPECT_EQ(uniform_bound(rank_tree(network)).phases, phases) << speed;
  }
  const switch_network network = star_of_4(32, 2.5e9);  // time counts the whole speed
  EXPECT_DOUBLE_EQ(uniform_bound(rank_tree(network)).seconds(1), 192 * 8 / 2.5e9);
}

TEST(RankTree, ManyRanksOfOneMachineUseNoCable) {
  switch_network network = one_switch(2);
  network.place_ranks({"n0", "n0", "n0"});
  const rank_tree tree(network);
  EXPECT_EQ(uniform_bound(tree).phases, 2);
  EXPECT_EQ(uniform_bound(tree).link, -1);
  EXPECT_EQ(uniform_bound(tree).seconds(1000), 0);
}

}  // namespace
}  // namespace shoal
