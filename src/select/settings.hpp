// What people set: environment variables, a configuration file, MPI_Info keys.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "algorithms/algorithm.hpp"
#include "select/call_form.hpp"
#include "select/profile.hpp"
#include "topology/layout_tree.hpp"
#include "topology/processor.hpp"
#include "topology/switch_network.hpp"
#include "transport/waiting.hpp"

namespace shoal {

// What to print at the end: nothing, what ran, or also where the time went.
enum class reporting { none, usage, phases };

struct settings {
  std::array<by_form<std::optional<selection>>, collectives.size()> algorithms;  // empty: Shoal chooses
  std::optional<wait_mode> wait;                 // empty: by the numbers of ranks and cores
  std::optional<layout_tree> layout;             // empty: as Shoal finds it
  node_level nodes_share = node_level::machine;  // then: what the ranks of a node share
  bool finds_levels = false;                     // whether also levels inside and around nodes are found
  static constexpr const char* standard_network = "full";
  std::string network = standard_network;          // what connects two groups; see model/intergroup.hpp
  std::shared_ptr<const switch_network> topology;  // null: not known
  std::shared_ptr<const shoal::profile> profile;   // null: none was named, or it cannot be used
  std::string profile_fault;                       // why the profile that was named cannot be used
  std::string wisdom;                              // the file where jobs keep what they learn; empty: none
  reporting report = reporting::none;
  std::string report_file;  // empty: standard error
  bool verify = false;
  std::optional<std::int64_t> max_temp;  // most bytes of scratch memory an exchange may need on a rank; empty: no limit
  std::string record;                    // the file for the traffic between ranks; empty: none

  // Sets one of all_settings() by name. Throws std::invalid_argument with the name, the value and what is allowed. A
  // profile that cannot be used is no error: profile_fault then says why.
  void set(const std::string& name, const std::string& value);

  // The algorithm that the user names for calls of a kind; empty: none.
  const std::optional<selection>& named(collective what, call_form form) const {
    return algorithms[static_cast<std::size_t>(what)][form];
  }
  std::optional<selection>& named(collective what, call_form form) {
    return algorithms[static_cast<std::size_t>(what)][form];
  }
  bool names_network() const { return network != standard_network; }
  static std::span<const call_form> forms_of(collective what) {
    return std::span(call_forms).first(what == collective::allgather ? 2 : 3);
  }
  static std::string name_of(collective what, call_form form) { return shoal::name_of(to_string(what), form); }

  // Equal texts mean equal settings. Left out are settings that may differ between ranks (wait, report, wisdom), and
  // the profile: if ranks have different profiles, Shoal only leaves the profiles unused.
  std::string canonical() const;
  // Equal texts mean equal profiles, or profiles that cannot be used for the same reason.
  std::string canonical_profile() const;
};

// One thing that people can set: by a variable (SHOAL_ and the name in capitals), by a line in the file that
// SHOAL_CONFIG names, and, if it is a key, by shoal_ and the name in the MPI_Info of a communicator or a call.
struct setting {
  std::string_view name;
  std::string_view takes;  // SPEC: an algorithm; otherwise the values, or what kind of value
  std::string_view help;   // one line
  bool is_key;
  // Throws std::invalid_argument that says what is allowed.
  void (*set)(settings&, const std::string& value);
  // A text of the value; equal texts mean the same value. Null: the value may differ between ranks, or has a text of
  // its own.
  std::string (*text)(const settings&);

  std::string variable() const;
};

// The one list of all settings, in the order of the documents.
std::span<const setting> all_settings();

// Whether the user named the MPI's own.
inline bool names_native(const std::optional<selection>& named) { return named && !named->which->generate; }

// Reads the file that SHOAL_CONFIG names (lines `name = "value"`) and then the environment, which wins. Ignores both in
// setuid programs. Throws std::invalid_argument.
settings read_settings();
// For a job whose settings cannot be used: reads only SHOAL_REPORT, and ignores it too if its value is wrong.
settings read_report_alone();

// The variables with Shoal's prefix that are no settings, each with the setting of the nearest name. Empty: there are
// none.
std::string unknown_variables();
// The same for one key of an MPI_Info.
std::string what_is_wrong_with(std::string_view key);

std::uint64_t hash_of(std::string_view text);

}  // namespace shoal
