#include "team/other_nodes.hpp"

#include <mpi.h>

#ifdef OPEN_MPI
#include <unistd.h>

#include <array>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <string>
#include <string_view>

#include "team/handled_by.hpp"
#include "transport/mpi_error.hpp"

namespace shoal {

namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value ? value : "";
}

// mpirun calls its jobs "prterun-..." since Open MPI 5, and by a number before. Launchers that cannot keep names have
// other names for their jobs.
bool is_mpiruns(std::string_view job) {
  return job.starts_with("prte") || (!job.empty() && std::isdigit(static_cast<unsigned char>(job[0])) != 0);
}

// What mpirun told this rank. Read once, at the end of MPI_Init: the program may clear its environment.
struct placement {
  std::string job{variable("PMIX_NAMESPACE")};
  bool is_first = variable("OMPI_COMM_WORLD_RANK") == "0";
  bool is_first_of_node = variable("OMPI_COMM_WORLD_LOCAL_RANK") == "0";
};

const placement& here() {
  static const placement read;
  return read;
}

enum class part { node_of_first_rank, other_nodes };

std::string name_of(part which) {
  return "shoal " + here().job + (which == part::node_of_first_rank ? " first" : " others");
}

// Calls a function of the name service, and returns whether there is such a name. An MPI without a name service does
// not tell that there is none.
template <typename Call>
bool is_name_known(Call call) {
  const handled_by self(MPI_COMM_SELF, MPI_ERRORS_RETURN), world(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int code = call();
  return !is_of_class(code, MPI_ERR_NAME);
}

bool is_announced(part which) {
  std::array<char, MPI_MAX_PORT_NAME> port{};
  const std::string name = name_of(which);
  return is_name_known([&] { return PMPI_Lookup_name(name.c_str(), MPI_INFO_NULL, port.data()); });
}

constexpr double never = -1;
std::atomic<double> announced_at = never;  // Open MPI 4.1 counts the seconds from the first time that it is asked

}  // namespace

void announce_preload() {
  if (!is_mpiruns(here().job)) return;
  announced_at = PMPI_Wtime();
  if (!here().is_first_of_node) return;
  const std::string name = name_of(here().is_first ? part::node_of_first_rank : part::other_nodes);
  is_name_known([&] { return PMPI_Publish_name(name.c_str(), MPI_INFO_NULL, "preload"); });
}

bool other_nodes_lack_preload() {
  if (announced_at == never) return false;
  constexpr double patience = 1;  // seconds
  for (const part one : {part::node_of_first_rank, part::other_nodes})
    while (!is_announced(one)) {
      if (PMPI_Wtime() > announced_at + patience) return true;
      usleep(1000);
    }
  return false;
}

}  // namespace shoal
#else

namespace shoal {

void announce_preload() {}
bool other_nodes_lack_preload() { return false; }

}  // namespace shoal
#endif
