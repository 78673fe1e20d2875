#include "team/errors.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <string_view>
#include <utility>

namespace shoal {

namespace {

constexpr std::string_view prefix = "shoal: ";

// MPICH before 4.3 has another text, of something else, for codes in its own classes.
bool has_our_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  return PMPI_Error_string(code, text.data(), &length) == MPI_SUCCESS &&
         std::string_view(text.data()).starts_with(prefix);
}

// MPI libraries have few error codes to give away (MPICH crashes when they are used up). So equal errors share a code,
// and after `most_codes` different errors a new one gets only its class. So does an error whose text the MPI does not
// keep; then the text goes to standard error.
int code_for(int error_class, const std::string& line) {
  constexpr std::size_t most_codes = 1000;
  static std::mutex lock;
  static auto& codes = *new std::map<std::pair<int, std::string>, int>;  // also used at exit
  const std::scoped_lock guard(lock);
  if (const auto it = codes.find({error_class, line}); it != codes.end()) return it->second;
  int code = error_class;
  if (codes.size() >= most_codes || PMPI_Add_error_code(error_class, &code) != MPI_SUCCESS) return error_class;
  PMPI_Add_error_string(code, const_cast<char*>(line.c_str()));  // SMPI takes no const
  if (!has_our_text(code)) {
    say_once(line.substr(prefix.size()), "this MPI keeps no text for such an error");
    code = error_class;
  }
  codes[{error_class, line}] = code;
  return code;
}

// Whether this process is the first one of the job on this node to say the line: in a program with many communicators,
// many processes are rank 0 of one. The first process binds a socket to a name that is made of the line and of the
// launcher's process on the node, which is the parent of all ranks there. The socket lasts as long as its process.
bool is_first_on_node(const std::string& line) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string text = "shoal " + std::to_string(getppid()) + " " + std::to_string(std::hash<std::string>()(line));
  text.copy(name.sun_path + 1, sizeof name.sun_path - 1);  // after a zero byte: the name is not a file
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  const int held = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (held < 0 || bind(held, reinterpret_cast<const sockaddr*>(&name), size) == 0) return true;
  const bool is_said = errno == EADDRINUSE;
  close(held);
  return !is_said;
}

}  // namespace

int code_of(int error_class, const char* text) {
  try {
    return code_for(error_class, (std::string(prefix) + text).substr(0, MPI_MAX_ERROR_STRING - 1));
  } catch (const std::bad_alloc&) {
    return error_class;
  }
}

int raise_error(MPI_Comm comm, int error_class, const char* text) {
  return raise_code(comm, code_of(error_class, text));
}

int raise_code(MPI_Comm comm, int code) {
  calling_handlers([&] { return PMPI_Comm_call_errhandler(comm, code); });
  return code;
}

void say_once(const std::string& text, const std::string& instead) {
  static std::mutex lock;
  static auto& said = *new std::set<std::string>;  // also used at exit
  const std::scoped_lock guard(lock);
  const std::string line = std::string(prefix) + text + "; " + instead + "\n";
  if (said.insert(line).second && is_first_on_node(line)) std::cerr << line << std::flush;
}

void warn_once(MPI_Comm comm, const std::string& text, const std::string& instead) {
  int rank = -1;
  PMPI_Comm_rank(comm, &rank);
  if (rank == 0) say_once(text, instead);
}

}  // namespace shoal
