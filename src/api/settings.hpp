// What people set: environment variables, a configuration file, MPI_Info keys.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "algorithms/algorithm.hpp"
#include "execute/waiting.hpp"
#include "topology/node_layout.hpp"

namespace shoal {

struct settings {
  std::optional<selection> alltoall, alltoallv;  // empty: choose for me
  std::optional<wait_mode> wait;                 // empty: by ranks and cores
  std::optional<node_layout> layout;             // empty: as found
  bool report = false;
  bool verify = false;

  // Sets one by name: alltoall, alltoallv, wait, layout, report, verify. Throws std::invalid_argument with the name, the
  // value and what is allowed.
  void set(const std::string& name, const std::string& value);

  // Equal texts mean equal settings; what may differ between ranks (wait, report) is left out.
  std::string canonical() const;
};

// Reads SHOAL_CONFIG (a file of lines `name = "value"`) and then SHOAL_ALLTOALL, SHOAL_ALLTOALLV, SHOAL_WAIT,
// SHOAL_LAYOUT, SHOAL_REPORT and SHOAL_VERIFY, which win. Ignores all of them in setuid programs. Throws
// std::invalid_argument.
settings read_settings();

std::uint64_t hash_of(std::string_view text);

}  // namespace shoal
