#include "team/job_parts.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "team/processes.hpp"

namespace shoal {

namespace {

namespace fs = std::filesystem;

// The number at the beginning of a text; 0 if there is none.
int number_in(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The parent of a process; 0 if there is none that can be read. The process's name stands before that number and may
// have spaces and brackets.
int parent_of(int id) {
  const std::string stat = text_of(id, "stat");
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  return number_in(std::string_view(stat).substr(std::min(stat.size(), name_end + 4)));
}

bool is_launcher(std::string_view words) {
  const std::string_view path = words.substr(0, words.find('\0')), command = path.substr(path.rfind('/') + 1);
  return command.starts_with("mpiexec") || command.starts_with("mpirun") || command.starts_with("prterun");
}

// The launcher's process if the job has several parts, or else 0. Open MPI tells the number of parts.
int launcher() {
  const char* const parts = std::getenv("OMPI_NUM_APP_CTX");  // NOLINT(concurrency-mt-unsafe)
  if (parts && parts == std::string_view("1")) return 0;
  constexpr int most_between = 4;  // a proxy of the launcher, and shells
  int id = getppid();
  for (int i = 0; i < most_between && id > 1; ++i, id = parent_of(id)) {
    const std::string words = text_of(id, "cmdline");
    if (words.find(std::string("\0:\0", 3)) != std::string::npos) return id;
    if (is_launcher(words)) return 0;
  }
  return 0;
}

std::vector<int> all_processes() {
  std::vector<int> all;
  std::error_code hidden;
  for (const auto& entry : fs::directory_iterator("/proc", hidden))
    if (const int id = number_in(entry.path().filename().native()); id > 0) all.push_back(id);
  return all;
}

bool is_below(int id, int launcher) {
  constexpr int deepest = 16;
  for (int i = 0; i < deepest && id > 1; ++i, id = parent_of(id))
    if (id == launcher) return true;
  return false;
}

bool is_rank_without_preload(int id) {
  const std::string maps = text_of(id, "maps");
  return maps.find("/libmpi") != std::string::npos && !names_preload(maps);
}

}  // namespace

job_parts job_parts::find() {
  const int from = launcher();
  if (from == 0) return {};
  const std::vector<int> all = all_processes();
  const auto lacks = [=](int id) { return is_below(id, from) && is_rank_without_preload(id); };
  return {true, std::any_of(all.begin(), all.end(), lacks)};
}

}  // namespace shoal
