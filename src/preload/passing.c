// The calls of which most pass: they are like the last one on their communicator, so they are only counted, and the MPI
// serves them. Allgathers in one group pass too, uncounted. All others go to the drop-in library. If ranks share a
// core, each call finds Shoal's memory cold, and a visit to the drop-in library would take longer than all else here. So
// the preload counts calls itself, in the drop-in library's memory (recent_call.h).
#include <dlfcn.h>
#include <stddef.h>

#include "calls/recent_call.h"
#include "preload/pass_on.h"

#ifdef SHOAL_HANDLES_ARE_INTS  // then the upper half of the word is undefined
static word handle(word of) { return (int)of; }
#else
static word handle(word of) { return of; }
#endif

static struct shoal_passing passing;

// MPI's old C++ interface has a handler that throws, which no function of C makes.
void begin_passing(void) {
  void (*const show)(struct shoal_passing*) =
      (void (*)(struct shoal_passing*))function_of_drop_in("shoal_preload_show_passing");
  if (show && !has_made_handlers && !dlsym(RTLD_DEFAULT, "_ZN3MPI10COMM_WORLDE")) show(&passing);
}

void stop_passing(void) { passing.entries = NULL; }

static struct shoal_recent_call* last_on(word comm) {
  if (!passing.entries) return NULL;
  struct shoal_recent_call* const at =
      (struct shoal_recent_call*)(passing.entries + 2 * shoal_place_of(comm) * passing.entry_bytes);
  if (at->comm == comm) return at;
  struct shoal_recent_call* const other = (struct shoal_recent_call*)((char*)at + passing.entry_bytes);
  return other->comm == comm ? other : NULL;
}

static struct shoal_other_repeats* others_on(word comm) {
  struct shoal_recent_call* const last = last_on(handle(comm));
  return last ? last->others : NULL;
}

// Whether a call of this form repeats the last one. If so, counts it.
static int repeats(struct shoal_repeats* of, int form) {
  if (of->left == 0 || of->form != form) return 0;
  --of->left;
  ++of->passed;
  return 1;
}

static int is_among_ranks(word comm, int form) {
  struct shoal_recent_call* const last = last_on(handle(comm));
  return last && repeats(&last->among_ranks, form);
}

static int is_among_neighbors(word comm, int form) {
  struct shoal_other_repeats* const others = others_on(comm);
  return others && repeats(&others->among_neighbors, form);
}

static int is_between_groups(word comm, int form) {
  struct shoal_other_repeats* const others = others_on(comm);
  return others && repeats(&others->between_groups, form);
}

static int repeats_blocks(struct shoal_repeats* of, word send, word sent, word send_type, word received,
                          word recv_type) {
  if (send == passing.in_place) return 0;
  if (of->sent != (int)sent || of->received != (int)received || !of->send_type) return 0;
  if (of->send_type != handle(send_type) || of->recv_type != handle(recv_type)) return 0;
  return repeats(of, passing.alltoall.form);
}

static int are_equal_among_ranks(word send, word sent, word send_type, word received, word recv_type, word comm) {
  struct shoal_recent_call* const last = last_on(handle(comm));
  return last && repeats_blocks(&last->among_ranks, send, sent, send_type, received, recv_type);
}

static int are_equal_between_groups(word send, word sent, word send_type, word received, word recv_type, word comm) {
  struct shoal_other_repeats* const others = others_on(comm);
  return others && repeats_blocks(&others->between_groups, send, sent, send_type, received, recv_type);
}

// `passes`: whether the call passes.
// NOLINTBEGIN(bugprone-macro-parentheses): names of functions
#define PASSING_AS(how, name, symbol, form_of, number, passes)                          \
  PASS_ON_AS(__attribute__((noinline)) static, serve_##form_of, symbol, number)         \
  how int name WORDS_##number {                                                         \
    if (!(passes)) return serve_##form_of NAMES_##number;                               \
    const int code = ((call_##number*)passing.form_of.native)NAMES_##number;            \
    return code ? ((ended_##number*)passing.form_of.ended)(code, LIST_##number) : code; \
  }
// NOLINTEND(bugprone-macro-parentheses)
#define PASSING(symbol, form_of, number, passes) PASSING_AS(PUBLIC, symbol, symbol, form_of, number, passes)
#define LIST_7 a, b, c, d, e, f, g
#define LIST_8 a, b, c, d, e, f, g, h
#define LIST_9 a, b, c, d, e, f, g, h, i
typedef int ended_7(int code, word a, word b, word c, word d, word e, word f, word g);
typedef int ended_8(int code, word a, word b, word c, word d, word e, word f, word g, word h);
typedef int ended_9(int code, word a, word b, word c, word d, word e, word f, word g, word h, word i);

// NOLINTBEGIN(misc-use-internal-linkage)
PASSING(MPI_Alltoall, alltoall, 7, are_equal_among_ranks(a, b, c, e, f, g))
PASSING(MPI_Alltoallv, alltoallv, 9, is_among_ranks(i, passing.alltoallv.form))
PASSING(MPI_Alltoallw, alltoallw, 9, is_among_ranks(i, passing.alltoallw.form))
PASSING(MPI_Neighbor_alltoall, neighbor_alltoall, 7, is_among_neighbors(g, passing.neighbor_alltoall.form))
PASSING(MPI_Neighbor_alltoallv, neighbor_alltoallv, 9, is_among_neighbors(i, passing.neighbor_alltoallv.form))
PASSING(MPI_Neighbor_alltoallw, neighbor_alltoallw, 9, is_among_neighbors(i, passing.neighbor_alltoallw.form))

// Shoal serves allgathers between two groups. Those in one group it does not even count.
static int is_in_one_group(word comm) {
  int is_between_two = 1;
  if (!passing.entries || handle(comm) == passing.no_comm) return 0;
  return ((int (*)(word, int*))passing.test_inter)(comm, &is_between_two) == 0 && !is_between_two;
}

#define ALLGATHER(symbol, form_of, number, comm, passes)                             \
  PASSING_AS(static, form_of##_between_groups, symbol, form_of, number, passes)      \
  PUBLIC int symbol WORDS_##number {                                                 \
    if (!is_in_one_group(comm)) return form_of##_between_groups NAMES_##number;      \
    return ((call_##number*)passing.form_of.native)NAMES_##number;                   \
  }
ALLGATHER(MPI_Allgather, allgather, 7, g, are_equal_between_groups(a, b, c, e, f, g))
ALLGATHER(MPI_Allgatherv, allgatherv, 8, h, is_between_groups(h, passing.allgatherv.form))
// NOLINTEND(misc-use-internal-linkage)
