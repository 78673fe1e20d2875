// Knowledge in a file: SHOAL_WISDOM names it, as FFTW's wisdom is kept. One file for a machine and an MPI; every job reads it
// at its first exchange and adds to it at its end.
#pragma once

#include <string>
#include <string_view>

#include "select/knowledge.hpp"

namespace shoal {

// TOML; nothing in it is executed. What it is of is empty where it is not known.
struct wisdom {
  std::string mpi, machine;
  knowledge known;
};

// Throw std::invalid_argument: one line with the file, the line and what is wrong.
wisdom parse_wisdom(std::string_view text, const std::string& file);
// Nothing is known where there is no such file yet.
wisdom read_wisdom(const std::string& path);

std::string to_toml(const wisdom& all);

// Adds to what the file knows. Who reads it meanwhile sees all of the old one or all of the new one, also where the writer is
// killed. Throws std::system_error where it cannot be written.
void add_to_wisdom(const std::string& path, const wisdom& more);

}  // namespace shoal
