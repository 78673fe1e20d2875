// Preloaded when `shoal simulate -- ./program` runs a whole program under SimGrid's SMPI. Counts the program's
// exchanges and their simulated time, and hands the exchanges to Shoal if SIMULATED_SHOAL names Shoal's library. Rank 0
// prints one JSON line at the end.
//
// All simulated ranks are fibres of one process. SMPI gives each rank global variables of its own in the program. For
// Shoal's variables this file does so: every rank loads a copy of the library.
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

namespace {

using alltoall_function = decltype(&PMPI_Alltoall);
using alltoallv_function = decltype(&PMPI_Alltoallv);

struct simulated_rank {
  void* library = nullptr;
  alltoall_function alltoall = PMPI_Alltoall;
  alltoallv_function alltoallv = PMPI_Alltoallv;
  double begin = 0, exchanging = 0;
  std::int64_t calls = 0;
};

simulated_rank& self() {
  static auto* const ranks = new std::map<int, simulated_rank>;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return (*ranks)[rank];
}

// To the loader, a file with another name is another library.
void* load_copy(const char* library) {
  std::string copy = std::filesystem::temp_directory_path() / "shoal-XXXXXX";
  const int made = mkstemp(copy.data());
  if (made >= 0) close(made);
  std::error_code wrong;
  std::filesystem::copy_file(library, copy, std::filesystem::copy_options::overwrite_existing, wrong);
  void* const handle = wrong ? nullptr : dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) std::fprintf(stderr, "shoal: %s: %s\n", library, wrong ? wrong.message().c_str() : dlerror());
  unlink(copy.c_str());
  if (!handle) PMPI_Abort(MPI_COMM_WORLD, 2);
  return handle;
}

template <typename Function>
void find(void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(dlsym(library, name));
}

void begin() {
  simulated_rank& mine = self();
  if (const char* library = getenv("SIMULATED_SHOAL")) {
    mine.library = load_copy(library);
    find(mine.library, "MPI_Alltoall", mine.alltoall);
    find(mine.library, "MPI_Alltoallv", mine.alltoallv);
  }
  mine.begin = PMPI_Wtime();
}

template <typename Call>
int timed(Call call) {
  simulated_rank& mine = self();
  const double begin = PMPI_Wtime();
  const int code = call(mine);
  mine.exchanging += PMPI_Wtime() - begin;
  ++mine.calls;
  return code;
}

// The program's time is that of its last rank, the time in exchanges is the mean of all ranks, and the cost of learning
// is rank 0's.
void end() {
  const simulated_rank& mine = self();
  int rank = 0, ranks = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const double took = PMPI_Wtime() - mine.begin;
  double last = 0, exchanging = 0;
  std::array<double, 2> learning{};  // cost, gained
  void (*end_of_shoal)(double*) = nullptr;
  if (mine.library) find(mine.library, "shoal_simulated_end", end_of_shoal);
  if (end_of_shoal) end_of_shoal(learning.data());
  PMPI_Reduce(&took, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  PMPI_Reduce(&mine.exchanging, &exchanging, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  std::printf("\n{\"seconds\": %.9g, \"exchanging\": %.9g, \"calls\": %lld, \"learning\": %.9g, \"gained\": %.9g}\n",
              last, exchanging / ranks, static_cast<long long>(mine.calls), learning[0], learning[1]);
  std::fflush(stdout);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// SMPI loads a program so that it looks for names in its own libraries first, and there MPI's names are the
// simulator's. Without RTLD_DEEPBIND the program finds the functions below.
void* dlopen(const char* file, int flags) {
  static void* (*const next)(const char*, int) =
      reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_NEXT, "dlopen"));
  return next(file, flags & ~RTLD_DEEPBIND);
}

int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  begin();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  begin();
  return code;
}

int MPI_Finalize() {
  end();
  return PMPI_Finalize();
}

int MPI_Alltoall(const void* send, int send_count, MPI_Datatype send_type, void* recv, int recv_count,
                 MPI_Datatype recv_type, MPI_Comm comm) {
  return timed([&](simulated_rank& mine) {
    return mine.alltoall(send, send_count, send_type, recv, recv_count, recv_type, comm);
  });
}

int MPI_Alltoallv(const void* send, const int* send_counts, const int* send_at, MPI_Datatype send_type, void* recv,
                  const int* recv_counts, const int* recv_at, MPI_Datatype recv_type, MPI_Comm comm) {
  return timed([&](simulated_rank& mine) {
    return mine.alltoallv(send, send_counts, send_at, send_type, recv, recv_counts, recv_at, recv_type, comm);
  });
}

}  // extern "C"
#pragma GCC visibility pop
