/* Shoal: configurable all-to-all collectives for MPI.
 *
 * The functions take the arguments of the MPI functions they are named after, with MPI's meaning, and return an
 * MPI error code (MPI_SUCCESS is 0). Errors are raised on the communicator, so its error handler decides whether the
 * program ends. Any number of ranks, any datatypes, MPI_IN_PLACE, zero counts. An inter-communicator, device memory,
 * and whatever Shoal cannot do better are done by the MPI library's own collective.
 *
 * Calls are collective and blocking. Calls on different communicators may run in different threads when MPI was
 * initialised with MPI_THREAD_MULTIPLE. The first call on a communicator makes a communicator of Shoal's own from it,
 * which is freed with it; buffers and arguments stay the caller's and are not used after the return. Only the receive
 * buffer is written, and only where MPI says so.
 *
 * How an exchange is done is chosen from the sizes, the ranks and the machine, the same on every rank, unless asked
 * for with a spec: "name" or "name:parameter=value,parameter=value", for example "tuna:radix=8". The command
 * `shoal list` prints all algorithms and parameters. A spec is taken, the later winning, from
 *   - the environment: SHOAL_ALLTOALL, SHOAL_ALLTOALLV, or the file named by SHOAL_CONFIG,
 *   - shoal_comm_set_info() on the communicator,
 *   - the info given to one call.
 * It must be the same on every rank; a difference is found and is an error on all of them.
 */
#ifndef SHOAL_H
#define SHOAL_H

#include <mpi.h>

#define SHOAL_VERSION "0.1.0"

#if defined(__GNUC__)
#define SHOAL_PUBLIC __attribute__((visibility("default")))
#else
#define SHOAL_PUBLIC
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* MPI_Alltoall. Counts are elements of the datatype per block. */
SHOAL_PUBLIC int shoal_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm);

/* MPI_Alltoallv. Arrays have one entry per rank: counts in elements, displacements in extents of the datatype. */
SHOAL_PUBLIC int shoal_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                    void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

/* The 64-bit forms, on every MPI. */
SHOAL_PUBLIC int shoal_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
SHOAL_PUBLIC int shoal_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                      MPI_Datatype recvtype, MPI_Comm comm);

/* The same with an info that may hold the key shoal_alltoall or shoal_alltoallv: a spec for this call alone. An info
 * other than MPI_INFO_NULL costs one small agreement of the ranks per call. */
SHOAL_PUBLIC int shoal_alltoall_with(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                        MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info);
SHOAL_PUBLIC int shoal_alltoallv_with(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                         void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                         MPI_Comm comm, MPI_Info info);

/* Sets the spec for all later calls on `comm` from the keys shoal_alltoall and shoal_alltoallv of `info`; a value
 * "auto" lets Shoal choose again, an absent key changes nothing. Collective. On an error nothing is changed. */
SHOAL_PUBLIC int shoal_comm_set_info(MPI_Comm comm, MPI_Info info);

/* Writes one line, ended by a null character and cut to `size` bytes, saying which algorithm ran last on `comm` and
 * why. Local. `size` must be at least 1. */
SHOAL_PUBLIC int shoal_comm_explain(MPI_Comm comm, char *text, int size);

#ifdef __cplusplus
}
#endif

#endif
