#include "team/other_nodes.hpp"

#include <mpi.h>

#ifdef OPEN_MPI
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <string>
#include <string_view>

#include "team/handled_by.hpp"
#include "team/processes.hpp"
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
  bool is_in_parts = variable("OMPI_NUM_APP_CTX") != "1";
  std::string command{variable("OMPI_COMMAND")}, arguments{variable("OMPI_ARGV")}, preloaded{variable("LD_PRELOAD")};
};

const placement& here() {
  static const placement read;
  return read;
}

bool is_env(std::string_view path) { return path.substr(path.rfind('/') + 1) == "env"; }

// The program in `env NAME=value program arguments`, and what stands before it. Another command is the program itself.
struct user_command {
  std::string_view assignments, program;

  explicit user_command(const placement& given) : program(given.command) {
    const std::string_view words = given.arguments;
    for (std::size_t begin = 0, end = 0; begin < words.size() && (is_env(program) || program.find('=') != program.npos);
         begin = end + 1) {
      end = std::min(words.size(), words.find(' ', begin));
      assignments = words.substr(0, begin), program = words.substr(begin, end - begin);
    }
  }
};

// Whether LD_PRELOAD can only come from `mpirun -x LD_PRELOAD program`: mpirun's process on this node does not have it,
// and has started this program itself, without a script between that may look at which node it is on.
bool came_from_mpirun(std::string_view program) {
  const std::string started = text_of(getpid(), "cmdline"), environment = text_of(getppid(), "environ");
  return names_preload(here().preloaded) && started.substr(0, started.find('\0')) == program && !environment.empty() &&
         !names_preload(environment);
}

// Whether this rank sees by itself that mpirun has handed the preload to all nodes.
bool is_handed_to_all() {
  const user_command command(here());
  return !here().is_in_parts && (names_preload(command.assignments) || came_from_mpirun(command.program));
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
  if (announced_at == never || is_handed_to_all()) return false;
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
