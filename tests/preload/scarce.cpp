// scarce FIRST NAME...: calls these functions, which the drop-in library exports, while that library's memory runs out:
// when it has allocated FIRST times, then once more, and so on until there is memory for all. Every call must return,
// and the next call is right. Among several ranks a call that runs out of memory ends the job, as the blocks of others
// pass through this rank.
//
// Prints "returned: NAME" for each function, "lacked: NAME" if the MPI lacks it, or "unknown: NAME" if this program
// cannot call it, and the number of faults. This program's malloc() and aligned_alloc() serve all libraries, and refuse
// memory to the drop-in library alone, not to the MPI. Arguments are passed as machine words, as the preload passes
// them.
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>

#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

using word = std::intptr_t;
using words = int(word, word, word, word, word, word, word, word, word, word, word, word);

// ---- memory --------------------------------------------------------------------------------------------------------

namespace {
std::uintptr_t begin_of_drop_in = 0, end_of_drop_in = 0;
int left = -1;         // allocations for which there is memory; negative: any number
bool refused = false;  // some allocation was refused
std::string path_of_drop_in;

bool is_refused(const void* caller) {
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  if (left < 0 || at < begin_of_drop_in || at >= end_of_drop_in) return false;
  if (left > 0) return --left, false;
  return refused = true;
}

int find_drop_in(dl_phdr_info* object, std::size_t, void*) {
  if (!std::strstr(object->dlpi_name, "libshoal-drop-in.so")) return 0;
  path_of_drop_in = object->dlpi_name;
  begin_of_drop_in = object->dlpi_addr;
  for (int i = 0; i < object->dlpi_phnum; ++i)
    if (const ElfW(Phdr) & part = object->dlpi_phdr[i]; part.p_type == PT_LOAD)
      end_of_drop_in = object->dlpi_addr + part.p_vaddr + part.p_memsz;
  return 1;
}
}  // namespace

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_memalign(std::size_t unit, std::size_t bytes);
void* malloc(std::size_t bytes) noexcept {
  return is_refused(__builtin_return_address(0)) ? nullptr : __libc_malloc(bytes);
}
void* aligned_alloc(std::size_t unit, std::size_t bytes) noexcept {
  return is_refused(__builtin_return_address(0)) ? nullptr : __libc_memalign(unit, bytes);
}
}

namespace {

// ---- what a name says ----------------------------------------------------------------------------------------------

struct function {
  std::string name;
  words* to;
  std::string what;  // "alltoall", "allgather", "start" and so on; "shoal_preload_delete" and so on
  char form;         // 'v', 'w', or ' '
  bool in_fortran, by_handles, is_wide, has_neighbors, is_persistent, is_nonblocking;
  bool has_request() const { return is_persistent || is_nonblocking; }
};

bool starts_with(const std::string& text, const char* what) { return text.rfind(what, 0) == 0; }

// Both take `what` away from `text`, and return whether it was there.
bool take_front(std::string& text, const std::string& what) {
  if (!starts_with(text, what.c_str())) return false;
  text.erase(0, what.size());
  return true;
}
bool take_back(std::string& text, const std::string& what) {
  if (text.size() < what.size() || text.compare(text.size() - what.size(), what.size(), what) != 0) return false;
  text.resize(text.size() - what.size());
  return true;
}

// In Fortran names have no capitals, or nothing but capitals.
bool is_of_fortran(const std::string& name) {
  return starts_with(name, "mpi_") || starts_with(name, "ompi_") || std::isupper(static_cast<unsigned char>(name[5]));
}

function function_of(const std::string& name) {
  function f{name, nullptr, name, ' ', false, false, false, false, false, false};
  const bool is_of_preload = starts_with(name, "shoal_preload_");
  void* const in = is_of_preload ? dlopen(path_of_drop_in.c_str(), RTLD_LAZY | RTLD_NOLOAD) : RTLD_DEFAULT;
  f.to = reinterpret_cast<words*>(dlsym(in, name.c_str()));
  f.in_fortran = is_of_preload && take_back(f.what, "_in_fortran");
  if (is_of_preload) return f;
  for (char& c : f.what) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  f.by_handles = take_back(f.what, "_f08_");
  f.in_fortran = !f.by_handles && is_of_fortran(name);
  f.is_wide = take_back(f.what, "_c");
  if (take_front(f.what, "ompi_")) take_back(f.what, "_f");
  while (take_back(f.what, "_")) continue;
  take_front(f.what, "mpi_");
  f.is_persistent = take_back(f.what, "_init");
  f.is_nonblocking = take_front(f.what, "i");
  f.has_neighbors = take_front(f.what, "neighbor_");
  for (const char form : {'v', 'w'})
    if (take_back(f.what, std::string(1, form))) f.form = form;
  return f;
}

// ---- arguments -----------------------------------------------------------------------------------------------------

constexpr int most = 4;
int rank, ranks, faults;
int sent[most], got[most], one = 1, code_of_fortran;
int ones[most], places[most], bytes[most];
MPI_Count wide_ones[most];
MPI_Aint wide_places[most], wide_bytes[most];
MPI_Datatype types[most];
MPI_Request request;

// The same in Fortran, which gets the addresses of integers.
int type_in_fortran[most], comm_in_fortran, info_in_fortran, request_in_fortran;

void fault(const std::string& what, const std::string& name, int limit) {
  ++faults;
  std::printf("rank %d: %s: %s with memory for %d\n", rank, name.c_str(), what.c_str(), limit);
  std::fflush(stdout);
}

void prepare_arguments() {
  for (int i = 0; i < most; ++i) {
    ones[i] = 1, wide_ones[i] = 1, places[i] = i, wide_places[i] = i;
    wide_bytes[i] = bytes[i] = i * static_cast<int>(sizeof(int));
    types[i] = MPI_INT;
  }
#ifdef OPEN_MPI
  for (int& type : type_in_fortran) type = MPI_Type_c2f(MPI_INT);
  info_in_fortran = MPI_Info_c2f(MPI_INFO_NULL);
#endif
}

template <typename Handle>
word in_a_word(Handle handle) {
  return (word)handle;  // a number or an address
}
word address(const void* of) { return reinterpret_cast<word>(of); }

using arguments = std::vector<word>;

// `form`: ' ' for one size, 'v' for a list of them, 'w' for a list of types too.
void add_side(const function& f, char form, const int* buffer, arguments& to) {
  to.push_back(address(buffer));
  if (form == ' ') to.push_back(f.in_fortran ? address(&one) : 1);
  else to.push_back(f.is_wide ? address(wide_ones) : address(ones));
  if (form == 'v') to.push_back(f.is_wide ? address(wide_places) : address(places));
  if (form == 'w') to.push_back(f.is_wide || f.has_neighbors ? address(wide_bytes) : address(bytes));
  if (form == 'w') to.push_back(f.in_fortran ? address(type_in_fortran) : address(types));
  else to.push_back(f.in_fortran ? address(type_in_fortran) : in_a_word(MPI_INT));
}

arguments arguments_of(const function& f, MPI_Comm comm) {
  arguments all;
  add_side(f, f.what == "allgather" ? ' ' : f.form, sent, all);
  add_side(f, f.form, got, all);
  all.push_back(f.in_fortran ? address(&comm_in_fortran) : in_a_word(comm));
  if (f.is_persistent) all.push_back(f.in_fortran ? address(&info_in_fortran) : in_a_word(MPI_INFO_NULL));
  if (f.has_request()) all.push_back(f.in_fortran ? address(&request_in_fortran) : address(&request));
  return all;
}

// ---- calls ---------------------------------------------------------------------------------------------------------

int called(const function& f, arguments all, int limit) {
  int code = MPI_ERR_OTHER;
  const bool has_code_behind = f.in_fortran || f.by_handles;
  all.push_back(address(&code_of_fortran));
  all.resize(12);
  code_of_fortran = MPI_SUCCESS;
  refused = false, left = limit;
  try {
    code = f.to(all[0], all[1], all[2], all[3], all[4], all[5], all[6], all[7], all[8], all[9], all[10], all[11]);
    if (has_code_behind) code = code_of_fortran;
  } catch (...) {
    left = -1;
    fault("throws", f.name, limit);
  }
  left = -1;
  return code;
}

void take_from_fortran() {
#ifdef OPEN_MPI
  request = MPI_Request_f2c(request_in_fortran);
#endif
}
void give_to_fortran(MPI_Comm comm) {
#ifdef OPEN_MPI
  comm_in_fortran = MPI_Comm_c2f(comm), request_in_fortran = MPI_Request_c2f(request);
#else
  static_cast<void>(comm);
#endif
}

// Ends the exchange behind `request`.
int end(const function& f) {
  int code = f.is_persistent ? MPI_Start(&request) : MPI_SUCCESS;
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (f.is_persistent) MPI_Request_free(&request);
  return code;
}

int exchange(const function& f, MPI_Comm comm, int limit) {
  for (int i = 0; i < most; ++i) sent[i] = 10 * rank + i, got[i] = -1;
  request = MPI_REQUEST_NULL;
  give_to_fortran(comm);
  const int code = called(f, arguments_of(f, comm), limit);
  if (f.in_fortran && f.has_request()) take_from_fortran();
  const int ended = code == MPI_SUCCESS && f.has_request() ? end(f) : code;
  const bool is_right = got[0] == sent[0] || (f.has_neighbors && got[0] == sent[1]);
  if (ranks == 1 && ended == MPI_SUCCESS && !is_right) fault("wrong data", f.name, limit);
  return ended;
}

// A persistent request: Shoal's if there are several ranks and they ask for an algorithm.
MPI_Request persistent_on(MPI_Comm comm) {
  using init = int(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*);
  static auto* const make = reinterpret_cast<init*>(dlsym(RTLD_DEFAULT, "MPI_Alltoall_init"));
  MPI_Request made = MPI_REQUEST_NULL;
  if (make && ranks > 1) make(sent, 1, MPI_INT, got, 1, MPI_INT, comm, MPI_INFO_NULL, &made);
  else MPI_Recv_init(got, 0, MPI_INT, MPI_PROC_NULL, 0, comm, &made);
  return made;
}

int use_request(const function& f, MPI_Comm comm, int limit) {
  request = persistent_on(comm);
  give_to_fortran(comm);
  arguments all{f.in_fortran ? address(&request_in_fortran) : address(&request)};
  if (f.what == "startall") all.insert(all.begin(), f.in_fortran || f.by_handles ? address(&one) : 1);
  const int code = called(f, all, limit);
  if (f.in_fortran) take_from_fortran();
  if (code == MPI_SUCCESS && f.what != "request_free") MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  return code;
}

int free_in_words(word comm, word) { return PMPI_Comm_free(reinterpret_cast<MPI_Comm*>(comm)); }

// The functions that the preload alone calls.
int call_for_preload(const function& f, MPI_Comm comm, int limit) {
  static const int no_handlers = 0;
  static word passing[32];  // has room for a shoal_passing
  MPI_Comm copy;
  MPI_Comm_dup(comm, &copy);
  give_to_fortran(copy);
  MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, copy);  // then the library knows the communicator
  const word named = f.in_fortran ? address(&comm_in_fortran) : address(&copy);
  arguments all;
  if (f.what == "shoal_preload_delete") all = {named, reinterpret_cast<word>(free_in_words), 0, address(&copy), 0};
  else if (f.what == "shoal_preload_note_duplicate") all = {f.in_fortran ? named : in_a_word(copy)};
  else if (f.what == "shoal_preload_watch_handlers") all = {address(&no_handlers)};
  else if (f.what == "shoal_preload_show_passing") all = {address(passing)};
  called(f, all, limit);
  if (copy != MPI_COMM_NULL) MPI_Comm_free(&copy);
  return MPI_SUCCESS;
}

int make_with_stream(const function& f, MPI_Comm comm, int limit) {
  constexpr int no_stream = 0x3c000000;  // of MPICH
  MPI_Comm made = MPI_COMM_NULL;
  const int code = called(f, {in_a_word(comm), no_stream, address(&made)}, limit);
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
  return code;
}

using caller = int(const function& f, MPI_Comm comm, int limit);

// What calls such functions; null if this program does not know them.
caller* caller_of(const std::string& what) {
  static const std::map<std::string, caller*> all{{"alltoall", exchange},
                                                  {"allgather", exchange},
                                                  {"start", use_request},
                                                  {"startall", use_request},
                                                  {"request_free", use_request},
                                                  {"mpix_stream_comm_create", make_with_stream},
                                                  {"shoal_preload_delete", call_for_preload},
                                                  {"shoal_preload_has_started", call_for_preload},
                                                  {"shoal_preload_note_buffer", call_for_preload},
                                                  {"shoal_preload_note_duplicate", call_for_preload},
                                                  {"shoal_preload_report_nothing", call_for_preload},
                                                  {"shoal_preload_show_passing", call_for_preload},
                                                  {"shoal_preload_watch_handlers", call_for_preload}};
  const auto found = all.find(what);
  return found == all.end() ? nullptr : found->second;
}

// All ranks in a ring, in which a rank that is alone is its own neighbour.
MPI_Comm ring() {
  const int is_closed = 1;
  MPI_Comm made;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &is_closed, 0, &made);
  return made;
}

// Calls that may wait for other ranks. They set up what Shoal needs for calls that may not.
void make_ready(MPI_Comm comm) {
  MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm);
  MPI_Alltoallv(sent, ones, places, MPI_INT, got, ones, places, MPI_INT, comm);
  MPI_Alltoallw(sent, ones, bytes, types, got, ones, bytes, types, comm);
  MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm);
  MPI_Neighbor_alltoallv(sent, ones, places, MPI_INT, got, ones, places, MPI_INT, comm);
  MPI_Neighbor_alltoallw(sent, ones, wide_bytes, types, got, ones, wide_bytes, types, comm);
}

// Whether memory ran out.
bool call_with_memory_for(int limit, const function& f, caller* call) {
  MPI_Comm comm = ring();
  if (ranks > 1) make_ready(comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  call(f, comm, limit);
  const bool has_run_out = refused;
  if (call(f, comm, -1) != MPI_SUCCESS) fault("the next call fails", f.name, limit);
  if (ranks == 1) {
    make_ready(comm);
    call(f, comm, limit % 3);
    left = limit % 3;
  }
  MPI_Comm_free(&comm);
  left = -1;
  return has_run_out;
}

void call_until_enough(const char* name, int limit) {
  constexpr int enough = 2000;
  const function f = function_of(name);
  caller* const call = caller_of(f.what);
  while (call && f.to && limit < enough && call_with_memory_for(limit, f, call)) ++limit;
  if (limit == enough) fault("never has enough", name, limit);
  if (rank == 0) std::printf("%s: %s\n", !call ? "unknown" : f.to ? "returned" : "lacked", name);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  prepare_arguments();
  dl_iterate_phdr(find_drop_in, nullptr);
  for (int i = 2; i < argc; ++i) call_until_enough(argv[i], std::atoi(argv[1]));
  int all = 0;
  MPI_Allreduce(&faults, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("faults: %d\n", all);
  MPI_Finalize();
  return all > 0;
}
