// Programs made from seeds: mpiexec -n RANKS random_programs shoal|mpi FIRST [LAST]. Each mixes exchanges of every kind
// on several communicators with messages, errors, frees and requests for algorithms. Every rank goes through the
// program at its own pace, and compares what it received with what the MPI's own collectives deliver. With `mpi` a
// program calls MPI's names, for a preload.
#include <fenv.h>  // NOLINT(modernize-deprecated-headers): feenableexcept
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "run.hpp"

namespace random_programs {
namespace {

constexpr unsigned longest_seconds = 30;  // more than any program needs, even on a busy machine
char running[64] = "";

void say(const char* text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) _exit(4);
}

// Every rank says what it is doing, and has two seconds for that before one of them ends the job.
void give_up(int) {
  static bool told = false;
  if (told) _exit(3);
  told = true;
  alarm(2);
  say(running);
  say(being_done());
  say("\n");
}

bool on_any_rank(bool here) {
  int mine = here, any = 0;
  PMPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return any != 0;
}

// Runs the program of a seed. Returns whether it went as it should on all ranks.
bool perform(std::uint64_t seed, int ranks, int rank, names used) {
  const program what = make_program(seed, ranks, used);
  std::snprintf(running, sizeof running, "random_programs: seed %llu, rank %d hangs in ",
                static_cast<unsigned long long>(seed), rank);
  alarm(longest_seconds);
  const std::string wrong = run(what, used, rank).perform();
  if (!wrong.empty())
    std::fprintf(stderr, "random_programs: seed %llu, rank %d of %d, %s\n", static_cast<unsigned long long>(seed), rank,
                 ranks, wrong.c_str());
  const bool failed = on_any_rank(!wrong.empty());
  for (std::size_t i = 0; failed && rank == 0 && i < what.steps.size(); ++i)
    std::fprintf(stderr, "%4zu %s\n", i, what.text(what.steps[i]).c_str());
  return !failed;
}

}  // namespace
}  // namespace random_programs

int main(int argc, char** argv) {
  using namespace random_programs;
  MPI_Init(&argc, &argv);
  int ranks = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::signal(SIGALRM, give_up);
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);  // as some programs do
  if (argc < 3) return std::fprintf(stderr, "random_programs shoal|mpi FIRST [LAST]\n"), 2;
  const names used = std::string(argv[1]) == "mpi" ? names::of_mpi : names::of_shoal;
  const std::uint64_t first = std::strtoull(argv[2], nullptr, 10);
  const std::uint64_t last = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : first;
  for (std::uint64_t seed = first; seed <= last; ++seed)
    if (!perform(seed, ranks, rank, used)) MPI_Abort(MPI_COMM_WORLD, 1);
  if (rank == 0)
    std::printf("random_programs: %llu programs on %d ranks\n", static_cast<unsigned long long>(last - first + 1),
                ranks);
  MPI_Finalize();
  return 0;
}
