// Specs: "name" or "name:parameter=value,parameter=value".
#include <algorithm>
#include <stdexcept>

#include "algorithms/algorithm.hpp"
#include "schedule/text.hpp"
#include "topology/layout_tree.hpp"

namespace shoal {

namespace {

std::string join(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

std::string allowed(const parameter& p) {
  std::vector<std::string> values = p.words;
  if (p.lowest <= p.highest) {
    const std::string range = std::to_string(p.lowest) + " to " + std::to_string(p.highest);
    values.push_back(p.list ? "whole numbers " + range + " joined by x, such as 8x8x16"
                            : "a whole number from " + range);
  }
  return join(values, ", ") + (p.by_level ? "; or these for each level, the innermost first, joined by /" : "");
}

bool accepts_number(const parameter& p, std::string_view text) {
  const auto value = to_number(text);
  return value && *value >= p.lowest && *value <= p.highest;
}

bool accepts_one(const parameter& p, std::string_view text) {
  if (std::find(p.words.begin(), p.words.end(), text) != p.words.end()) return true;
  if (!p.list) return accepts_number(p, text);
  const auto parts = split(text, 'x');
  return std::all_of(parts.begin(), parts.end(), [&](std::string_view part) { return accepts_number(p, part); });
}

bool accepts(const parameter& p, std::string_view text) {
  if (!p.by_level) return accepts_one(p, text);
  const auto parts = split(text, '/');
  return std::all_of(parts.begin(), parts.end(), [&](std::string_view part) { return accepts_one(p, part); });
}

// `native` serves every collective.
bool serves(const algorithm& a, collective what) { return a.what == what || !a.generate; }

std::string names_of(collective what, std::span<const algorithm> table) {
  std::vector<std::string> names;
  for (const algorithm& a : table)
    if (serves(a, what)) names.push_back(a.name);
  return join(names, ", ");
}

const parameter& find_parameter(const algorithm& a, std::string_view name) {
  std::vector<std::string> names;
  for (const parameter& p : a.parameters) {
    if (p.name == name) return p;
    names.push_back(p.name);
  }
  throw std::invalid_argument("algorithm " + a.name + " has no parameter '" + std::string(name) + "'; it has " +
                              (names.empty() ? "none" : join(names, ", ")));
}

void set_argument(selection& chosen, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos)
    throw std::invalid_argument("'" + std::string(assignment) + "' is not of the form parameter=value, as in " +
                                chosen.which->name + ":" +
                                (chosen.which->parameters.empty()
                                     ? "..."
                                     : chosen.which->parameters[0].name + "=" + chosen.which->parameters[0].standard));
  const parameter& p = find_parameter(*chosen.which, assignment.substr(0, equals));
  const std::string_view value = assignment.substr(equals + 1);
  if (!accepts(p, value))
    throw std::invalid_argument(chosen.which->name + ": " + p.name + "=" + std::string(value) +
                                " is out of range; allowed: " + allowed(p));
  chosen.with.set(p.name, std::string(value));
}

}  // namespace

int arguments::number(const std::string& name, int otherwise) const {
  return to_number(values_.at(name)).value_or(otherwise);
}

std::vector<int> arguments::list(const std::string& name) const {
  std::vector<int> numbers;
  for (std::string_view part : split(values_.at(name), 'x'))
    if (const auto value = to_number(part)) numbers.push_back(*value);
  return numbers;
}

std::string_view arguments::word_at(int level, const std::string& name) const {
  const auto parts = split(values_.at(name), '/');
  return parts[std::min<std::size_t>(level, parts.size() - 1)];
}

int arguments::number_at(int level, const std::string& name, int otherwise) const {
  return to_number(word_at(level, name)).value_or(otherwise);
}

int arguments::levels(const std::string& name) const { return static_cast<int>(split(values_.at(name), '/').size()); }

const algorithm* find_algorithm(std::string_view name, collective what, std::span<const algorithm> table) {
  for (const algorithm& a : table)
    if (a.name == name && serves(a, what)) return &a;
  return nullptr;
}

selection parse_selection(std::string_view spec, collective what, std::span<const algorithm> table) {
  const std::size_t colon = spec.find(':');
  const std::string_view name = spec.substr(0, colon);
  selection chosen{find_algorithm(name, what, table), {}};
  if (!chosen.which)
    throw std::invalid_argument("there is no algorithm '" + std::string(name) + "'; there are " +
                                names_of(what, table));
  for (const parameter& p : chosen.which->parameters) chosen.with.set(p.name, p.standard);
  if (colon == std::string_view::npos) return chosen;
  for (std::string_view assignment : split(spec.substr(colon + 1), ',')) set_argument(chosen, assignment);
  return chosen;
}

collective parse_collective(std::string_view name) {
  std::vector<std::string> names;
  for (const collective what : collectives) {
    if (name == to_string(what)) return what;
    names.emplace_back(to_string(what));
  }
  throw std::invalid_argument("there is no collective '" + std::string(name) + "'; there are " + join(names, ", "));
}

std::string to_string(const selection& chosen) {
  std::string text = chosen.which->name;
  char separator = ':';
  for (const parameter& p : chosen.which->parameters) {
    const std::string& value = chosen.with.word(p.name);
    if (value == p.standard) continue;
    text += separator + p.name + "=" + value;
    separator = ',';
  }
  return text;
}

int largest_node(const problem& at) { return at.nodes ? at.nodes->largest_node() : 1; }

problem placed(layout_tree layout) {
  problem at;
  at.ranks = layout.ranks();
  at.nodes = std::make_shared<const node_layout>(layout.nodes());
  at.levels = std::make_shared<const layout_tree>(std::move(layout));
  return at;
}

schedule generate(const selection& chosen, const problem& at, int rank) {
  if (!chosen.which->generate)
    throw std::invalid_argument("algorithm " + chosen.which->name + " is the MPI library's own and has no schedule");
  if (chosen.which->refuses)
    if (const auto reason = chosen.which->refuses(at, chosen.with))
      throw std::invalid_argument(to_string(chosen) + " cannot serve " + std::to_string(at.ranks) +
                                  " ranks: " + *reason);
  return chosen.which->generate(at, rank, chosen.with);
}

std::vector<schedule> generate_all(const selection& chosen, const problem& at) {
  std::vector<schedule> programs;
  programs.reserve(at.ranks);
  for (int rank = 0; rank < at.ranks; ++rank) programs.push_back(generate(chosen, at, rank));
  return programs;
}

}  // namespace shoal
