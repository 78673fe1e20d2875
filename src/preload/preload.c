// The preload has MPI's names, and is in every process that inherits LD_PRELOAD. It needs the C library alone, so that
// shells and launchers have next to nothing to load. It finds the program's MPI and loads the drop-in library, which
// lies beside the preload and serves the calls. The drop-in library's references to MPI bind to the program's MPI,
// whichever MPI of the ABI that is. Under an MPI of another ABI calls go where they would go without Shoal.
#include <dlfcn.h>
#include <fnmatch.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/narrowed.h"
#include "preload/pass_on.h"
#include "preload/preload.h"
#include "preload/words.h"

// Tells ABIs apart as cmake/shoal_abi.cmake does.
struct abi {
  const char *sonames, *name;
  word world;  // MPI_COMM_WORLD, if it is a number
};
static const struct abi abis[] = {
    {"libmpi_abi.so.*", "standard", 0x101},
    {"libmpi*.so.40", "openmpi", 0},
    {"libmpi*.so.12", "mpich", 0x44000000},
};

typedef int flag_question(int* answer);

static struct {
  void* handle;  // finds the functions of the MPI
  flag_question* initialized;
  const char *soname, *path;
  struct abi abi;
} mpi;
static void* drop_in;  // null: calls are not served

struct search {
  int skip;
  char path[4096];
};

static int is_named_as_mpi(struct dl_phdr_info* object, size_t size, void* memory) {
  struct search* const search = memory;
  (void)size;
  const char* const slash = strrchr(object->dlpi_name, '/');
  if (!slash || fnmatch("libmpi*.so*", slash + 1, 0) || search->skip-- > 0) return 0;
  snprintf(search->path, sizeof search->path, "%s", object->dlpi_name);
  return 1;
}

// If the program itself needs no MPI, one of its modules may have loaded an MPI for itself alone. Returns the MPI
// library that has this function, or null.
static void* library_of_a_module(const char* name) {
  for (int number = 0;; ++number) {
    struct search search = {number, ""};
    if (!dl_iterate_phdr(is_named_as_mpi, &search)) return NULL;
    void* const handle = dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD);
    if (handle && dlsym(handle, name)) return handle;
  }
}

static const char* soname_of(const struct link_map* map) {
  const char* strings = NULL;
  size_t at = 0;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = (const char*)entry->d_un.d_ptr;  // NOLINT: glibc has made it an address
    if (entry->d_tag == DT_SONAME) at = entry->d_un.d_val;
  }
  return strings && at ? strings + at : "";
}

static struct abi abi_of(const char* soname) {
  for (size_t i = 0; i < sizeof abis / sizeof *abis; ++i)
    if (!fnmatch(abis[i].sonames, soname, 0)) return abis[i];
  return (struct abi){"", "unknown", 0};
}

static void find_mpi(void) {
  mpi.handle = dlsym(RTLD_DEFAULT, "PMPI_Comm_rank") ? RTLD_DEFAULT : library_of_a_module("PMPI_Comm_rank");
  void* const function = dlsym(mpi.handle, "PMPI_Comm_rank");
  Dl_info info;
  struct link_map* map;
  const int known = function && dladdr1(function, &info, (void**)&map, RTLD_DL_LINKMAP);
  mpi.initialized = (flag_question*)dlsym(mpi.handle, "PMPI_Initialized");
  mpi.soname = known ? soname_of(map) : "";
  mpi.path = known ? map->l_name : "";
  mpi.abi = abi_of(mpi.soname);
  const word open_mpis_world = (word)dlsym(mpi.handle, "ompi_mpi_comm_world");
  if (open_mpis_world && mpi.abi.world) mpi.abi = (struct abi){"", "unknown", 0};  // Open MPI 1 has MPICH's soname
  if (open_mpis_world) mpi.abi.world = open_mpis_world;
}

// Prints on rank 0 of MPI_COMM_WORLD. If the rank cannot be told, prints on every process: a session has no world.
static void say(const char* what, const char* more) {
  int rank = 0, world = 0;
  int (*const rank_of)(word, int*) = (int (*)(word, int*))dlsym(mpi.handle, "PMPI_Comm_rank");
  if (mpi.initialized && rank_of && mpi.abi.world) mpi.initialized(&world);
  if (world) rank_of(mpi.abi.world, &rank);
  if (rank == 0) fprintf(stderr, "shoal: %s%s; using the MPI library's own collectives\n", what, more);
}

// Asks the variables that launchers set, because MPI may not have been initialised. Keeps the answer, because the
// program may have cleared them when it ends.
static int is_first_rank(void) {
  static const char* const names[] = {"PMIX_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"};
  static int answer = -1;
  for (size_t i = 0; answer < 0 && i < sizeof names / sizeof *names; ++i) {
    const char* const rank = secure_getenv(names[i]);
    if (rank) answer = !strcmp(rank, "0");
  }
  return answer != 0;
}

static int wants_report(void) {
  const char* const wanted = secure_getenv("SHOAL_REPORT");
  return wanted && *wanted && strcmp(wanted, "0") != 0 && strcmp(wanted, "off") != 0;
}

// Prints at once, so that a user who asks for a report knows that one will come if there is something to report.
static void announce(void) {
  const int is_first = is_first_rank();
  if (drop_in && wants_report() && is_first)
    fprintf(stderr,
            "shoal: loaded for %s; serves MPI_Alltoall(v,w), MPI_Neighbor_alltoall(v,w), and MPI_Allgather(v) between two "
            "groups\n",
            mpi.soname);
}

// The drop-in library lies beside this one. The loader's $ORIGIN would not do: if another library wraps dlopen(), as
// AddressSanitizer's does, $ORIGIN is the folder of that library.
static void load_drop_in(void) {
  static const char name[] = "/libshoal-drop-in.so";
  static char path[PATH_MAX + sizeof name];  // static: the stack may be small
  Dl_info info;
  struct link_map* own = NULL;
  if (!dladdr1((void*)load_drop_in, &info, (void**)&own, RTLD_DL_LINKMAP)) return;
  const char* const end = strrchr(own->l_name, '/');
  path[0] = '\0';
  if (own->l_name[0] == '/' && end - own->l_name < PATH_MAX) strncat(path, own->l_name, (size_t)(end - own->l_name));
  else dlinfo(own, RTLD_DI_ORIGIN, path);  // LD_PRELOAD has a path from the folder in which the program started
  strcat(path, name);
  if (mpi.handle) dlopen(mpi.path, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);  // so that the drop-in library sees it
  drop_in = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void (*const watch)(const int*) = (void (*)(const int*))function_of_drop_in("shoal_preload_watch_handlers");
  if (watch) watch(&has_made_handlers);
  begin_passing();
}

// If the MPI lacks a function, all ranks see this, and all go on without Shoal. Any other fault may be this rank's
// alone: then the job has to end, because other ranks would wait for this one.
static void load(void) {
  load_drop_in();
  if (drop_in) return announce();
  char wrong[1024];
  snprintf(wrong, sizeof wrong, "%s", dlerror());  // NOLINT: dlerror() is of this thread
  if (strstr(wrong, "undefined symbol")) return say("this MPI library lacks what Shoal needs: ", wrong);
  fprintf(stderr, "shoal: %s; the job ends, because other ranks may have loaded it\n", wrong);
  int (*const end)(word, int) = (int (*)(word, int))dlsym(mpi.handle, "PMPI_Abort");
  if (end) end(mpi.abi.world, 1);
  abort();
}

// Whether another preload follows this one: a site may preload one for each of its ABIs.
static int another_follows(void) {
  Dl_info info;
  void* const next = dlsym(RTLD_NEXT, "MPI_Alltoall");
  return next && dladdr(next, &info) && strstr(info.dli_fname, "libshoal-preload.so");
}

static void prepare(void) {
  if (drop_in) return;
  find_mpi();
  if (!strcmp(mpi.abi.name, SHOAL_ABI)) return load();
  if (!another_follows())
    say("this preload is for the ABI " SHOAL_ABI ", not for that of ", *mpi.soname ? mpi.soname : "this program");
}

static pid_t born;  // the process that loaded this library; others were forked

// If a program has its MPI from the beginning, loads the drop-in library while the program starts, and not in its first
// exchange. Errors are reported in the first exchange.
__attribute__((constructor)) static void load_early(void) {
  born = getpid();
  if (!dlsym(RTLD_DEFAULT, "PMPI_Comm_rank")) return;
  find_mpi();
  if (strcmp(mpi.abi.name, SHOAL_ABI) != 0) return;
  load_drop_in();
  announce();
}

static int has_ended(void) {
  flag_question* const finalized = (flag_question*)dlsym(mpi.handle, "PMPI_Finalized");
  int ended = 0;
  if (finalized) finalized(&ended);
  return ended;
}

// If a module has loaded the MPI, as in Python, and the program has used it without an exchange, loads the drop-in
// library when the program ends, for its report. A process that was forked reports nothing.
static void load_late(void) {
  if (getpid() != born) return;
  find_mpi();
  if (strcmp(mpi.abi.name, SHOAL_ABI) != 0 || !has_ended()) return;
  load_drop_in();
  announce();
}

void* function_of_mpi(const char* name) {
  void* const next = dlsym(RTLD_NEXT, name);
  void* const module = next ? NULL : library_of_a_module(name);
  return module ? dlsym(module, name) : next;
}

void prepare_to_serve(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare);
}

void* function_of_drop_in(const char* name) { return drop_in ? dlsym(drop_in, name) : NULL; }

void* function_for(const char* name) {
  prepare_to_serve();
  void* function = function_of_drop_in(name);
  if (!function) function = function_of_mpi(name);
  if (!function) function = narrowed(name, mpi.handle);
  if (function) return function;
  fprintf(stderr, "shoal: %s was called, but there is no MPI library that has it\n", name);
  abort();
}

// A process that was forked after MPI began is no rank. Nothing may be looked up here, because other threads may have
// been looking something up when the process was forked.
static int is_forked;
static void forked(void) {
  if (mpi.initialized) mpi.initialized(&is_forked);
}
__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, forked); }

// Tells a user who asked for a report if there was nothing to report. Says nothing if the program never used MPI, or
// used only sessions, of which nothing is known.
__attribute__((destructor)) static void report_nothing(void) {
  if (!drop_in && wants_report()) load_late();
  void (*const tell)(void) = (void (*)(void))function_of_drop_in("shoal_preload_report_nothing");
  if (tell && !is_forked && has_ended() && is_first_rank()) tell();
}

// NOLINTBEGIN(misc-use-internal-linkage)
// A program that asks for these functions finds them even if the MPI lacks them. They then do what those with int counts
// do.
PASS_ON(MPI_Alltoall_c, 7)
PASS_ON(MPI_Alltoallv_c, 9)
PASS_ON(MPI_Alltoallw_c, 9)
PASS_ON(MPI_Allgather_c, 7)
PASS_ON(MPI_Allgatherv_c, 8)
PASS_ON_NEWER(MPI_Neighbor_alltoall_c, 7)
PASS_ON_NEWER(MPI_Neighbor_alltoallv_c, 9)
PASS_ON_NEWER(MPI_Neighbor_alltoallw_c, 9)

#ifndef SHOAL_FORTRAN_NAMES  // which only the preload for Open MPI has; these functions are of MPICH
PASS_ON_NEWER(MPIX_Stream_comm_create, 3)
PASS_ON_NEWER(MPIX_Stream_comm_create_multiplex, 4)
#endif

PASS_ON_FORTRAN(alltoall, ALLTOALL, 8)
PASS_ON_FORTRAN(alltoallv, ALLTOALLV, 10)
PASS_ON_FORTRAN(alltoallw, ALLTOALLW, 10)
PASS_ON_FORTRAN(allgather, ALLGATHER, 8)
PASS_ON_FORTRAN(allgatherv, ALLGATHERV, 9)
PASS_ON_FORTRAN(neighbor_alltoall, NEIGHBOR_ALLTOALL, 8)
PASS_ON_FORTRAN(neighbor_alltoallv, NEIGHBOR_ALLTOALLV, 10)
PASS_ON_FORTRAN(neighbor_alltoallw, NEIGHBOR_ALLTOALLW, 10)
// NOLINTEND(misc-use-internal-linkage)
