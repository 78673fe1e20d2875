// The text of generated C files. A line @NAME is replaced by a table or another text. Lines from @if NAME to @else or
// @end stay only if NAME holds: `lists` (there are messages of several blocks, or scratch slots), `parts` (blocks are
// cut into parts), `hosts` (ranks belong on given machines). Lines from @else to @end stay only if it does not hold.
#pragma once

namespace shoal {

inline constexpr char c_template[] = R"c(@title
/*
 * What follows replaces MPI_Alltoall for communicators of RANKS ranks and leaves every other call to PMPI_Alltoall:
 * other communicators, MPI_IN_PLACE, empty blocks.
@if hosts
 * The ranks must be on the machines listed below, in any order; with -DALLTOALL_ANY_HOST rank r is machine r of the
 * list wherever it runs.
@end
 * Link it before the MPI library:  mpicc -O2 -c FILE.c
 * Where ranks share processor cores, add -DALLTOALL_NAP=200: waiting ranks then sleep that many microseconds between
 * looks instead of keeping the core busy.
 * With MPI_THREAD_MULTIPLE the first call of a rank must end before other threads call: it makes what they share.
 */
#define _POSIX_C_SOURCE 199309L /* nanosleep */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef ALLTOALL_NAP
#define ALLTOALL_NAP 0
#endif

@sizes
/*
 * The program of each rank, one operation after another. An operation starts when those it comes after have ended:
@if parts
 * SEND_PART(to, 0, 2), 1, 5 sends part 0 of the block for a rank after the operations 1 and 5 places before it.
 * 15 stands for a number that follows. A block has PARTS parts; the last has at most LAST_PART bytes, or as many as the
 * others if that is 0. A token is sent when all parts but the last have arrived, and travels while the last
 * part does.
@else
 * SEND_BLOCK(to, 2), 1, 5 comes after the operations 1 and 5 places before it. 15 stands for a number that follows.
@end
 * Comments give the step of the algorithm. Tokens are messages without content that tell the receiver it may go on.
@if lists
 * SEND_LIST and RECV_LIST carry several blocks, COPY has two slots, or none if it only keeps the order: their number
 * and the slots come next. A slot is place + 3 * index, where place 0 is the send buffer, 1 the receive buffer,
 * 2 scratch.
@end
 */
enum { COPY_OWN, SEND_BLOCK, RECV_BLOCK, SEND_TOKEN, RECV_TOKEN, SEND_LIST, RECV_LIST, COPY };
@if parts
#define COPY_PART(part, after) (COPY_OWN + 8 * (after) + 128 * (part))
#define SEND_PART(to, part, after) (SEND_BLOCK + 8 * (after) + 128 * (PARTS * (to) + (part)))
#define RECV_PART(from, part, after) (RECV_BLOCK + 8 * (after) + 128 * (PARTS * (from) + (part)))
#define SEND_TOKEN(to, after) (SEND_TOKEN + 8 * (after) + 128 * PARTS * (to))
#define RECV_TOKEN(from, after) (RECV_TOKEN + 8 * (after) + 128 * PARTS * (from))
@else
#define COPY_OWN(after) (COPY_OWN + 8 * (after))
#define SEND_BLOCK(to, after) (SEND_BLOCK + 8 * (after) + 128 * (to))
#define RECV_BLOCK(from, after) (RECV_BLOCK + 8 * (after) + 128 * (from))
#define SEND_TOKEN(to, after) (SEND_TOKEN + 8 * (after) + 128 * (to))
#define RECV_TOKEN(from, after) (RECV_TOKEN + 8 * (after) + 128 * (from))
@end
@if lists
#define SEND_LIST(to, after) (SEND_LIST + 8 * (after) + 128 * (to))
#define RECV_LIST(from, after) (RECV_LIST + 8 * (after) + 128 * (from))
#define COPY(after) (COPY + 8 * (after))
@end

@programs
@if hosts
#ifndef ALLTOALL_ANY_HOST
@hosts
#endif

@end
struct operation {
    int kind, peer, part, tag;
    int waits;           /* operations it comes after */
    int first_follower;  /* where the operations that wait for it begin in plan.follower */
@if lists
    int slots;           /* how many, */
    const word *slot;    /* and where they stand in the program */
@end
};

/* What a communicator needs; made at its first call and kept with it. */
struct plan {
    int matches;         /* else PMPI_Alltoall serves this communicator */
    MPI_Comm comm;       /* a copy, so that these messages never meet the user's */
    int rank_at[RANKS];  /* which rank follows each program */
    int me;              /* the program this rank follows */
    int count;           /* its operations */
    struct operation *operation;
    int *follower;
    /* of the exchange under way */
    int *waits;          /* operations that each still waits for */
    int *queue;          /* operations that may start, in order */
    MPI_Request *request;
    int *owner, *done;   /* the operation of each open request; which requests have ended */
@if lists
    char **message;      /* packed blocks of each operation under way */
@end
};

/* Blocks lie one behind the other, by rank, as plain bytes. */
struct buffers {
    const char *send;
    char *recv;
    size_t bytes;        /* of a block */
@if lists
    char *scratch;
@end
};

/* ---- reading the tables ---- */

static const word *decode(const word *code, struct operation *op, int *afters, const word **after)
{
    op->kind = *code % 8;
    op->peer = *code / 128 / PARTS;
    op->part = *code / 128 % PARTS;
    *afters = *code / 8 % 16;
    ++code;
@if lists
    op->slots = 0;
    if (op->kind >= SEND_LIST) {
        op->slots = *code++;
        op->slot = code;
        code += op->slots;
    }
@end
    if (*afters == 15) *afters = *code++;
    *after = code;
    return code + *afters;
}

/* Fills in the operations and lists for each the ones that come after it. */
static void read_program(struct plan *plan, int *sent, int *received)
{
    const word *code = program[plan->me], *after;
    int i, k, afters, total = 0;
    for (i = 0; i < plan->count; ++i) {
        struct operation *op = &plan->operation[i];
        code = decode(code, op, &afters, &after);
        op->waits = afters;
        for (k = 0; k < afters; ++k) plan->operation[i - after[k]].first_follower++;
        /* transfers between two ranks meet in the order of their operations */
        if (op->kind == SEND_BLOCK || op->kind == SEND_TOKEN || op->kind == SEND_LIST) op->tag = sent[op->peer]++;
        if (op->kind == RECV_BLOCK || op->kind == RECV_TOKEN || op->kind == RECV_LIST) op->tag = received[op->peer]++;
    }
    for (i = 0; i <= plan->count; ++i) {
        const int followers = plan->operation[i].first_follower;
        plan->operation[i].first_follower = total;
        plan->waits[i] = total;  /* the next free place */
        total += followers;
    }
    code = program[plan->me];
    for (i = 0; i < plan->count; ++i) {
        struct operation op;
        code = decode(code, &op, &afters, &after);
        for (k = 0; k < afters; ++k) plan->follower[plan->waits[i - after[k]]++] = i;
    }
}

static int allocate(struct plan *plan)
{
    const size_t n = (size_t)plan->count + 1;
    int *seen = calloc(2 * RANKS, sizeof *seen);
    plan->operation = calloc(n, sizeof *plan->operation);
    plan->follower = malloc(((size_t)afters_of[plan->me] + 1) * sizeof *plan->follower);
    plan->waits = malloc(n * sizeof *plan->waits);
    plan->queue = malloc(n * sizeof *plan->queue);
    plan->request = malloc(n * sizeof *plan->request);
    plan->owner = malloc(n * sizeof *plan->owner);
    plan->done = malloc(n * sizeof *plan->done);
@if lists
    plan->message = calloc(n, sizeof *plan->message);
@end
    const int enough = seen && plan->operation && plan->follower && plan->waits && plan->queue && plan->request &&
@if lists
                       plan->message &&
@end
                       plan->owner && plan->done;
    if (enough) read_program(plan, seen, seen + RANKS);
    free(seen);
    return enough;
}

/* ---- which rank follows which program ---- */

@if hosts
#ifndef ALLTOALL_ANY_HOST
/* A name in the table without a domain also stands for that machine in a domain. */
static int is_host(const char *machine, const char *name)
{
    const size_t length = strlen(name);
    if (strncmp(machine, name, length) != 0) return 0;
    return machine[length] == '\0' || (machine[length] == '.' && !strchr(name, '.'));
}

/* The k-th rank of a machine takes the k-th place listed for it. */
static int match_hosts(MPI_Comm comm, int *rank_at)
{
    char machine[MPI_MAX_PROCESSOR_NAME + 1];
    int first[RANKS], length, mine = 0, rank, place;
    MPI_Get_processor_name(machine, &length);
    while (mine < RANKS && !is_host(machine, host[mine])) ++mine;
    MPI_Allgather(&mine, 1, MPI_INT, first, 1, MPI_INT, comm);
    for (place = 0; place < RANKS; ++place) rank_at[place] = -1;
    for (rank = 0; rank < RANKS; ++rank) {
        for (place = first[rank]; place < RANKS; ++place)
            if (rank_at[place] < 0 && strcmp(host[place], host[first[rank]]) == 0) break;
        if (place == RANKS) return 0;
        rank_at[place] = rank;
    }
    return 1;
}
#endif

@end
static int find_places(MPI_Comm comm, struct plan *plan)
{
    int place, rank;
    MPI_Comm_rank(comm, &rank);
    for (place = 0; place < RANKS; ++place) plan->rank_at[place] = place;
@if hosts
#ifndef ALLTOALL_ANY_HOST
    if (!match_hosts(comm, plan->rank_at)) return 0;
#endif
@end
    for (place = 0; place < RANKS; ++place)
        if (plan->rank_at[place] == rank) plan->me = place;
    plan->count = operations_of[plan->me];
    return 1;
}

static int drop_plan(MPI_Comm comm, int keyval, void *attribute, void *state)
{
    struct plan *plan = attribute;
    (void)comm, (void)keyval, (void)state;
    if (plan->comm != MPI_COMM_NULL) MPI_Comm_free(&plan->comm);
    free(plan->operation), free(plan->follower), free(plan->waits), free(plan->queue);
    free(plan->request), free(plan->owner), free(plan->done);
@if lists
    free(plan->message);
@end
    free(plan);
    return MPI_SUCCESS;
}

/* All ranks of a communicator come here together and get the same answer. */
static struct plan *make_plan(MPI_Comm comm)
{
    struct plan *plan = calloc(1, sizeof *plan);
    int mine, all;
    if (plan == NULL) MPI_Abort(comm, 1);
    plan->comm = MPI_COMM_NULL;
    mine = find_places(comm, plan) && allocate(plan);
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
    plan->matches = all && MPI_Comm_dup(comm, &plan->comm) == MPI_SUCCESS;
    return plan;
}

static const struct plan *plan_for(MPI_Comm comm)
{
    static int keyval = MPI_KEYVAL_INVALID;
    struct plan *plan;
    int inter, size, found;
    if (comm == MPI_COMM_NULL) return NULL;
    MPI_Comm_test_inter(comm, &inter);
    MPI_Comm_size(comm, &size);
    if (inter || size != RANKS) return NULL;
    if (keyval == MPI_KEYVAL_INVALID) MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop_plan, &keyval, NULL);
    MPI_Comm_get_attr(comm, keyval, &plan, &found);
    if (!found) {
        plan = make_plan(comm);
        MPI_Comm_set_attr(comm, keyval, plan);
    }
    return plan->matches ? plan : NULL;
}

/* ---- the exchange ---- */

@if parts
/* Where a part of a block begins; part PARTS is its end. */
static size_t begin_of(size_t part, size_t bytes)
{
    const int limited = LAST_PART > 0 && bytes > (size_t)PARTS * LAST_PART;
    const size_t equal = limited ? PARTS - 1 : PARTS, shared = limited ? bytes - LAST_PART : bytes;
    if (part > equal) return bytes;
    return shared / equal * part + shared % equal * part / equal;
}

@end
/* What a message carries: where it begins in a buffer, and its bytes. */
struct piece {
    size_t at;
    int bytes;
};

static struct piece piece_of(const struct plan *plan, const struct buffers *b, int place, int part)
{
    struct piece p = {plan->rank_at[place] * b->bytes, (int)b->bytes};
@if parts
    p.at += begin_of(part, b->bytes);
    p.bytes = (int)(begin_of(part + 1, b->bytes) - begin_of(part, b->bytes));
@else
    (void)part;
@end
    return p;
}

@if lists
static const char *source(const struct plan *plan, const struct buffers *b, int slot)
{
    const int place = slot % 3, index = slot / 3;
    if (place == 2) return b->scratch + index * b->bytes;
    return (place == 0 ? b->send : b->recv) + plan->rank_at[index] * b->bytes;
}

static char *target(const struct plan *plan, const struct buffers *b, int slot)
{
    const int place = slot % 3, index = slot / 3;
    return place == 2 ? b->scratch + index * b->bytes : b->recv + plan->rank_at[index] * b->bytes;
}

static int start_list(const struct plan *plan, const struct buffers *b, int i, MPI_Request *request)
{
    const struct operation *op = &plan->operation[i];
    const int peer = plan->rank_at[op->peer], bytes = op->slots * (int)b->bytes;
    char *message;
    int k;
    if (op->kind == COPY) {
        if (op->slots > 0) memcpy(target(plan, b, op->slot[1]), source(plan, b, op->slot[0]), b->bytes);
        return MPI_SUCCESS;
    }
    message = plan->message[i] = malloc((size_t)bytes);
    if (message == NULL) return MPI_ERR_NO_MEM;
    if (op->kind == RECV_LIST) return MPI_Irecv(message, bytes, MPI_BYTE, peer, op->tag, plan->comm, request);
    for (k = 0; k < op->slots; ++k) memcpy(message + k * b->bytes, source(plan, b, op->slot[k]), b->bytes);
    return MPI_Isend(message, bytes, MPI_BYTE, peer, op->tag, plan->comm, request);
}

static void finish_list(const struct plan *plan, const struct buffers *b, int i)
{
    const struct operation *op = &plan->operation[i];
    int k;
    for (k = 0; k < op->slots && op->kind == RECV_LIST; ++k)
        memcpy(target(plan, b, op->slot[k]), plan->message[i] + k * b->bytes, b->bytes);
    free(plan->message[i]);
}

@end
/* Leaves *request alone if the operation has ended already. */
static int start(const struct plan *plan, const struct buffers *b, int i, MPI_Request *request)
{
    const struct operation *op = &plan->operation[i];
    const int peer = plan->rank_at[op->peer];
    const struct piece p = piece_of(plan, b, op->kind == COPY_OWN ? plan->me : op->peer, op->part);
    switch (op->kind) {
    case COPY_OWN:
        memcpy(b->recv + p.at, b->send + p.at, (size_t)p.bytes);
        return MPI_SUCCESS;
    case SEND_BLOCK:
        return MPI_Isend(b->send + p.at, p.bytes, MPI_BYTE, peer, op->tag, plan->comm, request);
    case RECV_BLOCK:
        return MPI_Irecv(b->recv + p.at, p.bytes, MPI_BYTE, peer, op->tag, plan->comm, request);
    case SEND_TOKEN:
        return MPI_Isend(NULL, 0, MPI_BYTE, peer, op->tag, plan->comm, request);
@if lists
    case SEND_LIST:
    case RECV_LIST:
    case COPY:
        return start_list(plan, b, i, request);
@end
    default:
        return MPI_Irecv(NULL, 0, MPI_BYTE, peer, op->tag, plan->comm, request);
    }
}

/* Queues the operations that waited only for operation i; returns the new end of the queue. */
static int release_followers(const struct plan *plan, int i, int end)
{
    int k;
    for (k = plan->operation[i].first_follower; k < plan->operation[i + 1].first_follower; ++k)
        if (--plan->waits[plan->follower[k]] == 0) plan->queue[end++] = plan->follower[k];
    return end;
}

static int wait_for_some(const struct plan *plan, int open, int *ended)
{
#if ALLTOALL_NAP > 0
    const struct timespec nap = {0, ALLTOALL_NAP * 1000L};
    for (;;) {
        const int error = MPI_Testsome(open, plan->request, ended, plan->done, MPI_STATUSES_IGNORE);
        if (error != MPI_SUCCESS || *ended > 0) return error;
        nanosleep(&nap, NULL);
    }
#else
    return MPI_Waitsome(open, plan->request, ended, plan->done, MPI_STATUSES_IGNORE);
#endif
}

/* Drops the requests that have ended; returns the number still open. */
static int close_gaps(const struct plan *plan, int open)
{
    int k, kept = 0;
    for (k = 0; k < open; ++k)
        if (plan->request[k] != MPI_REQUEST_NULL) {
            plan->request[kept] = plan->request[k];
            plan->owner[kept++] = plan->owner[k];
        }
    return kept;
}

static int exchange(const struct plan *plan, const struct buffers *b)
{
    int i, k, begin = 0, end = 0, open = 0, ended, error;
    for (i = 0; i < plan->count; ++i) {
        plan->waits[i] = plan->operation[i].waits;
        if (plan->waits[i] == 0) plan->queue[end++] = i;
    }
    while (begin < end || open > 0) {
        while (begin < end) {
            i = plan->queue[begin++];
            plan->request[open] = MPI_REQUEST_NULL;
            error = start(plan, b, i, &plan->request[open]);
            if (error != MPI_SUCCESS) return error;
            if (plan->request[open] == MPI_REQUEST_NULL) end = release_followers(plan, i, end);
            else plan->owner[open++] = i;
        }
        if (open == 0) break;
        error = wait_for_some(plan, open, &ended);
        if (error != MPI_SUCCESS) return error;
        for (k = 0; k < ended; ++k) {
@if lists
            const int kind = plan->operation[plan->owner[plan->done[k]]].kind;
            if (kind == SEND_LIST || kind == RECV_LIST) finish_list(plan, b, plan->owner[plan->done[k]]);
@end
            end = release_followers(plan, plan->owner[plan->done[k]], end);
        }
        open = close_gaps(plan, open);
    }
    return MPI_SUCCESS;
}

/* Whether elements of this type are plain bytes, one behind the other. */
static int is_plain(MPI_Datatype type)
{
    int integers, addresses, types, combiner, size;
    MPI_Aint lower, extent;
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_size(type, &size);
    return combiner == MPI_COMBINER_NAMED && extent == size;
}

/* The user's blocks as bytes, in memory of their own if their type is not plain. */
static char *bytes_of(char *blocks, MPI_Datatype type, size_t bytes)
{
    return is_plain(type) ? blocks : malloc(RANKS * bytes);
}

static int pack(const char *blocks, int count, MPI_Datatype type, char *packed, int bytes, MPI_Comm comm)
{
    MPI_Aint lower, extent;
    int rank, error = MPI_SUCCESS;
    MPI_Type_get_extent(type, &lower, &extent);
    for (rank = 0; rank < RANKS && error == MPI_SUCCESS; ++rank) {
        int position = 0;
        error = MPI_Pack(blocks + rank * (count * extent), count, type, packed + (size_t)rank * bytes, bytes, &position,
                         comm);
    }
    return error;
}

static int unpack(const char *packed, int bytes, char *blocks, int count, MPI_Datatype type, MPI_Comm comm)
{
    MPI_Aint lower, extent;
    int rank, error = MPI_SUCCESS;
    MPI_Type_get_extent(type, &lower, &extent);
    for (rank = 0; rank < RANKS && error == MPI_SUCCESS; ++rank) {
        int position = 0;
        error = MPI_Unpack(packed + (size_t)rank * bytes, bytes, &position, blocks + rank * (count * extent), count,
                           type, comm);
    }
    return error;
}

int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct plan *plan = sendbuf == MPI_IN_PLACE ? NULL : plan_for(comm);
    struct buffers b;
    char *send;
    int size, bytes, error = MPI_SUCCESS;
    if (plan == NULL) return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    MPI_Type_size(recvtype, &size);
@if lists
    if (size <= 0 || recvcount <= 0 || recvcount > INT_MAX / LONGEST_LIST / size)
@else
    if (size <= 0 || recvcount <= 0 || recvcount > INT_MAX / size)
@end
        return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    bytes = recvcount * size;
    b.bytes = (size_t)bytes;
    b.send = send = bytes_of((char *)sendbuf, sendtype, b.bytes);
    b.recv = bytes_of(recvbuf, recvtype, b.bytes);
@if lists
    b.scratch = malloc(SCRATCH * b.bytes + 1);
    if (b.scratch == NULL) error = MPI_ERR_NO_MEM;
@end
    if (send == NULL || b.recv == NULL) error = MPI_ERR_NO_MEM;
    if (error == MPI_SUCCESS && send != sendbuf) error = pack(sendbuf, sendcount, sendtype, send, bytes, plan->comm);
    if (error == MPI_SUCCESS) error = exchange(plan, &b);
    if (error == MPI_SUCCESS && b.recv != recvbuf)
        error = unpack(b.recv, bytes, recvbuf, recvcount, recvtype, plan->comm);
    if (error != MPI_SUCCESS) return error;  /* messages may still be under way in this memory, so it stays */
    if (send != sendbuf) free(send);
    if (b.recv != recvbuf) free(b.recv);
@if lists
    free(b.scratch);
@end
    return error;
}
)c";

}  // namespace shoal
