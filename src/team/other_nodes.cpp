#include "team/other_nodes.hpp"

#include <mpi.h>

#ifdef OPEN_MPI
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

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

std::string_view name_in(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// In `env NAME=value program arguments`, what stands before the program, and the line from its name on. Another command
// is the program itself. mpirun tells its words with single spaces between them.
struct user_command {
  std::string_view assignments;
  std::string program;

  explicit user_command(const placement& given) {
    std::string_view command = given.command, words = given.arguments;
    while (!words.empty() && (name_in(command) == "env" || command.find('=') != command.npos)) {
      const std::size_t end = std::min(words.size(), words.find(' '));
      command = words.substr(0, end);
      words.remove_prefix(std::min(words.size(), end + 1));
      assignments = std::string_view(given.arguments).substr(0, command.data() - given.arguments.data());
    }
    program = std::string(name_in(command)) + (words.empty() ? "" : " ") + std::string(words);
  }
};

// The same line for this process. It has other words if a script has started it, which may look at which node it is on.
std::string this_program() {
  std::string line = text_of(getpid(), "cmdline");
  if (!line.empty()) line.pop_back();
  const std::size_t end = std::min(line.size(), line.find('\0'));
  std::replace(line.begin(), line.end(), '\0', ' ');
  return line.substr(name_in(std::string_view(line).substr(0, end)).data() - line.data());
}

// Whether LD_PRELOAD comes from `mpirun -x LD_PRELOAD`: mpirun's process on this node does not have it.
bool came_from_mpirun() {
  const std::string environment = text_of(getppid(), "environ");
  return !environment.empty() && !names_preload(environment);
}

// Whether this program belongs to the system. Then each node may have it on a disk of its own.
bool is_of_system() {
  std::error_code unknown;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const auto is_in = [&](const char* folder) { return program.starts_with(folder); };
  return unknown || is_in("/usr/") || is_in("/bin/") || is_in("/lib") || is_in("/opt/");
}

// Whether the file of the preload is where the user's program is. As mpirun starts the program on all nodes by the same
// path, they have the preload by its path too. Otherwise the file may be on a disk of this node alone.
bool lies_with_program() {
  const std::string& all = here().preloaded;
  const std::size_t name = std::min(all.size(), all.find(preload_name)), begin = all.find_last_of(": ", name) + 1;
  const std::string path = all.substr(begin, std::min(all.size(), all.find_first_of(": ", name)) - begin);
  struct stat preload{}, program{};
  return path.starts_with('/') && !is_of_system() && stat(path.c_str(), &preload) == 0 &&
         stat("/proc/self/exe", &program) == 0 && preload.st_dev == program.st_dev;
}

// Whether this rank sees by itself that mpirun has handed the preload to all nodes, and that all have its file.
bool have_all_nodes() {
  const user_command command(here());
  return !here().is_in_parts && names_preload(here().preloaded) && lies_with_program() &&
         command.program == this_program() && (names_preload(command.assignments) || came_from_mpirun());
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
  if (announced_at == never || have_all_nodes()) return false;
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
