// Profiles, and the choices made by them; part of shoal._core.
#include "python/choice_bindings.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "execute/event_simulation.hpp"
#include "model/best_levels.hpp"
#include "model/best_radices.hpp"
#include "model/intergroup.hpp"
#include "model/load.hpp"
#include "select/choose.hpp"
#include "select/choose_between_groups.hpp"
#include "select/profile.hpp"
#include "topology/node_layout.hpp"

namespace nb = nanobind;
using namespace shoal;

namespace {

using row_tuple = std::tuple<std::int64_t, std::map<std::string, double>>;

bool is_uniform(std::string_view kind) {
  if (kind != "alltoall" && kind != "alltoallv")
    throw std::invalid_argument("there is no kind '" + std::string(kind) + "'; there are alltoall, alltoallv");
  return kind == "alltoall";
}

const profile::table& table_of(const profile& from, std::string_view kind) {
  const auto& table = from.kinds[is_uniform(kind)];
  if (!table) throw std::invalid_argument("the profile has no [" + std::string(kind) + "]");
  return *table;
}

// The profile with these tables, checked as if it had been read from a file.
profile with_tables(profile made, const std::map<std::string, std::vector<row_tuple>>& kinds,
                    const std::vector<row_tuple>& sparse, double asking) {
  for (const auto& [kind, rows] : kinds) {
    profile::table table;
    if (!is_uniform(kind)) {
      table.asking = asking;
      for (const auto& [block, seconds] : sparse) table.sparse.push_back({block, seconds});
    }
    for (const auto& [block, seconds] : rows) table.rows.push_back({block, seconds});
    made.kinds[is_uniform(kind)] = std::move(table);
  }
  return parse_profile(to_toml(made), "profile");
}

std::vector<row_tuple> tuples_of(const std::vector<profile::row>& rows) {
  std::vector<row_tuple> all;
  for (const profile::row& row : rows) all.emplace_back(row.block, row.seconds);
  return all;
}

std::vector<row_tuple> rows_of(const profile& from, std::string_view kind) {
  return tuples_of(table_of(from, kind).rows);
}

measured_exchanges measured(const profile& from, std::string_view kind) {
  return table_of(from, kind).measured("by the profile", from.ranks);
}

choice choose_for(const profile& from, std::string_view kind, double block, double empty) {
  return choose(measured(from, kind), {block, 1 - empty});
}

double seconds_by(const profile& from, std::string_view kind, const std::string& spec, double block, double empty) {
  const measured_exchanges all = measured(from, kind);
  const auto at = std::find(all.specs.begin(), all.specs.end(), spec);
  if (at == all.specs.end()) throw std::invalid_argument("the profile has no " + spec);
  return all.seconds(static_cast<std::size_t>(at - all.specs.begin()), {block, 1 - empty});
}

std::vector<int> best_radices_of(int ranks, double per_digit, double per_step, double per_block) {
  return best_radices(ranks, {per_digit, per_step, per_block, 0}).radices;
}

std::string best_levels_of(const problem& at, double block,
                           const std::vector<std::tuple<double, double, double>>& prices, double copy) {
  if (!at.levels || prices.size() != levels)
    throw std::invalid_argument("best_levels needs a layout, and prices for memory, node, network and groups");
  machine_prices machine;
  machine.per_copied_byte = copy;
  for (std::size_t l = 0; l < levels; ++l)
    std::tie(machine.at[l].latency, machine.at[l].per_message, machine.at[l].per_byte) = prices[l];
  return best_levels(*at.levels, block, machine).spec;
}

// ---- allgathers between two groups ------------------------------------------------------------------------------

void require_service(const selection& chosen, const problem& at) {
  if (!chosen.which->cost) throw std::invalid_argument(to_string(chosen) + " is not for two groups");
  if (const auto reason = chosen.which->refuses(at, chosen.with))
    throw std::invalid_argument(to_string(chosen) + " cannot serve these two groups: " + *reason);
}

std::pair<std::int64_t, double> steps_and_volume(const selection& chosen, const problem& at) {
  require_service(chosen, at);
  const intergroup_cost cost = cost_of(chosen, at);
  return {cost.steps, cost.volume};
}

double seconds_between_groups(const selection& chosen, const problem& at, double bytes,
                              std::pair<double, double> link) {
  require_service(chosen, at);
  return seconds_of(chosen, at, bytes, {link.first, link.second});
}

std::vector<std::pair<std::string, double>> predict_between_groups(const problem& at, std::string_view network,
                                                                   double bytes, std::pair<double, double> link) {
  std::vector<std::pair<std::string, double>> all;
  for (const intergroup_prediction& one : predict_intergroup(at, network, bytes, {link.first, link.second}))
    all.emplace_back(one.spec, one.seconds);
  return all;
}

void bind_groups(nb::module_& m) {
  m.def("steps_and_volume", steps_and_volume, nb::arg("selection"), nb::arg("problem"));
  m.def("seconds_between_groups", seconds_between_groups, nb::arg("selection"), nb::arg("problem"), nb::arg("message"),
        nb::arg("link"));
  m.def("predict_between_groups", predict_between_groups, nb::arg("problem"), nb::arg("network"), nb::arg("message"),
        nb::arg("link"));
  m.attr("COMMON_LINK") = nb::make_tuple(common_link.startup, common_link.per_byte);
}

void bind_events(nb::module_& m) {
  nb::class_<event_machine>(m, "EventMachine")
      .def(
          "__init__",
          [](event_machine* self, std::pair<double, double> message, std::pair<double, double> node,
             double link_latency, std::vector<double> link_per_byte, int nodes,
             std::vector<std::vector<std::int32_t>> paths) {
            new (self) event_machine{message.first, message.second,           node.first, node.second,
                                     link_latency,  std::move(link_per_byte), nodes,      std::move(paths)};
          },
          nb::kw_only(), nb::arg("message"), nb::arg("node"), nb::arg("link_latency"), nb::arg("link_per_byte"),
          nb::arg("nodes"), nb::arg("paths"));
  m.def("simulate_events", simulate_events, nb::arg("selection"), nb::arg("problem"), nb::arg("block"),
        nb::arg("machine"), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace

void bind_choices(nb::module_& m) {
  nb::class_<choice>(m, "Choice")
      .def_prop_ro("spec", [](const choice& c) { return to_string(c.algorithm); })
      .def_ro("reason", &choice::reason)
      .def_ro("seconds", &choice::seconds)
      .def_ro("next", &choice::next)
      .def_ro("next_seconds", &choice::next_seconds);
  nb::class_<profile>(m, "Profile")
      .def(
          "__init__",
          [](profile* self, int ranks, std::string shoal, std::string mpi, std::string machine, std::string layout,
             const std::map<std::string, std::vector<row_tuple>>& kinds, const std::vector<row_tuple>& sparse,
             double asking) {
            profile made;
            made.ranks = ranks;
            made.shoal.text = std::move(shoal);
            made.mpi.text = std::move(mpi);
            made.machine.text = std::move(machine);
            made.layout.text = std::move(layout);
            new (self) profile(with_tables(std::move(made), kinds, sparse, asking));
          },
          nb::kw_only(), nb::arg("ranks"), nb::arg("shoal") = "", nb::arg("mpi") = "", nb::arg("machine") = "",
          nb::arg("layout") = "", nb::arg("kinds"), nb::arg("sparse") = std::vector<row_tuple>(), nb::arg("asking") = 0)
      .def_ro("ranks", &profile::ranks)
      .def_prop_ro("mpi", [](const profile& p) { return p.mpi.text; })
      .def_prop_ro("machine", [](const profile& p) { return p.machine.text; })
      .def_prop_ro("layout", [](const profile& p) { return p.layout.text; })
      .def("rows", rows_of, nb::arg("kind"))
      .def("sparse_rows", [](const profile& p) { return tuples_of(table_of(p, "alltoallv").sparse); })
      .def("choose", choose_for, nb::arg("kind"), nb::arg("block"), nb::arg("empty") = 0.0)
      .def("seconds", seconds_by, nb::arg("kind"), nb::arg("spec"), nb::arg("block"), nb::arg("empty") = 0.0)
      .def("__str__", to_toml);
  nb::class_<level_load>(m, "LevelLoad")
      .def_ro("waits", &level_load::waits)
      .def_ro("messages", &level_load::messages)
      .def_ro("blocks", &level_load::blocks);
  nb::class_<exchange_load>(m, "Load")
      .def_prop_ro("memory", [](const exchange_load& l) { return l.of(level::memory); })
      .def_prop_ro("node", [](const exchange_load& l) { return l.of(level::node); })
      .def_prop_ro("network", [](const exchange_load& l) { return l.of(level::network); })
      .def_prop_ro("groups", [](const exchange_load& l) { return l.of(level::groups); })
      .def_ro("copied_blocks", &exchange_load::copied_blocks);
  m.def(
      "load_of", [](const selection& chosen, const problem& at) { return load_of(chosen, at); }, nb::arg("selection"),
      nb::arg("problem"));
  m.def("best_radices", best_radices_of, nb::arg("ranks"), nb::kw_only(), nb::arg("per_digit"), nb::arg("per_step"),
        nb::arg("per_block"));
  bind_events(m);
  bind_groups(m);
  nb::list common;
  for (const level_price& of : common_machine.at)
    common.append(nb::make_tuple(of.latency, of.per_message, of.per_byte));
  m.attr("MOST_RANKS") = node_layout::most_ranks;
  m.attr("COMMON_PRICES") = nb::make_tuple(nb::tuple(common), common_machine.per_copied_byte);
  m.def("best_levels", best_levels_of, nb::arg("problem"), nb::arg("block"), nb::kw_only(), nb::arg("prices"),
        nb::arg("copy"));
  m.def("read_profile", read_profile, nb::arg("path"));
}
