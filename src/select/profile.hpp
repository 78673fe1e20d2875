// A profile: what exchanges took on one machine, in a file. `shoal tune` writes it; people read and edit it.
// docs/tuning.md shows one. It is TOML; nothing in it is executed, and it names no other file.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "select/knowledge.hpp"
#include "select/measured_exchanges.hpp"
#include "topology/node_layout.hpp"

namespace shoal {

struct profile {
  // A text, and its line in the file (0: not from a file).
  struct entry {
    std::string text;
    int line = 0;
  };
  // Seconds of each spec for one block size.
  struct row {
    std::int64_t block = 0;
    std::map<std::string, double> seconds = {};
    int line = 0;
  };
  // One kind of call.
  struct table {
    std::vector<row> rows;         // two or more, ascending; the first and the last have all specs
    std::vector<row> sparse = {};  // the same for mostly empty exchanges, with the same specs; or none
    double asking = 0;             // seconds of one agreement on sizes

    // If a row leaves a spec out, its time lies on the straight line between the nearest rows that have the spec.
    measured_exchanges measured(const std::string& source, int ranks) const;
    static table of(const measured_exchanges& all);
    // How long such exchanges are expected to take.
    knowledge::shape_times expected(const block_mix& blocks, int ranks) const;
  };

  std::string file;
  entry shoal;                 // the version that wrote the file; any version is read
  entry mpi, machine, layout;  // empty: fits every job
  int ranks = 0, ranks_line = 0;
  std::array<std::optional<table>, 2> kinds;  // for MPI_Alltoallv, for MPI_Alltoall
};

// Both throw std::invalid_argument: one line with the file, the line, what is wrong and what is expected.
profile parse_profile(std::string_view text, const std::string& file);
profile read_profile(const std::string& path);
// Parsed again, the text gives the same profile, but for the line numbers and with times of four digits.
std::string to_toml(const profile& from);

// The job that a profile has to fit.
struct job_description {
  std::string mpi, machine;
  node_layout layout;
};

// Why the profile does not fit the job, in one line, or nothing.
std::optional<std::string> misfit(const profile& from, const job_description& job);

}  // namespace shoal
