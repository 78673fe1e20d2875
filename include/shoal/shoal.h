/* Shoal: configurable all-to-all collectives for MPI.
 *
 * The functions take the arguments of the MPI functions they are named after, with MPI's meaning, and return an
 * MPI error code (MPI_SUCCESS is 0). Errors are raised on the communicator, so its error handler decides whether the
 * program ends. Any number of ranks, any datatypes, MPI_IN_PLACE, zero counts. Shoal does an all-to-all within one group of
 * ranks, and an allgather between two: the other cases, device memory, and whatever Shoal cannot do better are done by
 * the MPI library's own collective.
 *
 * Calls are collective, and blocking where nothing else is said. Calls on different communicators may run in different threads when MPI was
 * initialised with MPI_THREAD_MULTIPLE. The first call on a communicator makes a communicator of Shoal's own from it,
 * which is freed with it; buffers and arguments stay the caller's and are not used after the return. Only the receive
 * buffer is written, and only where MPI says so.
 *
 * How an exchange is done is chosen from the sizes, the ranks and the machine, the same on every rank, unless asked
 * for with a spec: "name" or "name:parameter=value,parameter=value", for example "tuna:radix=8". The command
 * `shoal list` prints all algorithms and parameters. A spec is taken, the later winning, from
 *   - the environment: SHOAL_ALLTOALL, SHOAL_ALLTOALLV, SHOAL_ALLGATHER, SHOAL_ALLGATHERV, or the file named by
 *     SHOAL_CONFIG,
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

/* MPI_Allgather. On an inter-communicator every rank of one group gets the messages of all ranks of the other; `sendcount`
 * is the same on all ranks of a group, and 0 where the group only receives. Both directions are under way together.
 * SHOAL_NETWORK says what connects the groups: "full" (the standard), "ring" or "torus:4x8" with the ranks of the first
 * group in front. */
SHOAL_PUBLIC int shoal_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm);

/* MPI_Allgatherv: messages of different sizes. recvcounts and displs have one entry per rank that sends: counts in
 * elements, displacements in extents of the datatype. One small agreement of all ranks per call; in it they notice when
 * the groups differ about a size, which is MPI_ERR_OTHER on all of them. */
SHOAL_PUBLIC int shoal_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm);

/* The 64-bit forms, on every MPI. */
SHOAL_PUBLIC int shoal_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                      MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
SHOAL_PUBLIC int shoal_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                       const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm);

/* The same with an info that may hold the key shoal_allgather or shoal_allgatherv: a spec for this call alone. */
SHOAL_PUBLIC int shoal_allgather_with(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                         int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info);
SHOAL_PUBLIC int shoal_allgatherv_with(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                          const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info);

/* ---- started now, ended later ---------------------------------------------------------------------------------- */

/* An exchange under way, or ready to be started. Buffers, types' contents and the arrays of counts and displacements
 * must stay as they are until it has ended, for a persistent one until it is freed; the receive buffer may be read, and
 * the send buffer written, while it is not under way. It moves only inside shoal_test and shoal_wait. Calls for one
 * communicator may not run in two threads at once. */
typedef struct shoal_request_data *shoal_request;
#define SHOAL_REQUEST_NULL ((shoal_request)0)

/* MPI_Ialltoall and MPI_Ialltoallv: start an exchange, which ends in shoal_test or shoal_wait. No rank waits for others
 * here; so until a blocking call or shoal_comm_set_info has made `comm` known to Shoal, the MPI library's own runs. Up to
 * 127 may be open on a communicator. */
SHOAL_PUBLIC int shoal_ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm, shoal_request *request);
SHOAL_PUBLIC int shoal_ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                     void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                     shoal_request *request);

/* MPI_Alltoall_init and MPI_Alltoallv_init: make everything ready once, to be started with shoal_start any number of
 * times. Collective: the ranks agree on the sizes and choose from measured exchanges, or take the spec of `info` (keys
 * as above; MPI_INFO_NULL: none). From the second start on no sizes travel and nothing is allocated. Up to 127 may be
 * open on a communicator. */
SHOAL_PUBLIC int shoal_alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                        int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, shoal_request *request);
SHOAL_PUBLIC int shoal_alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                         MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
                         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, shoal_request *request);

/* Starts a persistent exchange that is not under way. Like MPI_Start, in the same order on all ranks. */
SHOAL_PUBLIC int shoal_start(shoal_request request);

/* Moves the exchange on; *flag tells if it has ended, or was not under way. shoal_wait returns when it has. A nonblocking
 * request that has ended is freed and becomes SHOAL_REQUEST_NULL, for which both return at once. */
SHOAL_PUBLIC int shoal_test(shoal_request *request, int *flag);
SHOAL_PUBLIC int shoal_wait(shoal_request *request);

/* Frees a persistent request that is not under way and sets it to SHOAL_REQUEST_NULL. Before MPI_Finalize. */
SHOAL_PUBLIC int shoal_request_free(shoal_request *request);

/* ---- asking ------------------------------------------------------------------------------------------------------ */

/* Sets the spec for all later calls on `comm` from the keys shoal_alltoall and shoal_alltoallv of `info`, or on an
 * inter-communicator shoal_allgather and shoal_allgatherv; a value "auto" lets Shoal choose again, an absent key changes
 * nothing. Collective. On an error nothing is changed. */
SHOAL_PUBLIC int shoal_comm_set_info(MPI_Comm comm, MPI_Info info);

/* Writes one line, ended by a null character and cut to `size` bytes, saying which algorithm ran last on `comm` and
 * why. Local. `size` must be at least 1. */
SHOAL_PUBLIC int shoal_comm_explain(MPI_Comm comm, char *text, int size);

#ifdef __cplusplus
}
#endif

#endif
