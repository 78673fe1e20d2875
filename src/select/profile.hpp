// What exchanges took on one machine, in a file: `shoal tune` or a job at its end writes it, people read and edit it.
// docs/tuning.md shows one. TOML; nothing in it is executed and no other file is named by it.
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
  // Seconds of the specs measured for one block size.
  struct row {
    std::int64_t block = 0;
    std::map<std::string, double> seconds = {};
    int line = 0;
  };
  // One kind of call.
  struct table {
    std::vector<row> rows;  // two or more, ascending; the first and the last name the same specs and all there are
    std::vector<row> sparse = {};  // the same of mostly empty exchanges, of the same specs; or none
    double asking = 0;             // seconds of one agreement on sizes

    // A spec that a row leaves out lies on the straight line between its neighbours.
    measured_exchanges measured(const std::string& source, int ranks) const;
    static table of(const measured_exchanges& all);
    // What such exchanges are expected to take.
    knowledge::of_shape expected(const block_mix& blocks, int ranks) const;
  };

  std::string file;
  entry shoal;                 // the version that wrote it; any is read
  entry mpi, machine, layout;  // empty: fits any
  int ranks = 0, ranks_line = 0;
  std::array<std::optional<table>, 2> kinds;  // MPI_Alltoallv's, MPI_Alltoall's
};

// Throw std::invalid_argument: one line with the file, the line, what is wrong and what is expected.
profile parse_profile(std::string_view text, const std::string& file);
profile read_profile(const std::string& path);
// Parsed again it is the same, without lines.
std::string to_toml(const profile& from);

// What a profile has to fit.
struct job_description {
  std::string mpi, machine;
  node_layout layout;
};

// Why it does not fit, in one line, or nothing.
std::optional<std::string> misfit(const profile& from, const job_description& job);

}  // namespace shoal
