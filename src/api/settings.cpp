#include "api/settings.hpp"

#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "model/intergroup.hpp"
#include "topology/topology_file.hpp"

namespace shoal {

namespace {

std::optional<selection> read_choice(const std::string& value, collective what) {
  if (value == "auto") return std::nullopt;
  return parse_selection(value, what);
}

std::optional<selection> for_any_sizes(const std::string& value) {
  std::optional<selection> chosen = read_choice(value, collective::alltoall);
  if (chosen && chosen->which->uniform_only)
    throw std::invalid_argument(chosen->which->name + " needs equal blocks; set it for alltoall, or use tuna");
  return chosen;
}

std::optional<wait_mode> read_waiting(const std::string& value) {
  if (value == "auto") return std::nullopt;
  return parse_wait_mode(value);
}

std::string read_network(const std::string& value) {
  check_network(value);
  return value;
}

bool read_switch(const std::string& name, const std::string& value) {
  if (value == "1" || value == "on") return true;
  if (value == "0" || value == "off" || value.empty()) return false;
  throw std::invalid_argument(name + "=" + value + " is unknown; allowed: 0, 1");
}

reporting read_reporting(const std::string& value) {
  if (value == "phases") return reporting::phases;
  if (value == "1" || value == "on") return reporting::usage;
  if (value == "0" || value == "off" || value.empty()) return reporting::none;
  throw std::invalid_argument("it is unknown; allowed: 0, 1, phases, or a file that ends with .json");
}

void take_report(const std::string& value, settings& into) {
  const bool file = value.ends_with(".json");
  into.report_file = file ? value : "";
  into.report = file ? reporting::usage : read_reporting(value);
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\"");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\"") - begin + 1);
}

// As in 512K, 64M, 2G: powers of 1024.
std::int64_t read_bytes(const std::string& value) {
  constexpr std::string_view units = "KMG";
  std::int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [rest, error] = std::from_chars(value.data(), end, number);
  const std::size_t unit = end - rest == 1 ? units.find(*rest) : end == rest ? 0 : units.npos;
  const int doublings = end == rest ? 0 : 10 * (static_cast<int>(unit) + 1);
  if (error != std::errc() || unit == units.npos || number < 0 || number > INT64_MAX >> doublings)
    throw std::invalid_argument("it is no number of bytes; allowed: from 0, as in 4096, 512K, 64M, 2G");
  return number << doublings;
}

// A layout; or what is found: what the ranks of a node share, or all levels.
void take_layout(const std::string& value, settings& into) {
  const std::optional<node_level> level = parse_node_level(value);
  into.finds_levels = value == "levels";
  try {
    into.layout = level || into.finds_levels ? std::nullopt : std::optional(layout_tree::parse(value));
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(error.what() +
                                std::string("; or what is found: what ranks of a node share (socket, numa, cache), or "
                                            "all levels (levels)"));
  }
  into.nodes_share = level.value_or(node_level::machine);
}

void take_profile(const std::string& path, settings& into) {
  into.profile = nullptr;
  into.profile_fault.clear();
  try {
    into.profile = std::make_shared<const profile>(read_profile(path));
  } catch (const std::invalid_argument& error) {
    into.profile_fault = error.what();
  }
}

void read_file(const std::string& path, settings& into) {
  std::ifstream file(path);
  file.peek();  // a directory opens, and fails here
  if (file.bad() || !file.is_open())
    throw std::invalid_argument("SHOAL_CONFIG=" + path + " cannot be read; unset it or name a readable file");
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const std::size_t equals = line.find('=');
    try {
      if (equals == std::string::npos)
        throw std::invalid_argument("'" + line + "' is not of the form name = \"value\"");
      into.set(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(path + ", line " + std::to_string(number) + ": " + error.what());
    }
  }
}

struct known_setting {
  std::string_view name;
  void (*set)(settings& of, const std::string& value);
};

constexpr known_setting known[] = {
    {"alltoall", [](settings& s, const std::string& v) { s.alltoall = read_choice(v, collective::alltoall); }},
    {"alltoallv", [](settings& s, const std::string& v) { s.alltoallv = for_any_sizes(v); }},
    {"allgather", [](settings& s, const std::string& v) { s.allgather = read_choice(v, collective::allgather); }},
    {"allgatherv", [](settings& s, const std::string& v) { s.allgatherv = read_choice(v, collective::allgather); }},
    {"wait", [](settings& s, const std::string& v) { s.wait = read_waiting(v); }},
    {"layout", [](settings& s, const std::string& v) { take_layout(v, s); }},
    {"network", [](settings& s, const std::string& v) { s.network = read_network(v); }},
    {"topology",
     [](settings& s, const std::string& v) { s.topology = std::make_shared<const switch_network>(read_topology(v)); }},
    {"profile", [](settings& s, const std::string& v) { take_profile(v, s); }},
    {"wisdom", [](settings& s, const std::string& v) { s.wisdom = v; }},
    {"report", [](settings& s, const std::string& v) { take_report(v, s); }},
    {"verify", [](settings& s, const std::string& v) { s.verify = read_switch("verify", v); }},
    {"max_temp", [](settings& s, const std::string& v) { s.max_temp = read_bytes(v); }},
    {"record", [](settings& s, const std::string& v) { s.record = v; }},
};

[[noreturn]] void no_such_setting() {
  std::string names;
  for (const known_setting& one : known) names += (names.empty() ? "" : ", ") + std::string(one.name);
  throw std::invalid_argument("there is no such setting; there are " + names);
}

}  // namespace

void settings::set(const std::string& name, const std::string& value) {
  try {
    const auto* const found = std::find_if(std::begin(known), std::end(known), [&](auto& k) { return k.name == name; });
    if (found == std::end(known)) no_such_setting();
    found->set(*this, value);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(name + " = " + value + ": " + error.what());
  }
}

std::string settings::canonical() const {
  const auto text = [](const std::optional<selection>& chosen) { return chosen ? to_string(*chosen) : "auto"; };
  return "alltoall=" + text(alltoall) + " alltoallv=" + text(alltoallv) + " allgather=" + text(allgather) +
         " allgatherv=" + text(allgatherv) + " network=" + network + " layout=" +
         (layout         ? to_string(*layout)
          : finds_levels ? "levels"
                         : "") +
         " nodes_share=" + std::to_string(static_cast<int>(nodes_share)) +
         " topology=" + (topology ? to_edge_list(*topology) : "") + " verify=" + (verify ? "1" : "0") +
         " max_temp=" + (max_temp ? std::to_string(*max_temp) : "") + " record=" + record;
}

std::string settings::canonical_profile() const { return profile ? to_toml(*profile) : profile_fault; }

settings read_settings() {
  settings all;
  if (const char* path = secure_getenv("SHOAL_CONFIG"); path && *path) read_file(path, all);
  static constexpr const char* names[][2] = {
      {"SHOAL_ALLTOALL", "alltoall"},     {"SHOAL_ALLTOALLV", "alltoallv"}, {"SHOAL_ALLGATHER", "allgather"},
      {"SHOAL_ALLGATHERV", "allgatherv"}, {"SHOAL_WAIT", "wait"},           {"SHOAL_LAYOUT", "layout"},
      {"SHOAL_NETWORK", "network"},       {"SHOAL_TOPOLOGY", "topology"},   {"SHOAL_PROFILE", "profile"},
      {"SHOAL_WISDOM", "wisdom"},         {"SHOAL_REPORT", "report"},       {"SHOAL_VERIFY", "verify"},
      {"SHOAL_MAX_TEMP", "max_temp"},     {"SHOAL_RECORD", "record"}};
  for (const auto& [variable, name] : names)
    if (const char* value = secure_getenv(variable); value && *value) {
      try {
        all.set(name, value);
      } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(std::string(variable) + ": " + error.what());
      }
    }
  return all;
}

// FNV-1a: the same on every machine.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (unsigned char c : text) hash = (hash ^ c) * 1099511628211u;
  return hash;
}

}  // namespace shoal
