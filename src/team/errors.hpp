// How errors reach the user.
#pragma once

#include <mpi.h>

#include <string>

namespace shoal {

// Raises an error on a communicator: its handler may end the program; otherwise the code is returned. Without memory for
// the text the class alone.
int raise_error(MPI_Comm comm, int error_class, const char* text) noexcept;
int raise_code(MPI_Comm comm, int code) noexcept;

// One line on standard error, each line once: from rank 0 of the world, because a program with many
// communicators has a rank 0 in each of them.
void warn_once(const std::string& text, const std::string& instead = "using the MPI library's own collectives");

}  // namespace shoal
