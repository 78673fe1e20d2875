#include "team/errors.hpp"

#include <iostream>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <utility>

namespace shoal {

namespace {

// MPI libraries have few error codes to give away (MPICH crashes when they are used up), so equal errors share one,
// and beyond a number of different ones an error has its class alone.
int code_for(int error_class, const std::string& line) {
  constexpr std::size_t most_codes = 1000;
  static std::mutex lock;
  static auto& codes = *new std::map<std::pair<int, std::string>, int>;  // also used at exit
  const std::scoped_lock guard(lock);
  if (const auto it = codes.find({error_class, line}); it != codes.end()) return it->second;
  int code = error_class;
  if (codes.size() >= most_codes || PMPI_Add_error_code(error_class, &code) != MPI_SUCCESS) return error_class;
  PMPI_Add_error_string(code, const_cast<char*>(line.c_str()));  // SMPI takes no const
  codes[{error_class, line}] = code;
  return code;
}

}  // namespace

int code_of(int error_class, const char* text) {
  try {
    return code_for(error_class, (std::string("shoal: ") + text).substr(0, MPI_MAX_ERROR_STRING - 1));
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

void warn_once(const std::string& text, const std::string& instead, int ranks) {
  int rank = -1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank >= 0 && rank < ranks) say_once(text, instead);
}

void say_once(const std::string& text, const std::string& instead) {
  static std::mutex lock;
  static auto& said = *new std::set<std::string>;  // also used at exit
  const std::scoped_lock guard(lock);
  const std::string line = "shoal: " + text + "; " + instead + "\n";
  if (said.insert(line).second) std::cerr << line << std::flush;
}

}  // namespace shoal
