// The text of generated C files. A line @NAME is replaced by a table; lines from @if NAME to @else or @end stay only
// when NAME holds: `lists` (messages of several blocks, scratch slots), `hosts` (ranks belong on given machines).
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
 */
#define _POSIX_C_SOURCE 199309L /* nanosleep */
@if lists
#include <limits.h>
@end
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
 * SEND_BLOCK(to, 2), 1, 5 comes after the operations 1 and 5 places before it. 15 stands for a number that follows.
 * Comments give the step of the algorithm. Tokens are messages without content that tell the receiver it may go on.
@if lists
 * SEND_LIST and RECV_LIST carry several blocks, COPY has two slots, or none where it only keeps the order: their number
 * and the slots come next. A slot is place + 3 * index, where place 0 is the send buffer, 1 the receive buffer,
 * 2 scratch.
@end
 */
enum { COPY_OWN, SEND_BLOCK, RECV_BLOCK, SEND_TOKEN, RECV_TOKEN, SEND_LIST, RECV_LIST, COPY };
#define COPY_OWN(after) (COPY_OWN + 8 * (after))
#define SEND_BLOCK(to, after) (SEND_BLOCK + 8 * (after) + 128 * (to))
#define RECV_BLOCK(from, after) (RECV_BLOCK + 8 * (after) + 128 * (from))
#define SEND_TOKEN(to, after) (SEND_TOKEN + 8 * (after) + 128 * (to))
#define RECV_TOKEN(from, after) (RECV_TOKEN + 8 * (after) + 128 * (from))
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
    int kind, peer, tag;
    int waits;           /* operations it comes after */
    int first_follower;  /* those that come after it begin here in plan.follower; the next operation's follow */
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
    int *owner, *done;   /* the operation of each open request; those found to have ended */
@if lists
    char **message;      /* packed blocks of each operation under way */
@end
};

struct buffers {
    const char *send;
    char *recv;
    int send_count, recv_count;
    MPI_Datatype send_type, recv_type;
    MPI_Aint send_step, recv_step;  /* bytes from block to block */
@if lists
    int bytes;                      /* of a packed block */
    char *scratch;
@end
};

/* ---- reading the tables ---- */

static const word *decode(const word *code, struct operation *op, int *afters, const word **after)
{
    op->kind = *code % 8;
    op->peer = *code / 128;
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

static const char *send_block(const struct plan *plan, const struct buffers *b, int place)
{
    return b->send + plan->rank_at[place] * b->send_step;
}

static char *recv_block(const struct plan *plan, const struct buffers *b, int place)
{
    return b->recv + plan->rank_at[place] * b->recv_step;
}

static int copy_own(const struct plan *plan, const struct buffers *b)
{
    const int rank = plan->rank_at[plan->me];
    return MPI_Sendrecv(send_block(plan, b, plan->me), b->send_count, b->send_type, rank, 0,
                        recv_block(plan, b, plan->me), b->recv_count, b->recv_type, rank, 0, plan->comm,
                        MPI_STATUS_IGNORE);
}

@if lists
/* A slot's block in packed form: out of the slot, into the slot. */
static int load(const struct plan *plan, const struct buffers *b, int slot, char *packed)
{
    const int place = slot % 3, index = slot / 3;
    int position = 0;
    if (place == 2) {
        memcpy(packed, b->scratch + (size_t)index * b->bytes, b->bytes);
        return MPI_SUCCESS;
    }
    if (place == 0)
        return MPI_Pack(send_block(plan, b, index), b->send_count, b->send_type, packed, b->bytes, &position,
                        plan->comm);
    return MPI_Pack(recv_block(plan, b, index), b->recv_count, b->recv_type, packed, b->bytes, &position, plan->comm);
}

static int store(const struct plan *plan, const struct buffers *b, int slot, const char *packed)
{
    const int place = slot % 3, index = slot / 3;
    int position = 0;
    if (place == 1)
        return MPI_Unpack(packed, b->bytes, &position, recv_block(plan, b, index), b->recv_count, b->recv_type,
                          plan->comm);
    memcpy(b->scratch + (size_t)index * b->bytes, packed, b->bytes);
    return MPI_SUCCESS;
}

static int start_list(const struct plan *plan, const struct buffers *b, int i, MPI_Request *request)
{
    const struct operation *op = &plan->operation[i];
    const int peer = plan->rank_at[op->peer], outgoing = op->kind == SEND_LIST ? op->slots : op->kind == COPY ? 1 : 0;
    char *message = malloc((size_t)op->slots * b->bytes);
    int k, error = message == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    plan->message[i] = message;
    for (k = 0; k < outgoing && error == MPI_SUCCESS; ++k)
        error = load(plan, b, op->slot[k], message + (size_t)k * b->bytes);
    if (error != MPI_SUCCESS) return error;
    if (op->kind == SEND_LIST)
        return MPI_Isend(message, op->slots * b->bytes, MPI_PACKED, peer, op->tag, plan->comm, request);
    if (op->kind == RECV_LIST)
        return MPI_Irecv(message, op->slots * b->bytes, MPI_PACKED, peer, op->tag, plan->comm, request);
    error = store(plan, b, op->slot[1], message);
    free(message);
    return error;
}

static int finish_list(const struct plan *plan, const struct buffers *b, int i)
{
    const struct operation *op = &plan->operation[i];
    int k, error = MPI_SUCCESS;
    for (k = 0; k < op->slots && op->kind == RECV_LIST && error == MPI_SUCCESS; ++k)
        error = store(plan, b, op->slot[k], plan->message[i] + (size_t)k * b->bytes);
    free(plan->message[i]);
    return error;
}

@end
/* Leaves *request alone when the operation has ended already. */
static int start(const struct plan *plan, const struct buffers *b, int i, MPI_Request *request)
{
    const struct operation *op = &plan->operation[i];
    const int peer = plan->rank_at[op->peer];
    switch (op->kind) {
    case COPY_OWN:
        return copy_own(plan, b);
    case SEND_BLOCK:
        return MPI_Isend(send_block(plan, b, op->peer), b->send_count, b->send_type, peer, op->tag, plan->comm,
                         request);
    case RECV_BLOCK:
        return MPI_Irecv(recv_block(plan, b, op->peer), b->recv_count, b->recv_type, peer, op->tag, plan->comm,
                         request);
    case SEND_TOKEN:
        return MPI_Isend(NULL, 0, MPI_BYTE, peer, op->tag, plan->comm, request);
@if lists
    case SEND_LIST:
    case RECV_LIST:
    case COPY:
        if (op->slots == 0) return MPI_SUCCESS;
        return start_list(plan, b, i, request);
@end
    default:
        return MPI_Irecv(NULL, 0, MPI_BYTE, peer, op->tag, plan->comm, request);
    }
}

/* Puts what waited only for operation i into the queue; gives its new end. */
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

/* Drops the requests that have ended; gives the number still open. */
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
            if (kind == SEND_LIST || kind == RECV_LIST) error = finish_list(plan, b, plan->owner[plan->done[k]]);
            if (error != MPI_SUCCESS) return error;
@end
            end = release_followers(plan, plan->owner[plan->done[k]], end);
        }
        open = close_gaps(plan, open);
    }
    return MPI_SUCCESS;
}

int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct plan *plan = sendbuf == MPI_IN_PLACE ? NULL : plan_for(comm);
    struct buffers b = {0};
    MPI_Aint lower, send_extent, recv_extent;
    int size, error;
    if (plan == NULL) return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    MPI_Type_size(recvtype, &size);
@if lists
    if (size <= 0 || recvcount <= 0 || recvcount > INT_MAX / LONGEST_LIST / size)
@else
    if (size <= 0 || recvcount <= 0)
@end
        return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    MPI_Type_get_extent(sendtype, &lower, &send_extent);
    MPI_Type_get_extent(recvtype, &lower, &recv_extent);
    b.send = sendbuf;
    b.recv = recvbuf;
    b.send_count = sendcount;
    b.recv_count = recvcount;
    b.send_type = sendtype;
    b.recv_type = recvtype;
    b.send_step = sendcount * send_extent;
    b.recv_step = recvcount * recv_extent;
@if lists
    b.bytes = recvcount * size;
    b.scratch = malloc(SCRATCH * (size_t)b.bytes + 1);
    if (b.scratch == NULL) return MPI_ERR_NO_MEM;
@end
    error = exchange(plan, &b);
@if lists
    free(b.scratch);
@end
    return error;
}
)c";

}  // namespace shoal
