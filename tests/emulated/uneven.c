/* Calls MPI_Alltoallv with sizes that stay the same, that change, that are all equal, and that are all zero. Compares
 * every byte. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 30000, CALLS = 6 };

static int size_of(int from, int to, int call)
{
    const unsigned mixed = (unsigned)(from * 7919 + to * 104729 + (call < 2 ? 0 : call) * 1299709);
    if (call == 4) return 5000;
    if (call == 5 || mixed % 3 == 0) return 0;
    return (int)(mixed / 3 % LARGEST);
}

static char byte_of(int from, int to, int call, int i) { return (char)(from * 31 + to * 7 + call * 3 + i); }

int main(int argc, char **argv)
{
    int rank, ranks, peer, call, i, faults = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *out = malloc((size_t)ranks * LARGEST), *in = malloc((size_t)ranks * LARGEST);
    int *sent = malloc((size_t)ranks * sizeof *sent), *received = malloc((size_t)ranks * sizeof *received);
    int *at = malloc((size_t)ranks * sizeof *at);
    for (call = 0; call < CALLS; ++call) {
        for (peer = 0; peer < ranks; ++peer) {
            at[peer] = peer * LARGEST;
            sent[peer] = size_of(rank, peer, call);
            received[peer] = size_of(peer, rank, call);
            for (i = 0; i < sent[peer]; ++i) out[at[peer] + i] = byte_of(rank, peer, call, i);
        }
        MPI_Alltoallv(out, sent, at, MPI_CHAR, in, received, at, MPI_CHAR, MPI_COMM_WORLD);
        for (peer = 0; peer < ranks; ++peer)
            for (i = 0; i < received[peer]; ++i) faults += in[at[peer] + i] != byte_of(peer, rank, call, i);
    }
    MPI_Reduce(&faults, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("faults %d\n", all);
    MPI_Finalize();
    return 0;
}
