// Measures how long a program is inside MPI_Alltoall, -v and -w, and inside the same functions among neighbours, as the
// program sees it. It is preloaded before Shoal, so each function calls Shoal's if Shoal is preloaded too, and
// otherwise the MPI's. When the program ends, every rank that exchanged appends a line to the file that PROGRAMS_CLOCK
// names: rank, calls, seconds.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double seconds;
static long calls;
static int rank;
static pid_t process;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

// Begins a call. The first call notes the rank: this library may not see MPI_Init, and MPI_Finalize may be too late.
static double start(void) {
  if (!calls++) {
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    process = getpid();
  }
  return now();
}

// Writes the line. A child that the program forked has its parent's counts, and writes nothing.
__attribute__((destructor)) static void tell(void) {
  const char *path = getenv("PROGRAMS_CLOCK");
  if (!calls || !path || process != getpid()) return;
  char line[96];
  int length = snprintf(line, sizeof line, "%d %ld %.9f\n", rank, calls, seconds);
  int file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0644);
  if (file < 0 || write(file, line, length) != length) perror(path);
  if (file >= 0) close(file);
}

#define TIMED(name, parameters, arguments)                   \
  int name parameters {                                      \
    static int(*next) parameters;                            \
    if (!next) next = (int(*) parameters)dlsym(RTLD_NEXT, #name); \
    const double began = start();                            \
    const int code = next arguments;                         \
    seconds += now() - began;                                \
    return code;                                             \
  }

#define ALLTOALL(name, count)                                                                              \
  TIMED(name,                                                                                              \
        (const void *out, count outs, MPI_Datatype sent, void *in, count ins, MPI_Datatype got, MPI_Comm comm), \
        (out, outs, sent, in, ins, got, comm))
#define ALLTOALLV(name, count, place)                                                                          \
  TIMED(name,                                                                                                  \
        (const void *out, const count *outs, const place *from, MPI_Datatype sent, void *in, const count *ins, \
         const place *to, MPI_Datatype got, MPI_Comm comm),                                                    \
        (out, outs, from, sent, in, ins, to, got, comm))
#define ALLTOALLW(name, count, place)                                                                                 \
  TIMED(name,                                                                                                         \
        (const void *out, const count *outs, const place *from, const MPI_Datatype *sent, void *in, const count *ins, \
         const place *to, const MPI_Datatype *got, MPI_Comm comm),                                                    \
        (out, outs, from, sent, in, ins, to, got, comm))

ALLTOALL(MPI_Alltoall, int)
ALLTOALLV(MPI_Alltoallv, int, int)
ALLTOALLW(MPI_Alltoallw, int, int)
ALLTOALL(MPI_Neighbor_alltoall, int)
ALLTOALLV(MPI_Neighbor_alltoallv, int, int)
ALLTOALLW(MPI_Neighbor_alltoallw, int, MPI_Aint)

// Only if the MPI has these functions: mpi4py calls a function if it finds the symbol.
#if MPI_VERSION >= 4
ALLTOALL(MPI_Alltoall_c, MPI_Count)
ALLTOALLV(MPI_Alltoallv_c, MPI_Count, MPI_Aint)
ALLTOALLW(MPI_Alltoallw_c, MPI_Count, MPI_Aint)
#endif

// Open MPI's Fortran functions do not call the C functions. mpif.h and `use mpi` call the names that begin with mpi_,
// `use mpi_f08` calls those that begin with ompi_.
#ifdef OPEN_MPI
#define TIMED_FORTRAN(name, parameters, arguments)             \
  void name parameters {                                       \
    static void(*next) parameters;                             \
    if (!next) next = (void(*) parameters)dlsym(RTLD_NEXT, #name); \
    const double began = start();                              \
    next arguments;                                            \
    seconds += now() - began;                                  \
  }
#define FORTRAN_ALLTOALL(name)                                                                                     \
  TIMED_FORTRAN(name,                                                                                              \
                (void *out, MPI_Fint *outs, MPI_Fint *sent, void *in, MPI_Fint *ins, MPI_Fint *got, MPI_Fint *comm, \
                 MPI_Fint *error),                                                                                 \
                (out, outs, sent, in, ins, got, comm, error))
#define FORTRAN_ALLTOALLV(name)                                                                                   \
  TIMED_FORTRAN(name,                                                                                             \
                (void *out, MPI_Fint *outs, MPI_Fint *from, MPI_Fint *sent, void *in, MPI_Fint *ins, MPI_Fint *to, \
                 MPI_Fint *got, MPI_Fint *comm, MPI_Fint *error),                                                 \
                (out, outs, from, sent, in, ins, to, got, comm, error))

FORTRAN_ALLTOALL(mpi_alltoall_)
FORTRAN_ALLTOALL(ompi_alltoall_f)
FORTRAN_ALLTOALLV(mpi_alltoallv_)
FORTRAN_ALLTOALLV(ompi_alltoallv_f)
FORTRAN_ALLTOALLV(mpi_alltoallw_)
FORTRAN_ALLTOALLV(ompi_alltoallw_f)
#endif
