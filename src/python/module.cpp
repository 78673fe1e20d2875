// The Python module shoal._core: the table of algorithms, schedules, their checker, digit systems.
// python/shoal/_core.pyi is its manual.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "algorithms/algorithm.hpp"
#include "algorithms/digits.hpp"
#include "execute/exchange.hpp"
#include "python/choice_bindings.hpp"
#include "python/settings_bindings.hpp"
#include "python/topology_bindings.hpp"
#include "schedule/checker.hpp"
#include "schedule/neighbor_graph.hpp"
#include "schedule/step_table.hpp"
#include "topology/layout_tree.hpp"

namespace nb = nanobind;
using namespace shoal;

namespace {

const char* to_string(place where) {
  switch (where) {
    case place::send: return "send";
    case place::recv: return "recv";
    default: return "temp";
  }
}

// ---- problems -----------------------------------------------------------------------------------------------

using destinations = std::vector<std::vector<int>>;

problem make_problem(int ranks, int senders, std::string_view layout, std::optional<destinations> neighbors) {
  problem at = layout.empty() ? problem{} : placed(layout_tree::parse(layout));
  if (layout.empty() || ranks != 0) at.ranks = ranks;
  at.senders = senders;
  if (neighbors) {
    if (ranks == 0 && layout.empty()) at.ranks = static_cast<int>(neighbors->size());
    at.neighbors = std::make_shared<const neighbor_graph>(neighbor_graph::to(std::move(*neighbors)));
  }
  if (at.ranks < 1)
    throw std::invalid_argument(std::to_string(at.ranks) + " ranks are too few; there must be at least 1");
  if (at.nodes && at.nodes->ranks() != at.ranks)
    throw std::invalid_argument("layout " + std::string(layout) + " has " + std::to_string(at.nodes->ranks()) +
                                " ranks, not " + std::to_string(at.ranks));
  if (at.neighbors && at.neighbors->ranks() != at.ranks)
    throw std::invalid_argument("the graph has " + std::to_string(at.neighbors->ranks()) + " ranks, not " +
                                std::to_string(at.ranks));
  return at;
}

destinations destinations_in(const neighbor_graph& graph) {
  destinations all;
  for (int rank = 0; rank < graph.ranks(); ++rank) {
    const auto to = graph.destinations(rank);
    all.emplace_back(to.begin(), to.end());
  }
  return all;
}

collective collective_of(const problem& at) {
  if (at.senders > 0) return collective::allgather;
  return at.neighbors ? collective::neighbor_alltoall : collective::alltoall;
}

void require_rank(const problem& at, int rank) {
  if (rank < 0 || rank >= at.ranks)
    throw std::invalid_argument("rank " + std::to_string(rank) + " does not exist; with " + std::to_string(at.ranks) +
                                " ranks they are 0 to " + std::to_string(at.ranks - 1));
}

std::vector<std::string> levels_of(const problem& at) {
  std::vector<std::string> names;
  for (int l = at.levels ? at.levels->levels() : 0; l-- > 0;) names.push_back(at.levels->name(l));
  return names;
}

// ---- schedules ----------------------------------------------------------------------------------------------

// An operation as Python sees it: a view into its schedule, which the view keeps alive.
struct operation_view {
  const schedule& program;
  op_id id;
  nb::object owner;
  const operation& op() const { return program.operations[id]; }
};

nb::object peer_of(const operation& op) {
  return op.kind == op_kind::copy ? nb::none() : nb::object(nb::int_(op.peer));
}

nb::list after_of(const operation_view& view) {
  nb::list ids;
  for (op_id earlier : view.program.after_of(view.op())) ids.append(earlier);
  return ids;
}

nb::dict to_dict(const operation_view& view) {
  nb::list slots, passing;
  for (slot s : view.program.slots_of(view.op())) {
    slots.append(to_string(s));
    passing.append(s.passing != 0);
  }
  nb::dict entry;
  entry["id"] = view.id;
  entry["kind"] = to_string(view.op().kind);
  entry["peer"] = peer_of(view.op());
  entry["step"] = view.op().step;
  entry["slots"] = slots;
  entry["after"] = after_of(view);
  entry["passing"] = passing;
  return entry;
}

nb::dict to_dict(const schedule& with_joins) {
  const schedule program = without_joins(with_joins);
  nb::list operations;
  for (op_id id = 0; id < static_cast<op_id>(program.operations.size()); ++id)
    operations.append(to_dict(operation_view{program, id, {}}));
  nb::dict entry;
  entry["rank"] = program.rank;
  if (program.parts != 1) entry["parts"] = program.parts;
  entry["temp_slots"] = program.temp_slots;
  entry["temp_peak"] = temp_peak(program);
  entry["operations"] = operations;
  return entry;
}

nb::list operations_of(nb::object self) {
  const auto& program = nb::cast<const schedule&>(self);
  nb::list operations;
  for (op_id id = 0; id < static_cast<op_id>(program.operations.size()); ++id)
    operations.append(operation_view{program, id, self});
  return operations;
}

int parts_of(const std::vector<schedule>& programs) { return programs.empty() ? 1 : programs[0].parts; }

meaning meaning_of(const std::vector<schedule>& programs, int senders) {
  const int ranks = static_cast<int>(programs.size());
  return senders == 0 ? alltoall_meaning(ranks, parts_of(programs))
                      : allgather_meaning(senders, ranks - senders, parts_of(programs));
}

std::optional<fault> check_programs(const std::vector<schedule>& programs, int senders) {
  return check(programs, meaning_of(programs, senders));
}

// A report on the steps, and into how many parts blocks are cut.
struct followed {
  step_report report;
  int parts;
  double in_blocks(std::int64_t parts_moved) const { return static_cast<double>(parts_moved) / parts; }
};

followed follow_programs(const std::vector<schedule>& programs, int senders) {
  return {follow_steps(programs, meaning_of(programs, senders)), parts_of(programs)};
}

std::optional<fault> check_all_ranks(const selection& chosen, const problem& at) {
  const auto programs = generate_all(chosen, at);
  if (at.neighbors) return check(programs, neighbor_meaning(*at.neighbors));
  return check_programs(programs, chosen.which->what == collective::allgather ? at.senders : 0);
}

// ---- bindings -----------------------------------------------------------------------------------------------

void bind_algorithms(nb::module_& m) {
  nb::class_<parameter>(m, "Parameter")
      .def_ro("name", &parameter::name)
      .def_ro("summary", &parameter::summary)
      .def_ro("standard", &parameter::standard)
      .def_ro("words", &parameter::words)
      .def_ro("lowest", &parameter::lowest)
      .def_ro("highest", &parameter::highest)
      .def_ro("list", &parameter::list)
      .def_ro("by_level", &parameter::by_level);
  nb::class_<algorithm>(m, "Algorithm")
      .def_ro("name", &algorithm::name)
      .def_prop_ro("collective", [](const algorithm& a) { return to_string(a.what); })
      .def_ro("uniform_only", &algorithm::uniform_only)
      .def_ro("summary", &algorithm::summary)
      .def_ro("source", &algorithm::source)
      .def_ro("parameters", &algorithm::parameters)
      .def_prop_ro("has_waves", [](const algorithm& a) { return a.waves != nullptr; })
      .def_prop_ro("has_schedule", [](const algorithm& a) { return a.generate != nullptr; });
  nb::class_<selection>(m, "Selection")
      .def_prop_ro(
          "algorithm", [](const selection& s) { return s.which; }, nb::rv_policy::reference)
      .def_prop_ro("arguments", [](const selection& s) { return s.with.values(); })
      .def("__str__", [](const selection& s) { return to_string(s); })
      .def("__eq__", [](const selection& a, const selection& b) { return a == b; })
      .def("__hash__", [](const selection& s) { return std::hash<std::string>()(to_string(s)); });
  m.def("algorithms", [] { return nb::cast(algorithms(), nb::rv_policy::reference); });
  m.def(
      "worth_measuring", [](const problem& at, bool equal_blocks) { return worth_measuring(at, equal_blocks); },
      nb::arg("problem"), nb::arg("equal_blocks"));
  m.def(
      "parse",
      [](std::string_view spec, std::string_view what) { return parse_selection(spec, parse_collective(what)); },
      nb::arg("spec"), nb::arg("collective") = "alltoall");
}

void bind_problems(nb::module_& m) {
  nb::class_<problem>(m, "Problem")
      .def(
          "__init__",
          [](problem* self, int ranks, int senders, std::string_view layout, std::optional<destinations> neighbors) {
            new (self) problem(make_problem(ranks, senders, layout, std::move(neighbors)));
          },
          nb::arg("ranks") = 0, nb::kw_only(), nb::arg("senders") = 0, nb::arg("layout") = "",
          nb::arg("neighbors") = nb::none())
      .def_ro("ranks", &problem::ranks)
      .def_ro("senders", &problem::senders)
      .def_prop_ro("collective", [](const problem& p) { return to_string(collective_of(p)); })
      .def_prop_ro("levels", levels_of)
      .def_prop_ro("largest_node", largest_node);
  m.def(
      "grid_neighbors",
      [](const std::vector<int>& extents, bool closed) {
        return destinations_in(neighbor_graph::grid(extents, closed));
      },
      nb::arg("extents"), nb::kw_only(), nb::arg("closed"));
  m.def(
      "random_neighbors",
      [](int ranks, int partners) { return destinations_in(neighbor_graph::random(ranks, partners)); },
      nb::arg("ranks"), nb::arg("partners"));
  m.def("worth_trying", [](const problem& at) { return worth_trying(collective_of(at), at); }, nb::arg("problem"));
}

void bind_schedules(nb::module_& m) {
  nb::class_<slot>(m, "Slot")
      .def_prop_ro("place", [](slot s) { return to_string(s.at()); })
      .def_prop_ro("index", [](slot s) { return static_cast<int>(s.index); })
      .def_prop_ro("passing", [](slot s) { return s.passing != 0; })
      .def("__str__", [](slot s) { return to_string(s); });
  nb::class_<operation_view>(m, "Operation")
      .def_ro("id", &operation_view::id)
      .def_prop_ro("kind", [](const operation_view& v) { return to_string(v.op().kind); })
      .def_prop_ro("peer", [](const operation_view& v) { return peer_of(v.op()); })
      .def_prop_ro("step", [](const operation_view& v) { return v.op().step; })
      .def_prop_ro("after", after_of)
      .def_prop_ro("slots", [](const operation_view& v) {
        const auto slots = v.program.slots_of(v.op());
        return std::vector<slot>(slots.begin(), slots.end());
      });
  nb::class_<traffic>(m, "Traffic")
      .def_ro("messages", &traffic::messages)
      .def_ro("blocks", &traffic::blocks)
      .def_ro("metadata_messages", &traffic::metadata_messages)
      .def_ro("metadata_sizes", &traffic::metadata_sizes)
      .def_ro("tokens", &traffic::tokens);
  nb::class_<schedule>(m, "Schedule")
      .def_ro("ranks", &schedule::ranks)
      .def_ro("rank", &schedule::rank)
      .def_ro("parts", &schedule::parts)
      .def_ro("temp_slots", &schedule::temp_slots)
      .def_ro("full_metadata", &schedule::full_metadata)
      .def_prop_ro("temp_peak", temp_peak)
      .def_prop_ro("sent", sent_by)
      .def_prop_ro("memory",
                   [](const schedule& s) {
                     const linked_schedule made(s);
                     return std::make_pair(made.bytes(), exchange::bytes_for(made));
                   })
      .def_prop_ro("operations", operations_of)
      .def("to_dict", [](const schedule& s) { return to_dict(s); });
  m.def(
      "generate",
      [](const selection& chosen, const problem& at, int rank) {
        require_rank(at, rank);
        return generate(chosen, at, rank);
      },
      nb::arg("selection"), nb::arg("problem"), nb::arg("rank"));
  m.def("generate_all", generate_all, nb::arg("selection"), nb::arg("problem"));
}

void bind_checker(nb::module_& m) {
  nb::class_<fault>(m, "Fault")
      .def_prop_ro("kind", [](const fault& f) { return to_string(f.kind); })
      .def_ro("rank", &fault::rank)
      .def_prop_ro("operation", [](const fault& f) { return f.op < 0 ? std::nullopt : std::optional<op_id>(f.op); })
      .def_ro("text", &fault::text);
  nb::class_<followed>(m, "Steps")
      .def_prop_ro(
          "fault",
          [](const followed& f) { return f.report.fault ? std::optional(f.report.fault->text) : std::nullopt; })
      .def_prop_ro("count", [](const followed& f) { return f.report.steps; })
      .def_prop_ro("volume", [](const followed& f) { return f.in_blocks(f.report.volume); })
      .def_prop_ro("traffic", [](const followed& f) { return f.in_blocks(f.report.traffic); })
      .def("__str__", [](const followed& f) { return step_table(f.report, f.parts); });
  m.def("follow_steps", follow_programs, nb::arg("programs"), nb::kw_only(), nb::arg("senders"));
  m.def("check", check_programs, nb::arg("programs"), nb::kw_only(), nb::arg("senders") = 0);
  m.def("check_all_ranks", check_all_ranks, nb::arg("selection"), nb::arg("problem"),
        nb::call_guard<nb::gil_scoped_release>());
}

std::optional<std::vector<wave>> waves_of(const selection& chosen, int nodes, int per_node, bool in_rounds) {
  if (!chosen.which->waves) return std::nullopt;
  return chosen.which->waves({nodes, per_node, in_rounds}, chosen.with);
}

void bind_waves(nb::module_& m) {
  nb::class_<wave>(m, "Wave")
      .def_prop_ro("messages", &wave::messages)
      .def_ro("local_messages", &wave::local_messages)
      .def_ro("local", &wave::local)
      .def_ro("crossing_messages", &wave::crossing_messages)
      .def_ro("crossing", &wave::crossing)
      .def_ro("announced", &wave::announced);
  m.def("waves", waves_of, nb::arg("selection"), nb::arg("nodes"), nb::arg("per_node"), nb::kw_only(),
        nb::arg("in_rounds") = false);
}

void bind_digits(nb::module_& m) {
  nb::class_<digit_system>(m, "DigitSystem")
      .def(nb::init<int, int>(), nb::arg("ranks"), nb::arg("radix"))
      .def(nb::init<int, const std::vector<int>&>(), nb::arg("ranks"), nb::arg("radices"))
      .def_prop_ro("ranks", &digit_system::ranks)
      .def_prop_ro("radices",
                   [](const digit_system& s) {
                     std::vector<int> radices;
                     for (int x = 0; x < s.digits(); ++x) radices.push_back(s.radix(x));
                     return radices;
                   })
      .def("steps_of_digit", &digit_system::steps_of_digit, nb::arg("digit"))
      .def("blocks_of_step", &digit_system::blocks_of_step, nb::arg("digit"), nb::arg("z"))
      .def_prop_ro("steps", &digit_system::steps)
      .def_prop_ro("blocks", &digit_system::blocks)
      .def_prop_ro("passing_steps", &digit_system::passing_steps)
      .def_prop_ro("slot_bound", &digit_system::slot_bound)
      .def_prop_ro("peak_slots", &digit_system::peak_slots);
  m.def("square_radix", square_radix, nb::arg("ranks"));
}

}  // namespace

NB_MODULE(_core, m) {
  bind_algorithms(m);
  bind_problems(m);
  bind_schedules(m);
  bind_checker(m);
  bind_waves(m);
  bind_digits(m);
  bind_topology(m);
  bind_choices(m);
  bind_settings(m);
}
