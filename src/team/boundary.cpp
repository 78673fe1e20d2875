#include "team/boundary.hpp"

#include <cstdio>

#include "team/fault_tolerance.hpp"
#include "select/settings.hpp"

namespace shoal {

bool between_groups(MPI_Comm comm) {
  int inter = 0;
  require(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  return inter;
}

// Raises the exception being handled, which the MPI has not raised itself. Its type decides how.
static int raise_by_kind(MPI_Comm comm) {
  try {
    throw;
  } catch (const mpi_error& error) {
    return raise_code(comm, error.code());
  } catch (const size_mismatch& error) {
    return raise_error(comm, MPI_ERR_TRUNCATE, error.what());
  } catch (const std::bad_alloc&) {
    return out_of_memory(comm);
  } catch (const std::exception& error) {
    return raise_error(comm, MPI_ERR_OTHER, error.what());
  } catch (...) {
    return raise_error(comm, MPI_ERR_INTERN, "an unknown C++ exception");
  }
}

// If a rank has failed or the communicator was revoked, that is the error to raise, whatever was thrown.
int raise_current(MPI_Comm comm) {
  try {
    throw;
  } catch (const raised_error& error) {
    return error.code();
  } catch (...) {
    const int lasting = lasting_error(comm);
    return lasting != MPI_SUCCESS ? raise_code(comm, lasting) : raise_by_kind(comm);
  }
}

int out_of_memory(MPI_Comm comm) {
  const char* const text =
      "out of memory for blocks that pass through this rank. The job ends, because other ranks wait for them. Set "
      "SHOAL_MAX_TEMP=64M (for example) to limit scratch memory, or SHOAL_ALLTOALLV=spread_out, which needs none";
  const int code = raise_error(comm, MPI_ERR_NO_MEM, text);
  int ranks = 1, inter = 0;
  PMPI_Comm_size(comm, &ranks);
  PMPI_Comm_test_inter(comm, &inter);
  if (ranks == 1 && !inter) return code;
  std::fprintf(stderr, "shoal: %s\n", text);
  PMPI_Abort(MPI_COMM_WORLD, code);
  return code;
}

info_value::info_value(MPI_Info info, const char* key) {
  int found = 0;
  require(PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, text_.data(), &found), "MPI_Info_get");
}

std::string unknown_key(MPI_Info info) {
  std::array<char, MPI_MAX_INFO_KEY + 1> key{};
  int keys = 0;
  PMPI_Info_get_nkeys(info, &keys);
  std::string wrong;
  for (int i = 0; i < keys && wrong.empty(); ++i) {
    PMPI_Info_get_nthkey(info, i, key.data());
    wrong = what_is_wrong_with(key.data());
  }
  return wrong;
}

}  // namespace shoal
