/* Exchanges blocks of the given size a few times, and compares every byte. Prints the hosts of the ranks, the number
 * of faults, and whether an MPI_Alltoall that is linked to this program sent messages on all ranks: its calls of
 * MPI_Isend end up here. With a second argument: leaves a process behind that has the argument in its command line,
 * and waits to be ended. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int sends;

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    ++sends;
    return PMPI_Isend(buf, count, type, to, tag, comm, request);
}

static unsigned char byte_of(int from, int to, int call, int i) { return (unsigned char)(from * 31 + to * 7 + call + i); }

static int faults_of_call(int call, int rank, int ranks, int bytes)
{
    unsigned char *out = malloc((size_t)ranks * bytes), *in = calloc(ranks, bytes);
    int peer, i, faults = 0;
    for (peer = 0; peer < ranks; ++peer)
        for (i = 0; i < bytes; ++i) out[peer * bytes + i] = byte_of(rank, peer, call, i);
    MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    for (peer = 0; peer < ranks; ++peer)
        for (i = 0; i < bytes; ++i) faults += in[peer * bytes + i] != byte_of(peer, rank, call, i);
    free(out), free(in);
    return faults;
}

int main(int argc, char **argv)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "", *names;
    int rank, ranks, length, call, faults = 0, all, sent;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 2) {
        if (fork() == 0) {
            setsid();
            execlp("sleep", argv[2], "600", (char *)NULL);
        }
        if (rank == 0) puts("waiting"), fflush(stdout);
        pause();
    }
    for (call = 0; call < 3; ++call) faults += faults_of_call(call, rank, ranks, atoi(argv[1]));
    MPI_Get_processor_name(name, &length);
    names = malloc((size_t)ranks * sizeof name);
    MPI_Gather(name, sizeof name, MPI_CHAR, names, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Reduce(&faults, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&sends, &sent, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    for (int i = 0; i < ranks && rank == 0; ++i) printf("%s ", names + i * sizeof name);
    if (rank == 0) printf("faults %d%s\n", all, sent ? ", linked" : "");
    MPI_Finalize();
    return 0;
}
