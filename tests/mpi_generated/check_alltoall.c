/* Is linked with a generated MPI_Alltoall, and compares it byte by byte with PMPI_Alltoall. The generated one sends
 * through this program's MPI_Isend, so the program sees which of the two served a call. Prints "faults: N" and
 * "served: A of B". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, faults, calls, served, sends;

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    ++sends;
    return PMPI_Isend(buf, count, type, to, tag, comm, request);
}

static void compare(int send_count, MPI_Datatype send_type, int recv_count, MPI_Datatype recv_type, MPI_Comm comm)
{
    MPI_Aint lower, send_extent, recv_extent;
    MPI_Type_get_extent(send_type, &lower, &send_extent);
    MPI_Type_get_extent(recv_type, &lower, &recv_extent);
    int ranks;
    MPI_Comm_size(comm, &ranks);
    /* with room for types that reach beyond their extent */
    const size_t out = (size_t)ranks * send_count * send_extent + 4096;
    const size_t in = (size_t)ranks * recv_count * recv_extent + 4096;
    unsigned char *source = malloc(out), *kept = malloc(out), *expected = malloc(in), *found = malloc(in);
    for (size_t i = 0; i < out; ++i) source[i] = (unsigned char)(i * 31 + i / 251 + (size_t)rank * 7 + (size_t)calls);
    memcpy(kept, source, out);
    memset(expected, 0xee, in);
    memset(found, 0xee, in);
    PMPI_Alltoall(source, send_count, send_type, expected, recv_count, recv_type, comm);
    const int before = sends;
    MPI_Alltoall(source, send_count, send_type, found, recv_count, recv_type, comm);
    served += sends > before;
    ++calls;
    faults += memcmp(expected, found, in) != 0 || memcmp(source, kept, out) != 0;
    free(source), free(kept), free(expected), free(found);
}

static void compare_in_place(MPI_Comm comm)
{
    int expected[64], found[64];
    for (int i = 0; i < size; ++i) expected[i] = found[i] = 100 * rank + i;
    PMPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, expected, 1, MPI_INT, comm);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, found, 1, MPI_INT, comm);
    faults += memcmp(expected, found, (size_t)size * sizeof *found) != 0;
}

static void compare_types(MPI_Comm comm)
{
    MPI_Datatype column, narrow, pair;
    MPI_Type_vector(5, 1, 3, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &narrow);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&column), MPI_Type_commit(&narrow), MPI_Type_commit(&pair);
    compare(1, column, 5, MPI_INT, comm);
    compare(2, column, 5, pair, comm);
    compare(1, narrow, 5, MPI_INT, comm); /* extent below true extent: a matrix transpose */
    compare(10, MPI_INT, 2, column, comm);
    MPI_Type_free(&column), MPI_Type_free(&narrow), MPI_Type_free(&pair);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int counts[] = {1, 7, 1000, 100000}; /* for the MPI library, short and long messages */
    for (int i = 0; i < 4; ++i) compare(counts[i], MPI_INT, counts[i], MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < 50; ++i) compare(3, MPI_CHAR, 3, MPI_CHAR, MPI_COMM_WORLD); /* one call right after another */
    compare_types(MPI_COMM_WORLD);
    MPI_Comm reversed, half;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    compare(100, MPI_DOUBLE, 100, MPI_DOUBLE, reversed);
    MPI_Comm_free(&reversed);
    int all_served, all_calls = calls, all_faults;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half); /* has another size, so PMPI_Alltoall serves */
    compare(10, MPI_INT, 10, MPI_INT, half);
    MPI_Comm_free(&half);
    compare(0, MPI_INT, 0, MPI_INT, MPI_COMM_WORLD);
    compare_in_place(MPI_COMM_WORLD);
    MPI_Allreduce(&served, &all_served, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&faults, &all_faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("faults: %d\nserved: %d of %d\n", all_faults, all_served, all_calls);
    MPI_Finalize();
    return all_faults != 0;
}
