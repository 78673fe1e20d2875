// Knowledge in a file, which SHOAL_WISDOM names, as FFTW keeps wisdom. A file is for one machine and one MPI. Every job
// reads the file at its first exchange and adds to it at its end.
#pragma once

#include <string>
#include <string_view>

#include "select/knowledge.hpp"

namespace shoal {

// Written as TOML; nothing in it is executed. `mpi` and `machine` are empty if they are not known.
struct wisdom {
  std::string mpi, machine;
  knowledge known;
};

// Both throw std::invalid_argument: one line with the file and what is wrong, and if it is in the text, with its line.
wisdom parse_wisdom(std::string_view text, const std::string& file);
// Returns empty wisdom if there is no such file yet.
wisdom read_wisdom(const std::string& path);

std::string to_toml(const wisdom& all);

// Adds `more` to what the file says. A job that reads the file meanwhile sees all of the old text or all of the new
// one, even if the writer is killed. Leaves a file alone that is of another MPI or machine, that Shoal did not
// write, or that cannot be read. Throws std::system_error if the file cannot be written.
void add_to_wisdom(const std::string& path, const wisdom& more);

}  // namespace shoal
