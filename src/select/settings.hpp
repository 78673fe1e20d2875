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
  std::array<by_form<std::optional<selection>>, collectives.size()> algorithms;  // empty: choose for me
  std::optional<wait_mode> wait;                                                 // empty: by ranks and cores
  std::optional<layout_tree> layout;  // empty: as found, with nodes that share this:
  node_level nodes_share = node_level::machine;
  bool finds_levels = false;  // beside nodes also what is inside and around them
  static constexpr const char* standard_network = "full";
  std::string network = standard_network;          // what connects two groups: see model/intergroup.hpp
  std::shared_ptr<const switch_network> topology;  // null: not known
  std::shared_ptr<const shoal::profile> profile;   // null: what is not asked for is measured
  std::string profile_fault;                       // why the one that was named cannot be used
  std::string wisdom;                              // a file where what jobs learn is kept; empty: nowhere
  reporting report = reporting::none;
  std::string report_file;  // empty: on standard error
  bool verify = false;
  std::optional<std::int64_t> max_temp;  // most bytes of scratch memory an exchange may need on a rank; empty: any
  std::string record;                    // a file for the traffic between ranks; empty: none

  // Sets one of all_settings() by name. A profile that cannot be used is no error: profile_fault tells.
  // Throws std::invalid_argument with the name, the value and what is allowed.
  void set(const std::string& name, const std::string& value);

  // The algorithm that the user names for calls of a kind, and the name of that setting.
  const std::optional<selection>& asked(collective what, call_form form) const {
    return algorithms[static_cast<std::size_t>(what)][form];
  }
  std::optional<selection>& asked(collective what, call_form form) {
    return algorithms[static_cast<std::size_t>(what)][form];
  }
  bool names_network() const { return network != standard_network; }
  static std::span<const call_form> forms_of(collective what) {
    return std::span(call_forms).first(what == collective::allgather ? 2 : 3);
  }
  static std::string name_of(collective what, call_form form) { return shoal::name_of(to_string(what), form); }

  // Equal texts mean equal settings; what may differ between ranks (wait, report, wisdom) is left out, and so is the
  // profile: where that differs it alone is not used.
  std::string canonical() const;
  // Equal texts mean equal profiles, or none that can be used for the same reason.
  std::string canonical_profile() const;
};

// What people can set: by a variable (SHOAL_ and the name in capitals), a line of SHOAL_CONFIG, and, where it is a key, by
// shoal_name in the MPI_Info of a communicator or a call.
struct setting {
  std::string_view name;
  std::string_view takes;  // SPEC: an algorithm; else the values, or what kind they are
  std::string_view help;   // one line
  bool is_key;
  // Throws std::invalid_argument with what is allowed.
  void (*set)(settings&, const std::string& value);
  // Of what is set; equal texts mean the same. Null: it may differ between ranks, or has a text of its own.
  std::string (*text)(const settings&);

  std::string variable() const;
};

// The one list of them, in the order of the documents.
std::span<const setting> all_settings();

// Whether the MPI's own is asked for by name.
inline bool are_natives(const std::optional<selection>& asked) { return asked && !asked->which->generate; }

// Reads SHOAL_CONFIG (a file of lines `name = "value"`) and then the environment, which wins: SHOAL_ and the name in
// capitals. Ignores all of them in setuid programs. Throws std::invalid_argument.
settings read_settings();
// Where they cannot be used: none but what SHOAL_REPORT says, if that can be.
settings read_report_alone();

// What is set or named with Shoal's prefix and means nothing, each with the nearest that does; empty: there is none.
std::string unknown_variables();
// The same of one key of an MPI_Info.
std::string what_is_wrong_with(std::string_view key);

std::uint64_t hash_of(std::string_view text);

}  // namespace shoal
