/* Nonblocking and persistent all-to-alls. Their requests go to every function of MPI that takes requests, among
 * requests of other kinds. The first argument names the case; the second, if any, says how often it is done. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Open MPI 5 has persistent exchanges, though it does not call itself MPI 4 yet. */
#define HAS_PERSISTENT (MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5)

enum { most = 16, largest = 3000 };

static int rank, ranks, faults;

static void fault(const char* what, int number) {
  ++faults;
  if (faults < 10) fprintf(stderr, "rank %d: %s (%d)\n", rank, what, number);
}

/* One exchange. An element is one integer or, with `gaps`, an integer and a second one that must stay as it is. */
struct exchange {
  MPI_Comm comm;
  int me, all, number, uniform, typed, in_place, gaps;
  MPI_Datatype type;
  int sent[most], received[most], from[most], to[most];
  /* If `typed`, each block has a type and a place in bytes. Empty blocks have another type. */
  MPI_Datatype sent_types[most], received_types[most];
  int from_bytes[most], to_bytes[most];
  int *out, *in;
};

static int elements(const struct exchange* x, int from, int to) {
  if (x->uniform) return x->number % 7 * 3;
  if (x->in_place) return (from + to + x->number) % 5 * 4; /* a rank sends as much to another as it receives from it */
  const int size = (from * 7 + to * 3 + x->number) % 9;
  return size == 8 ? largest : size * (x->number % 4);
}
static int value(const struct exchange* x, int from, int to, int i) {
  return x->number * 1000003 + from * 10007 + to * 101 + i;
}

/* With MPI_IN_PLACE the own MPI_Ialltoallw of MPICH before 4.1, and that of Intel MPI, mixes up blocks. */
static int is_right_in_place(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length, major = 9, minor = 0;
  MPI_Get_library_version(version, &length);
  const char* const mpich = strstr(version, "MPICH Version:");
  if (mpich) sscanf(mpich, "MPICH Version: %d.%d", &major, &minor);
  return !strstr(version, "Intel") && major * 100 + minor > 400;
}

// Makes a blocking call. It may wait for other ranks, so it sets up what Shoal needs for calls that may not.
static void make_ready(MPI_Comm comm) {
  int out[64] = {0}, in[64];
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
}

static void make(struct exchange* x, MPI_Comm comm, int number) {
  memset(x, 0, sizeof *x);
  x->comm = comm, x->number = number;
  x->uniform = number % 3 == 0, x->in_place = number % 5 == 0;
  x->typed = number % 2 && !x->uniform && (!x->in_place || is_right_in_place()),
  x->gaps = number % 4 == 1 && !x->in_place;
  MPI_Comm_rank(comm, &x->me), MPI_Comm_size(comm, &x->all);
  x->type = MPI_INT;
  if (x->gaps) {
    MPI_Datatype one;
    MPI_Type_vector(1, 1, 1, MPI_INT, &one);
    MPI_Type_create_resized(one, 0, 2 * sizeof(int), &x->type);
    MPI_Type_commit(&x->type);
    MPI_Type_free(&one);
  }
  int sent = 0, received = 0;
  for (int i = 0; i < x->all; ++i) {
    x->sent[i] = elements(x, x->me, i), x->received[i] = elements(x, i, x->me);
    x->from[i] = x->in_place ? received : sent, x->to[i] = received;
    sent += x->sent[i], received += x->received[i];
  }
  const int bytes = (x->gaps ? 2 : 1) * sizeof(int);
  for (int i = 0; i < x->all; ++i) {
    x->sent_types[i] = x->sent[i] ? x->type : MPI_INT, x->received_types[i] = x->received[i] ? x->type : MPI_BYTE;
    x->from_bytes[i] = x->from[i] * bytes, x->to_bytes[i] = x->to[i] * bytes;
  }
  x->out = malloc((sent + 1) * 2 * sizeof(int)), x->in = malloc((received + 1) * 2 * sizeof(int));
}

static void fill(struct exchange* x) {
  const int step = x->gaps ? 2 : 1;
  for (int i = 0; i < x->all; ++i)
    for (int k = 0; k < x->received[i] * step; ++k) x->in[x->to[i] * step + k] = -1;
  for (int i = 0; i < x->all; ++i)
    for (int k = 0; k < x->sent[i]; ++k)
      (x->in_place ? x->in : x->out)[(x->from[i] + k) * step] = value(x, x->me, i, k);
}

static void check(const struct exchange* x) {
  const int step = x->gaps ? 2 : 1;
  for (int i = 0; i < x->all; ++i)
    for (int k = 0; k < x->received[i]; ++k) {
      if (x->in[(x->to[i] + k) * step] != value(x, i, x->me, k)) return fault("wrong data in exchange", x->number);
      if (x->gaps && x->in[(x->to[i] + k) * step + 1] != -1) return fault("written between blocks", x->number);
    }
}

static void unmake(struct exchange* x) {
  free(x->out), free(x->in);
  if (x->gaps && x->type != MPI_DATATYPE_NULL) MPI_Type_free(&x->type);
}

static MPI_Request start(struct exchange* x) {
  MPI_Request request = MPI_REQUEST_NULL;
  const void* const out = x->in_place ? MPI_IN_PLACE : x->out;
  fill(x);
  const int code = x->uniform ? MPI_Ialltoall(out, x->sent[0], x->type, x->in, x->sent[0], x->type, x->comm, &request)
                   : x->typed ? MPI_Ialltoallw(out, x->sent, x->from_bytes, x->sent_types, x->in, x->received,
                                               x->to_bytes, x->received_types, x->comm, &request)
                              : MPI_Ialltoallv(out, x->sent, x->from, x->type, x->in, x->received, x->to, x->type,
                                               x->comm, &request);
  if (code != MPI_SUCCESS) fault("starting", x->number);
  return request;
}

#if HAS_PERSISTENT
static MPI_Request prepare(struct exchange* x) {
  MPI_Request request = MPI_REQUEST_NULL;
  const void* const out = x->in_place ? MPI_IN_PLACE : x->out;
  const MPI_Info none = MPI_INFO_NULL;
  const int code =
      x->uniform ? MPI_Alltoall_init(out, x->sent[0], x->type, x->in, x->sent[0], x->type, x->comm, none, &request)
      : x->typed ? MPI_Alltoallw_init(out, x->sent, x->from_bytes, x->sent_types, x->in, x->received, x->to_bytes,
                                      x->received_types, x->comm, none, &request)
                 : MPI_Alltoallv_init(out, x->sent, x->from, x->type, x->in, x->received, x->to, x->type, x->comm, none,
                                      &request);
  if (code != MPI_SUCCESS) fault("preparing", x->number);
  return request;
}
#endif

/* Ends all requests of a list, by one of MPI's functions, which each rank chooses on its own. */
static void end(int count, MPI_Request* requests, int how) {
  int index, flag = 0, some = 0, indices[64];
  MPI_Status statuses[64];
  switch (how % 8) {
    case 0: MPI_Waitall(count, requests, MPI_STATUSES_IGNORE); break;
    case 1: MPI_Waitall(count, requests, statuses); break;
    case 2:
      for (int i = 0; i < count; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      break;
    case 3:
      for (int i = count; i-- > 0;) MPI_Wait(&requests[i], &statuses[0]);
      break;
    case 4:
      for (int i = 0; i < count; ++i) MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
      break;
    case 5:
      for (int left = count; left > 0; left -= some) {
        MPI_Waitsome(count, requests, &some, indices, statuses);
        if (some == MPI_UNDEFINED) break;
      }
      break;
    case 6:
      while (!flag) MPI_Testall(count, requests, &flag, statuses);
      break;
    case 7:
      for (int i = 0; i < count; ++i) {
        for (flag = 0; !flag;) MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
        for (flag = 0; !flag;) MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
      }
  }
}

static int chosen(int bound) {
  static unsigned state;
  if (!state) state = 12345u + 777u * (unsigned)rank;
  state = state * 1103515245u + 12345u;
  return (int)(state >> 16) % bound;
}

/* Several exchanges at once on two communicators, among other messages and collectives. Every rank ends them in an
 * order of its own. */
static void wait_in_any_order(int times) {
  MPI_Comm turned;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
  make_ready(turned);
  for (int t = 0; t < times; ++t) {
    struct exchange x[6];
    MPI_Request open[64];
    int n = 0, came[2] = {-1, -1}, sum = 0, one = 1;
    for (int i = 0; i < 6; ++i) make(&x[i], i % 2 ? turned : MPI_COMM_WORLD, t * 6 + i), open[n++] = start(&x[i]);
    MPI_Irecv(&came[0], 1, MPI_INT, (rank + 1) % ranks, 5, MPI_COMM_WORLD, &open[n++]);
    MPI_Isend(&rank, 1, MPI_INT, (rank + ranks - 1) % ranks, 5, MPI_COMM_WORLD, &open[n++]);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &open[n++]);
    MPI_Ibarrier(turned, &open[n++]);
    for (int i = n; i > 1; --i) {
      const int other = chosen(i);
      const MPI_Request held = open[other];
      open[other] = open[i - 1], open[i - 1] = held;
    }
    end(n, open, chosen(8));
    for (int i = 0; i < n; ++i)
      if (open[i] != MPI_REQUEST_NULL) fault("left open", i);
    if (came[0] != (rank + 1) % ranks || sum != ranks) fault("other requests", t);
    for (int i = 0; i < 6; ++i) check(&x[i]), unmake(&x[i]);
  }
  MPI_Comm_free(&turned);
}

/* Starting an exchange waits for no rank, also the first time on a communicator: rank 0 goes on and tells rank 1 to
 * begin. Then rank 0 waits in a receive for a rank that itself waits for the exchange, which must move meanwhile. */
static void go_on(int times) {
  for (int t = 0; t < times; ++t) {
    MPI_Comm comm;
    struct exchange x;
    int word = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    make_ready(comm);
    make(&x, comm, 3 * t + 1);
    if (rank == 1) MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Request open = start(&x);
    if (rank == 0 && ranks > 1) MPI_Send(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    if (rank == 0 && ranks > 1) MPI_Recv(&word, 1, MPI_INT, ranks - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&open, MPI_STATUS_IGNORE);
    if (rank == ranks - 1 && ranks > 1) MPI_Send(&word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    check(&x), unmake(&x);
    MPI_Comm_free(&comm);
  }
}

/* Types and the communicator may be freed while an exchange with them is under way. */
static void free_early(int times) {
  for (int t = 0; t < times; ++t) {
    MPI_Comm comm;
    struct exchange x[4];
    MPI_Request open[4];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    make_ready(comm);
    for (int i = 0; i < 4; ++i) make(&x[i], comm, 4 * t + i), open[i] = start(&x[i]);
    for (int i = 0; i < 4; ++i)
      if (x[i].gaps) MPI_Type_free(&x[i].type);
    MPI_Comm_free(&comm);
    end(4, open, t);
    for (int i = 0; i < 4; ++i) check(&x[i]), unmake(&x[i]);
  }
}

static int deleted;

static int count_deleted(MPI_Datatype type, int key, void* value, void* state) {
  (void)type, (void)key, (void)value, (void)state;
  ++deleted;
  return MPI_SUCCESS;
}

/* Nothing of a freed type stays behind, also if Shoal has no loops for it and the MPI packs it: its attributes are
 * deleted. */
static void free_types(int times) {
  const int lengths[] = {1, 1}, places[] = {2, 0};
  int key, out[most * 3], in[most * 3], ones[most], bytes[most], at[most];
  MPI_Datatype types[most];
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_deleted, &key, NULL);
  for (int t = 0; t < times; ++t) {
    MPI_Datatype type;
    MPI_Request open;
    MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_set_attr(type, key, NULL);
    for (int i = 0; i < ranks; ++i) {
      ones[i] = 1, at[i] = i, bytes[i] = 3 * i * (int)sizeof(int), types[i] = type;
      for (int k = 0; k < 3; ++k) out[3 * i + k] = rank * 100 + i * 10 + k, in[3 * i + k] = -1;
    }
    if (t % 2) MPI_Ialltoallw(out, ones, bytes, types, in, ones, bytes, types, MPI_COMM_WORLD, &open);
    else MPI_Ialltoallv(out, ones, at, type, in, ones, at, type, MPI_COMM_WORLD, &open);
    MPI_Type_free(&type);
    MPI_Wait(&open, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3 * ranks; ++i)
      if (in[i] != (i % 3 == 1 ? -1 : i / 3 * 100 + rank * 10 + i % 3)) fault("wrong data of an indexed type", t);
  }
  if (deleted != times) fault("types that went", deleted);
  MPI_Type_free_keyval(&key);
}

/* Nonblocking exchanges beside a blocking one on the same communicator. */
static void mix_with_blocking(int times) {
  for (int t = 0; t < times; ++t) {
    struct exchange x[2], y;
    MPI_Request open[2];
    make(&x[0], MPI_COMM_WORLD, 2 * t), make(&x[1], MPI_COMM_WORLD, 2 * t + 1), make(&y, MPI_COMM_WORLD, t + 1);
    open[0] = start(&x[0]);
    y.in_place = y.uniform = 0, fill(&y);
    MPI_Alltoallv(y.out, y.sent, y.from, y.type, y.in, y.received, y.to, y.type, y.comm);
    open[1] = start(&x[1]);
    end(2, open, chosen(8));
    check(&x[0]), check(&x[1]);
    unmake(&x[0]), unmake(&x[1]), unmake(&y);
  }
}

static void* exchange_on(void* comm) {
  for (int t = 0; t < 10; ++t) {
    struct exchange x;
    make(&x, *(MPI_Comm*)comm, t);
    MPI_Request open = start(&x);
    MPI_Wait(&open, MPI_STATUS_IGNORE);
    check(&x), unmake(&x);
  }
  return NULL;
}

static void use_threads(int times) {
  for (int t = 0; t < times; ++t) {
    pthread_t threads[3];
    MPI_Comm comms[3];
    for (int i = 0; i < 3; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]), make_ready(comms[i]);
    for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, exchange_on, &comms[i]);
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
    for (int i = 0; i < 3; ++i) MPI_Comm_free(&comms[i]);
  }
}

/* Persistent exchanges, started again and again among other persistent requests. */
static void repeat(int times) {
#if HAS_PERSISTENT
  struct exchange x[4];
  MPI_Request open[6];
  int came = -1, flag = 0;
  for (int i = 0; i < 4; ++i) make(&x[i], MPI_COMM_WORLD, i + 1), open[i] = prepare(&x[i]);
  MPI_Recv_init(&came, 1, MPI_INT, (rank + 1) % ranks, 6, MPI_COMM_WORLD, &open[4]);
  MPI_Send_init(&rank, 1, MPI_INT, (rank + ranks - 1) % ranks, 6, MPI_COMM_WORLD, &open[5]);
  MPI_Request_get_status(open[0], &flag, MPI_STATUS_IGNORE);
  if (!flag) fault("one that was never started is under way", 0);
  MPI_Wait(&open[0], MPI_STATUS_IGNORE);
  for (int t = 0; t < times; ++t) {
    for (int i = 0; i < 4; ++i) fill(&x[i]);
    came = -1;
    if (t % 2) MPI_Startall(6, open);
    else
      for (int i = 0; i < 6; ++i) MPI_Start(&open[i]);
    end(6, open, chosen(8) == 4 ? 0 : chosen(4));
    for (int i = 0; i < 4; ++i) check(&x[i]);
    if (came != (rank + 1) % ranks) fault("other requests", t);
  }
  for (int i = 0; i < 6; ++i) {
    MPI_Request_free(&open[i]);
    if (open[i] != MPI_REQUEST_NULL) fault("not freed", i);
  }
  for (int i = 0; i < 4; ++i) unmake(&x[i]);
#endif
  (void)times;
}

static void exchange_at_once(int number) {
  struct exchange x;
  make(&x, MPI_COMM_WORLD, number);
  x.in_place = x.uniform = 0, fill(&x);
  MPI_Alltoallv(x.out, x.sent, x.from, x.type, x.in, x.received, x.to, x.type, x.comm);
  check(&x), unmake(&x);
}

/* Persistent exchanges match in the order in which they were prepared, whatever each rank starts first or does in
 * between. */
static void start_in_any_order(int times) {
#if HAS_PERSISTENT
  struct exchange x[3];
  MPI_Request open[3];
  for (int i = 0; i < 3; ++i) make(&x[i], MPI_COMM_WORLD, i + 1), open[i] = prepare(&x[i]);
  for (int t = 0; t < times; ++t) {
    const int first = chosen(3), before = chosen(4);
    for (int i = 0; i < 3; ++i) fill(&x[i]);
    for (int i = 0; i < 4; ++i) {
      if (i == before) exchange_at_once(t + 1);
      if (i < 3) MPI_Start(&open[(first + i) % 3]);
    }
    end(3, open, chosen(4));
    for (int i = 0; i < 3; ++i) check(&x[i]);
  }
  for (int i = 0; i < 3; ++i) MPI_Request_free(&open[i]), unmake(&x[i]);
#endif
  (void)times;
}

static void meet(int how) {
  int out[most] = {0}, in[most], ones[most], at[most], sum = 0;
  for (int i = 0; i < most; ++i) ones[i] = 1, at[i] = i;
  if (how == 0) MPI_Alltoallv(out, ones, at, MPI_INT, in, ones, at, MPI_INT, MPI_COMM_WORLD);
  if (how == 1) MPI_Barrier(MPI_COMM_WORLD);
  if (how == 2) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* One rank waits in a blocking collective of the MPI's own before it waits for the exchange, the others afterwards.
 * So the exchange must move while that rank is in the MPI. Its blocks are too large to be sent at once. */
static void meet_meanwhile(int times) {
  enum { large = 20000 };
  int *out = malloc(sizeof(int) * large * ranks), *in = malloc(sizeof(int) * large * ranks);
  for (int t = 0; t < times; ++t) {
    MPI_Request open = MPI_REQUEST_NULL;
    int is_persistent = 0;
    for (int i = 0; i < large * ranks; ++i) out[i] = (rank * 10 + t) * 100000 + i, in[i] = -1;
#if HAS_PERSISTENT
    is_persistent = t % 2;
    if (is_persistent) {
      MPI_Alltoall_init(out, large, MPI_INT, in, large, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &open);
      MPI_Start(&open);
    }
#endif
    if (!is_persistent) MPI_Ialltoall(out, large, MPI_INT, in, large, MPI_INT, MPI_COMM_WORLD, &open);
    if (rank == t % ranks) meet(t % 3);
    MPI_Wait(&open, MPI_STATUS_IGNORE);
    if (rank != t % ranks) meet(t % 3);
    for (int i = 0; i < large * ranks; ++i)
      if (in[i] != (i / large * 10 + t) * 100000 + rank * large + i % large) fault("wrong data in exchange", t);
    if (is_persistent) MPI_Request_free(&open);
  }
  free(out), free(in);
}

static void end_on_all(MPI_Request* open, const int* in, int number) {
  MPI_Wait(open, MPI_STATUS_IGNORE);
  for (int i = 0; i < ranks; ++i)
    if (in[i] != number * 100 + i * 10 + rank) fault("wrong data in exchange", number);
}

/* More exchanges than Shoal has tags for, while rank 0 holds one open that all other ranks have ended. */
static void hold_one(int times) {
  int held_out[most], held_in[most], out[most], in[most];
  MPI_Request held, open;
  for (int i = 0; i < ranks; ++i) held_out[i] = rank * 10 + i, held_in[i] = -1;
  MPI_Ialltoall(held_out, 1, MPI_INT, held_in, 1, MPI_INT, MPI_COMM_WORLD, &held);
  if (rank > 0) end_on_all(&held, held_in, 0);
  for (int t = 0; t < times && faults == 0; ++t) {
    for (int i = 0; i < ranks; ++i) out[i] = t * 100 + rank * 10 + i, in[i] = -1;
    MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &open);
    end_on_all(&open, in, t);
  }
  if (rank == 0) end_on_all(&held, held_in, 0);
}

/* Prepares more persistent exchanges than Shoal has tags for, though few exist at a time. Ranks free them in different
 * orders. */
static void prepare_many(int times) {
#if HAS_PERSISTENT
  struct exchange x[2];
  MPI_Request open[2], kept;
  for (int i = 0; i < 2; ++i) make(&x[i], MPI_COMM_WORLD, i + 1);
  kept = prepare(&x[0]);
  for (int t = 0; t < times; ++t) {
    open[t % 2] = prepare(&x[1]);
    if (t % 2 == 0) continue;
    MPI_Request_free(&open[rank % 2]), MPI_Request_free(&open[1 - rank % 2]);
  }
  open[0] = kept, open[1] = prepare(&x[1]);
  for (int i = 0; i < 2; ++i) fill(&x[i]);
  for (int i = 0; i < 2; ++i) MPI_Start(&open[(rank + i) % 2]);
  end(2, open, chosen(4));
  for (int i = 0; i < 2; ++i) check(&x[i]), MPI_Request_free(&open[i]), unmake(&x[i]);
#endif
  (void)times;
}

#if HAS_PERSISTENT
static void* exchange_beside(void* unused) {
  exchange_at_once(2);
  return unused;
}
#endif

/* One thread of rank 0 frees requests while the other one waits in an exchange with the same ranks. These join the
 * exchange only when the first thread tells them to. */
static void free_beside(int times) {
#if HAS_PERSISTENT
  struct exchange x[8];
  MPI_Request open[8];
  for (int i = 0; i < 8; ++i) make(&x[i], MPI_COMM_WORLD, i + 1);
  for (int t = 0; t < times; ++t) {
    pthread_t other;
    int word = 0;
    for (int i = 0; i < 8; ++i) open[i] = prepare(&x[i]);
    if (rank == 0) pthread_create(&other, NULL, exchange_beside, NULL);
    else MPI_Recv(&word, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 8; ++i) MPI_Request_free(&open[i]);
    for (int to = 1; rank == 0 && to < ranks; ++to) MPI_Send(&word, 1, MPI_INT, to, 8, MPI_COMM_WORLD);
    if (rank == 0) pthread_join(other, NULL);
    else exchange_at_once(2);
  }
  for (int i = 0; i < 8; ++i) unmake(&x[i]);
#endif
  (void)times;
}

/* A rank with a wrong count gets an error when it waits, other ranks may get one, and later exchanges are right. */
static void mistake(int times) {
  for (int t = 0; t < times; ++t) {
    MPI_Comm comm;
    struct exchange x;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    make_ready(comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; ++i) {
      make(&x, comm, 2);
      x.uniform = x.in_place = 0;
      for (int k = 0; k < x.all; ++k) x.sent[k] = x.received[k] = 2, x.from[k] = x.to[k] = 2 * k;
      free(x.out), free(x.in);
      x.out = calloc(4 * most, sizeof(int)), x.in = calloc(4 * most, sizeof(int));
      const int is_wrong = i == 1 && rank == 0 && ranks > 1;
      if (is_wrong) x.received[1] = 1;
      MPI_Request open;
      MPI_Ialltoallv(x.out, x.sent, x.from, MPI_INT, x.in, x.received, x.to, MPI_INT, comm, &open);
      const int code = MPI_Wait(&open, MPI_STATUS_IGNORE);
      if (is_wrong ? code == MPI_SUCCESS : i != 1 && code != MPI_SUCCESS) fault("code", code);
      unmake(&x);
    }
    MPI_Comm_free(&comm);
  }
}

/* A persistent exchange whose info names the algorithm and, from the third rank on, an unknown key. */
static void name_by_info(int times) {
#if HAS_PERSISTENT
  int out[most], in[most], ranks, me;
  MPI_Comm comm;
  MPI_Info info;
  MPI_Request open;
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &comm);
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &ranks);
  MPI_Info_create(&info);
  MPI_Info_set(info, "shoal_alltoall", "tuna:radix=2");
  if (rank >= 2) MPI_Info_set(info, "shoal_alltoal", "tuna");
  MPI_Alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, comm, info, &open);
  MPI_Info_free(&info);
  for (int number = 0; number < times; ++number) {
    for (int i = 0; i < ranks; ++i) out[i] = number * 10000 + me * 100 + i, in[i] = -1;
    MPI_Start(&open);
    MPI_Wait(&open, MPI_STATUS_IGNORE);
    for (int i = 0; i < ranks; ++i)
      if (in[i] != number * 10000 + i * 100 + me) fault("wrong data in exchange", number);
  }
  MPI_Request_free(&open);
  MPI_Comm_free(&comm);
#else
  (void)times;
#endif
}

static void leave_open(int times) {
  static struct exchange x;
  (void)times;
  make(&x, MPI_COMM_WORLD, 1);
  start(&x);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*perform)(int times);
    int threads;
  } all[] = {{"wait_in_any_order", wait_in_any_order, 0},
             {"go_on", go_on, 0},
             {"free_early", free_early, 0},
             {"mix_with_blocking", mix_with_blocking, 0},
             {"repeat", repeat, 0},
             {"start_in_any_order", start_in_any_order, 0},
             {"prepare_many", prepare_many, 0},
             {"meet_meanwhile", meet_meanwhile, 0},
             {"hold_one", hold_one, 0},
             {"use_threads", use_threads, 1},
             {"free_beside", free_beside, 1},
             {"free_types", free_types, 0},
             {"mistake", mistake, 0},
             {"name_by_info", name_by_info, 0},
             {"leave_open", leave_open, 0}};
  const int times = argc > 2 ? atoi(argv[2]) : 20;
  int given = 0;
  for (unsigned i = 0; argc > 1 && i < sizeof all / sizeof *all; ++i) {
    if (strcmp(argv[1], all[i].name)) continue;
    MPI_Init_thread(&argc, &argv, all[i].threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    make_ready(MPI_COMM_WORLD);
    all[i].perform(times);
    MPI_Allreduce(MPI_IN_PLACE, &faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("faults: %d\n", faults);
    MPI_Finalize();
    return faults > 0;
  }
  return 2;
}
