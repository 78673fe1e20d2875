#include "select/settings.hpp"

#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "model/intergroup.hpp"
#include "topology/topology_file.hpp"

namespace shoal {

namespace {

template <collective what, call_form form>
void take_algorithm(settings& into, const std::string& value) {
  std::optional<selection> chosen;
  if (value != "auto") chosen = parse_selection(value, what);
  if (chosen && form != call_form::equal && chosen->which->uniform_only)
    throw std::invalid_argument(chosen->which->name + " needs equal blocks; set it for alltoall, or use tuna");
  into.named(what, form) = std::move(chosen);
}

template <collective what, call_form form>
std::string algorithm_text(const settings& from) {
  const std::optional<selection>& chosen = from.named(what, form);
  return chosen ? to_string(*chosen) : "auto";
}

std::optional<wait_mode> read_waiting(const std::string& value) {
  if (value == "auto") return std::nullopt;
  return parse_wait_mode(value);
}

std::string read_network(const std::string& value) {
  schedule_of(value);  // throws if there is no such network
  return value;
}

bool read_switch(const std::string& value) {
  if (value == "1" || value == "on") return true;
  if (value == "0" || value == "off" || value.empty()) return false;
  throw std::invalid_argument("unknown value; use 0 or 1");
}

reporting read_reporting(const std::string& value) {
  if (value == "phases") return reporting::phases;
  if (value == "1" || value == "on") return reporting::usage;
  if (value == "0" || value == "off" || value.empty()) return reporting::none;
  throw std::invalid_argument("unknown value; use 0, 1, phases or FILE.json");
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

// Reads 512K, 64M, 2G and the like, in powers of 1024.
std::int64_t read_bytes(const std::string& value) {
  constexpr std::string_view units = "KMG";
  std::int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [rest, error] = std::from_chars(value.data(), end, number);
  const std::size_t unit = end - rest == 1 ? units.find(*rest) : end == rest ? 0 : units.npos;
  const int doublings = end == rest ? 0 : 10 * (static_cast<int>(unit) + 1);
  if (error != std::errc() || unit == units.npos || number < 0 || number > INT64_MAX >> doublings)
    throw std::invalid_argument("not a number of bytes; give 4096, 512K, 64M or 2G");
  return number << doublings;
}

// Takes a layout; or what Shoal is to find: what the ranks of a node share, or all levels.
void take_layout(const std::string& value, settings& into) {
  const std::optional<node_level> level = parse_node_level(value);
  into.finds_levels = value == "levels";
  try {
    into.layout = level || into.finds_levels ? std::nullopt : std::optional(layout_tree::parse(value));
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(error.what() +
                                std::string("; or say what Shoal is to find: what the ranks of a node share "
                                            "(socket, numa, cache), or all levels (levels)"));
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
  file.peek();  // a directory can be opened, and fails here
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

std::string layout_text(const settings& from) {
  const std::string text = from.layout ? to_string(*from.layout) : from.finds_levels ? "levels" : "";
  return text + " nodes_share=" + std::to_string(static_cast<int>(from.nodes_share));
}

template <collective what, call_form form>
constexpr setting algorithm_for(std::string_view name, std::string_view help) {
  constexpr bool is_key = what != collective::neighbor_alltoall;
  return {name, "SPEC", help, is_key, take_algorithm<what, form>, algorithm_text<what, form>};
}

constexpr setting known_settings[] = {
    algorithm_for<collective::alltoall, call_form::equal>("alltoall", "algorithm for MPI_Alltoall, as in tuna:radix=8"),
    algorithm_for<collective::alltoall, call_form::any_sizes>("alltoallv", "algorithm for MPI_Alltoallv"),
    algorithm_for<collective::alltoall, call_form::any_types>("alltoallw", "algorithm for MPI_Alltoallw"),
    algorithm_for<collective::allgather, call_form::equal>(
        "allgather", "algorithm for MPI_Allgather between two groups, as in ring"),
    algorithm_for<collective::allgather, call_form::any_sizes>("allgatherv",
                                                               "algorithm for MPI_Allgatherv between two groups"),
    algorithm_for<collective::neighbor_alltoall, call_form::equal>(
        "neighbor_alltoall", "algorithm for MPI_Neighbor_alltoall, as in gathered"),
    algorithm_for<collective::neighbor_alltoall, call_form::any_sizes>("neighbor_alltoallv",
                                                                       "algorithm for MPI_Neighbor_alltoallv"),
    algorithm_for<collective::neighbor_alltoall, call_form::any_types>("neighbor_alltoallw",
                                                                       "algorithm for MPI_Neighbor_alltoallw"),
    {"network", "NETWORK", "network that connects two groups, as in ring or torus:4x8", false,
     [](settings& s, const std::string& v) { s.network = read_network(v); },
     [](const settings& s) { return s.network; }},
    {"wait", "auto, spin, yield, sleep", "how a rank waits", false,
     [](settings& s, const std::string& v) { s.wait = read_waiting(v); }, nullptr},
    {"layout", "LAYOUT", "which ranks share a node, as in 8x8; or levels", false,
     [](settings& s, const std::string& v) { take_layout(v, s); }, layout_text},
    {"topology", "FILE", "tree of switches", false,
     [](settings& s, const std::string& v) { s.topology = std::make_shared<const switch_network>(read_topology(v)); },
     [](const settings& s) { return s.topology ? to_edge_list(*s.topology) : ""; }},
    {"profile", "FILE", "times that shoal tune measured, to start with", false,
     [](settings& s, const std::string& v) { take_profile(v, s); }, nullptr},
    {"wisdom", "FILE", "file that keeps what jobs learn for later jobs", false,
     [](settings& s, const std::string& v) { s.wisdom = v; }, nullptr},
    {"report", "1, phases, FILE.json", "print at the end what ran", false,
     [](settings& s, const std::string& v) { take_report(v, s); }, nullptr},
    {"max_temp", "BYTES", "limit on scratch memory, as in 64M", false,
     [](settings& s, const std::string& v) { s.max_temp = read_bytes(v); },
     [](const settings& s) { return s.max_temp ? std::to_string(*s.max_temp) : ""; }},
    {"verify", "0, 1", "compare every result with the MPI's own", false,
     [](settings& s, const std::string& v) { s.verify = read_switch(v); },
     [](const settings& s) { return std::string(s.verify ? "1" : "0"); }},
    {"record", "FILE", "write what ranks send each other", false,
     [](settings& s, const std::string& v) { s.record = v; }, [](const settings& s) { return s.record; }},
};

// How many letters one has to change, add, leave out, or exchange with the next, to get from one name to the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const bool same = a[i - 1] == b[j - 1];
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + !same});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

template <typename Fits>
std::vector<std::string_view> names_of_those(Fits fit) {
  std::vector<std::string_view> names;
  for (const setting& one : known_settings)
    if (fit(one)) names.push_back(one.name);
  return names;
}

std::vector<std::string_view> all_names() {
  return names_of_those([](const setting&) { return true; });
}

std::string_view nearest(std::string_view name, const std::vector<std::string_view>& among) {
  return *std::min_element(among.begin(), among.end(), [&](std::string_view a, std::string_view b) {
    return distance(name, a) < distance(name, b);
  });
}

[[noreturn]] void no_such_setting(const std::string& name) {
  std::string names;
  for (const std::string_view one : all_names()) names += (names.empty() ? "" : ", ") + std::string(one);
  throw std::invalid_argument("unknown setting (did you mean " + std::string(nearest(name, all_names())) +
                              "?); there are " + names);
}

std::string capitals(std::string_view name) {
  std::string all(name);
  for (char& c : all) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return all;
}

std::string lower(std::string_view name) {
  std::string all(name);
  for (char& c : all) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return all;
}

// SHOAL_CONFIG names the file of settings. The others are no mistakes either: modules of clusters set them for every
// package.
bool is_known(std::string_view variable) {
  constexpr std::string_view others[] = {"SHOAL_CONFIG", "SHOAL_ROOT", "SHOAL_HOME", "SHOAL_DIR", "SHOAL_VERSION"};
  return std::find(std::begin(others), std::end(others), variable) != std::end(others) ||
         std::any_of(std::begin(known_settings), std::end(known_settings),
                     [&](const setting& k) { return variable == k.variable(); });
}

}  // namespace

void settings::set(const std::string& name, const std::string& value) {
  try {
    const auto* const found =
        std::find_if(std::begin(known_settings), std::end(known_settings), [&](auto& k) { return k.name == name; });
    if (found == std::end(known_settings)) no_such_setting(name);
    found->set(*this, value);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(name + " = " + value + ": " + error.what());
  }
}

std::string settings::canonical() const {
  std::string all;
  for (const setting& one : known_settings)
    if (one.text) all.append(all.empty() ? "" : " ").append(one.name).append("=").append(one.text(*this));
  return all;
}

std::string settings::canonical_profile() const { return profile ? to_toml(*profile) : profile_fault; }

std::string setting::variable() const { return "SHOAL_" + capitals(name); }

std::span<const setting> all_settings() { return known_settings; }

settings read_settings() {
  settings all;
  if (const char* path = secure_getenv("SHOAL_CONFIG"); path && *path) read_file(path, all);
  for (const setting& one : known_settings) {
    const std::string variable = one.variable();
    if (const char* value = secure_getenv(variable.c_str()); value && *value) {
      try {
        all.set(std::string(one.name), value);
      } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(variable + ": " + error.what());
      }
    }
  }
  return all;
}

settings read_report_alone() {
  settings all;
  const char* const value = secure_getenv("SHOAL_REPORT");
  try {
    if (value) take_report(value, all);
  } catch (const std::invalid_argument&) {
    return {};
  }
  return all;
}

std::string unknown_variables() {
  std::string all;
  for (char** one = environ; getauxval(AT_SECURE) == 0 && one && *one; ++one) {  // null after clearenv()
    if (std::strncmp(*one, "SHOAL_", std::strlen("SHOAL_")) != 0) continue;      // first: a job's first call runs this
    const std::string_view entry(*one), variable = entry.substr(0, entry.find('='));
    if (is_known(variable)) continue;
    const std::string_view other = nearest(lower(variable.substr(std::strlen("SHOAL_"))), all_names());
    all += (all.empty() ? "" : ", ") + std::string("unknown setting ") + std::string(variable) +
           " (did you mean SHOAL_" + capitals(other) + "?)";
  }
  return all;
}

std::string what_is_wrong_with(std::string_view key) {
  constexpr std::string_view prefix = "shoal_";
  if (!key.starts_with(prefix)) return {};
  const std::string_view name = key.substr(prefix.size());
  const auto is_key = [](const setting& one) { return one.is_key; };
  if (std::any_of(std::begin(known_settings), std::end(known_settings),
                  [&](const setting& one) { return is_key(one) && one.name == name; }))
    return {};  // nothing is allocated: calls with an info come here
  return "unknown key " + std::string(key) + " (did you mean shoal_" +
         std::string(nearest(name, names_of_those(is_key))) + "?)";
}

// FNV-1a: the same on every machine.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (unsigned char c : text) hash = (hash ^ c) * 1099511628211u;
  return hash;
}

}  // namespace shoal
