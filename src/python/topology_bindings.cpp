// Networks, their trees and plans, and what is written from schedules; part of shoal._core.
#include "python/topology_bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "algorithms/algorithm.hpp"
#include "algorithms/exchange_plan.hpp"
#include "emit/emit.hpp"
#include "topology/host_list.hpp"
#include "topology/link_checker.hpp"
#include "topology/topology_file.hpp"

namespace nb = nanobind;
using namespace shoal;

namespace {

using names = std::vector<std::string>;
using flat = std::vector<std::vector<int>>;

// A rooted network with the names of its nodes.
struct named_tree {
  explicit named_tree(const switch_network& n) : network(n), tree(n) {}
  std::string name(int node) const { return network.nodes()[node].name; }  // not for leaves inside a machine
  switch_network network;
  rank_tree tree;
};

struct named_link {
  std::string above, below;
  int ranks_below;
  std::int64_t load;
  int streams;
  double bits_per_second;
};

named_link link_above(const named_tree& t, int node) {
  return {t.name(t.tree.parent(node)), t.name(node),         t.tree.ranks_below(node),
          t.tree.load(node),           t.tree.streams(node), t.tree.bits_per_second(node)};
}

std::vector<named_link> cables(const named_tree& t) {
  std::vector<named_link> links;
  for (int node : t.tree.top_down())
    if (t.tree.is_cable(node)) links.push_back(link_above(t, node));
  return links;
}

std::optional<named_link> bottleneck(const named_tree& t) {
  const int link = uniform_bound(t.tree).link;
  return link < 0 ? std::nullopt : std::optional(link_above(t, link));
}

flat flat_phases(const exchange_plan& plan) {
  flat phases(phases_of(plan.messages()));
  for (const message& m : plan.messages()) phases[m.phase].insert(phases[m.phase].end(), {m.from, m.to});
  return phases;
}

flat flat_synchronisations(const exchange_plan& plan) {
  flat list;
  for (const auto& [before, after] : plan.waits().kept) {
    const message &a = plan.messages()[before], &b = plan.messages()[after];
    list.push_back({a.phase, a.from, a.to, b.phase, b.from, b.to});
  }
  std::sort(list.begin(), list.end());
  return list;
}

void require_matrix(const rank_tree& tree, const std::vector<std::int64_t>& bytes) {
  const std::size_t ranks = tree.ranks();
  if (bytes.size() != ranks * ranks)
    throw std::invalid_argument(std::to_string(bytes.size()) + " sizes are given; for " + std::to_string(ranks) +
                                " ranks there are " + std::to_string(ranks * ranks) + ", by sender and then receiver");
}

exchange_plan make_plan(const rank_tree& tree, std::vector<message> ordered, int window, std::string_view sync,
                        std::size_t empty = 0) {
  if (window < 1) throw std::invalid_argument("window " + std::to_string(window) + " is below 1");
  return {tree, std::move(ordered), window, parse_reduction(sync, tree.ranks()), empty};
}

exchange_plan plan_exchange(const named_tree& t, int window, std::string_view sync) {
  return make_plan(t.tree, phased_order(t.tree), window, sync);
}

std::pair<exchange_plan, double> plan_sizes(const named_tree& t, const std::vector<std::int64_t>& bytes, int window,
                                            std::string_view sync) {
  require_matrix(t.tree, bytes);
  sized_order order = list_greedy_order(t.tree, bytes);
  return {make_plan(t.tree, std::move(order.messages), window, sync, order.empty), order.seconds};
}

problem make_problem(const switch_network& network) {
  problem at;
  at.ranks = network.ranks();
  at.switches = std::make_shared<const switch_network>(network);
  return at;
}

void bind_network(nb::module_& m) {
  nb::class_<switch_network>(m, "Network")
      .def_prop_ro("ranks", &switch_network::ranks)
      .def_prop_ro("hosts", &switch_network::hosts)
      .def_prop_ro("machines", [](const switch_network& n) { return n.names_of(n.machines()); })
      .def_prop_ro("nodes",
                   [](const switch_network& n) {
                     std::vector<std::pair<std::string, bool>> nodes;
                     for (const network_node& node : n.nodes()) nodes.emplace_back(node.name, node.machine);
                     return nodes;
                   })
      .def_prop_ro("links",
                   [](const switch_network& n) {
                     std::vector<std::tuple<std::string, std::string, double>> links;
                     for (const network_link& l : n.links())
                       links.emplace_back(n.nodes()[l.a].name, n.nodes()[l.b].name, l.bits_per_second);
                     return links;
                   })
      .def("place_ranks", &switch_network::place_ranks, nb::arg("hosts"))
      .def("choose_root", &switch_network::choose_root, nb::arg("name"))
      .def("problem", make_problem)
      .def("to_slurm", to_slurm)
      .def("to_edge_list", to_edge_list);
  m.def("read_topology", read_topology, nb::arg("path"));
  m.def("parse_topology", parse_topology, nb::arg("text"), nb::arg("file") = "topology");
  m.def("expand_host_list", expand_host_list, nb::arg("hosts"));
  m.def("fold_host_list", fold_host_list, nb::arg("names"));
}

void bind_tree(nb::module_& m) {
  nb::class_<named_link>(m, "TreeLink")
      .def_ro("above", &named_link::above)
      .def_ro("below", &named_link::below)
      .def_ro("ranks_below", &named_link::ranks_below)
      .def_ro("load", &named_link::load)
      .def_ro("streams", &named_link::streams)
      .def_ro("bits_per_second", &named_link::bits_per_second);
  nb::class_<named_tree>(m, "Tree")
      .def(nb::init<const switch_network&>(), nb::arg("network"))
      .def_prop_ro("ranks", [](const named_tree& t) { return t.tree.ranks(); })
      .def_prop_ro("top", [](const named_tree& t) { return t.name(t.tree.root()); })
      .def_prop_ro("roots", [](const named_tree& t) { return t.network.names_of(t.tree.centroids()); })
      .def_prop_ro("groups", [](const named_tree& t) { return t.tree.groups(); })
      .def_prop_ro("links", cables)
      .def_prop_ro("bottleneck", bottleneck)
      .def_prop_ro("phases", [](const named_tree& t) { return uniform_bound(t.tree).phases; })
      .def_prop_ro("contending_pairs", [](const named_tree& t) { return contending_pairs(t.tree); })
      .def(
          "seconds", [](const named_tree& t, std::int64_t bytes) { return uniform_bound(t.tree).seconds(bytes); },
          nb::arg("bytes_per_block"))
      .def(
          "sized_seconds",
          [](const named_tree& t, const std::vector<std::int64_t>& bytes) {
            require_matrix(t.tree, bytes);
            return sized_bound(t.tree, bytes);
          },
          nb::arg("sizes"))
      .def(
          "contention",
          [](const named_tree& t, const std::vector<schedule>& programs) {
            return find_contention(t.tree, messages_of(programs));
          },
          nb::arg("programs"));
  m.def("bytes_on_wire", bytes_on_wire, nb::arg("payload"));
}

void bind_plan(nb::module_& m) {
  nb::class_<exchange_plan>(m, "ExchangePlan")
      .def_prop_ro("phases", flat_phases)
      .def_prop_ro("synchronisations", flat_synchronisations)
      .def_prop_ro("candidates", [](const exchange_plan& plan) { return plan.waits().candidates; })
      .def("program", [](const exchange_plan& plan, int rank) { return plan.program(rank); }, nb::arg("rank"));
  m.def("plan_exchange", plan_exchange, nb::arg("tree"), nb::kw_only(), nb::arg("window") = 1,
        nb::arg("sync") = "auto");
  m.def("plan_sizes", plan_sizes, nb::arg("tree"), nb::arg("sizes"), nb::kw_only(), nb::arg("window") = 1,
        nb::arg("sync") = "auto");
  m.def(
      "emit_c",
      [](const std::vector<schedule>& programs, std::string title, names hosts) {
        return emit_c({programs, std::move(title), std::move(hosts)});
      },
      nb::arg("programs"), nb::arg("title") = "", nb::arg("hosts") = names());
  m.def(
      "emit_goal",
      [](const std::vector<schedule>& programs, std::int64_t block_bytes) {
        return emit_goal({programs, "", {}}, block_bytes);
      },
      nb::arg("programs"), nb::arg("block_bytes"));
}

}  // namespace

void bind_topology(nb::module_& m) {
  bind_network(m);
  bind_tree(m);
  bind_plan(m);
}
