/** @file
 * Shoal: configurable all-to-all collectives for MPI.
 *
 * The functions take the arguments of the MPI functions they are named after, with MPI's meaning, and return an MPI
 * error code (MPI_SUCCESS is 0). Errors are raised on the communicator first, so its error handler decides whether the
 * program ends. Any number of ranks, any datatypes, MPI_IN_PLACE, zero counts. Shoal does an all-to-all within one group
 * of ranks, and an allgather between two: the other cases, device memory, and whatever Shoal cannot do better are done
 * by the MPI library's own collective.
 *
 * Calls are collective, and blocking where nothing else is said. Calls on different communicators may run in different
 * threads when MPI was initialised with MPI_THREAD_MULTIPLE. Shoal may make a communicator of its own beside yours, and
 * frees it with yours. Buffers and arguments stay the caller's and are not used after the return. Only the receive buffer
 * is written, and only where MPI says so.
 *
 * Shoal tries algorithms on the program's own calls, and keeps the fastest, the same on every rank. You can name one
 * instead by a spec: "name" or "name:parameter=value,parameter=value", for example "tuna:radix=8". The command
 * `shoal list` prints all algorithms and parameters. Shoal takes a spec from these places; the later one wins:
 *   - the environment: SHOAL_ALLTOALL, SHOAL_ALLTOALLV, SHOAL_ALLTOALLW, SHOAL_ALLGATHER, SHOAL_ALLGATHERV,
 *     SHOAL_NEIGHBOR_ALLTOALL, SHOAL_NEIGHBOR_ALLTOALLV, SHOAL_NEIGHBOR_ALLTOALLW, or the file named by SHOAL_CONFIG,
 *   - shoal_comm_set_info() on the communicator,
 *   - the info given to one call.
 * It must be the same on every rank. A difference is found and is an error on all of them, but for an info that only some
 * ranks give to a call (MPI_INFO_NULL on others): these then wait for the others.
 */
#ifndef SHOAL_H
#define SHOAL_H

#include <mpi.h>

/** The version of this header. */
#define SHOAL_VERSION "0.1.0"

#if defined(__GNUC__)
#define SHOAL_PUBLIC __attribute__((visibility("default")))
#else
#define SHOAL_PUBLIC
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * MPI_Alltoall: one block of equal size from every rank to every rank.
 *
 * @param[in] sendbuf  blocks to send, in the order of ranks, `sendcount` elements each; or MPI_IN_PLACE on all ranks:
 *                     they are taken from `recvbuf`, and the next two arguments are ignored
 * @param sendcount    elements of `sendtype` in a block, at least 0
 * @param sendtype     committed datatype; its signature is that of the block's receiver
 * @param[out] recvbuf place for the blocks, in the order of ranks; not one that overlaps `sendbuf`
 * @param recvcount    elements of `recvtype` in a block, at least 0
 * @param recvtype     committed datatype
 * @param comm         whose ranks exchange; errors are raised on it
 * @return MPI_SUCCESS; MPI_ERR_COMM, MPI_ERR_COUNT, MPI_ERR_TYPE or MPI_ERR_BUFFER as the MPI library checks them;
 *         MPI_ERR_TRUNCATE where a block does not have the size that this rank expects, and MPI_ERR_OTHER on ranks that lost
 *         blocks by that; the next call is right. While the MPI's own collective serves, it is MPI_Ialltoall that looks:
 *         MPICH's does not find a wrong size, and after one Open MPI 5's next call may have wrong data. MPI_ERR_NO_MEM where
 *         no scratch memory is left (the job ends then, for other ranks wait for blocks);
 *         MPI_ERR_OTHER, on all ranks, for settings that differ between them
 */
SHOAL_PUBLIC int shoal_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                                MPI_Datatype recvtype, MPI_Comm comm);

/**
 * MPI_Alltoallv: one block from every rank to every rank, of any sizes.
 *
 * @param[in] sendbuf    blocks to send; or MPI_IN_PLACE on all ranks: they are taken from `recvbuf`, by `recvcounts`
 *                       and `rdispls`, and the next three arguments are ignored
 * @param[in] sendcounts elements of `sendtype` for each rank, at least 0: what that rank expects of this one
 * @param[in] sdispls    where each block begins, in extents of `sendtype` from `sendbuf`
 * @param sendtype       committed datatype
 * @param[out] recvbuf   place for the blocks, which do not overlap each other or `sendbuf`
 * @param[in] recvcounts elements of `recvtype` from each rank, at least 0
 * @param[in] rdispls    where each block goes, in extents of `recvtype` from `recvbuf`
 * @param recvtype       committed datatype
 * @param comm           whose ranks exchange; errors are raised on it
 * @return as shoal_alltoall(); a rank that gives wrong arguments gets the MPI library's error, the others MPI_ERR_OTHER
 *         where sizes are agreed on, else they wait as in MPI_Alltoallv
 */
SHOAL_PUBLIC int shoal_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
                                 MPI_Datatype recvtype, MPI_Comm comm);

/**
 * MPI_Alltoallw: one block from every rank to every rank, of any sizes and a datatype for each. Blocks whose type is a few
 * loops of contiguous bytes, as parts of arrays are, are copied without MPI_Pack.
 *
 * @param[in] sendbuf    blocks to send; or MPI_IN_PLACE on all ranks: they are taken from `recvbuf`, by `recvcounts`,
 *                       `rdispls` and `recvtypes`, and the next three arguments are ignored
 * @param[in] sendcounts elements of its type in the block for each rank, at least 0
 * @param[in] sdispls    where each block begins, in bytes from `sendbuf`
 * @param[in] sendtypes  committed datatypes; one of a block without elements is not looked at, but by Open MPI where its own
 *                       collective serves
 * @param[out] recvbuf   place for the blocks, which do not overlap each other or `sendbuf`
 * @param[in] recvcounts elements of its type in the block from each rank, at least 0
 * @param[in] rdispls    where each block goes, in bytes from `recvbuf`
 * @param[in] recvtypes  committed datatypes, as `sendtypes`
 * @param comm           whose ranks exchange; errors are raised on it
 * @return as shoal_alltoallv()
 */
SHOAL_PUBLIC int shoal_alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                 const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                                 const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);

/** shoal_alltoall() with 64-bit counts and displacements, on every MPI.
 * @copydetails shoal_alltoall */
SHOAL_PUBLIC int shoal_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                                  MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
/** shoal_alltoallv() with 64-bit counts and displacements, on every MPI.
 * @copydetails shoal_alltoallv */
SHOAL_PUBLIC int shoal_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                   MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

/** shoal_alltoallw() with 64-bit counts and displacements, on every MPI.
 * @copydetails shoal_alltoallw */
SHOAL_PUBLIC int shoal_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                   const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);

/** shoal_alltoall() with an info for this call.
 * @copydetails shoal_alltoall
 * @param info the key shoal_alltoall may hold a spec for this call alone, the same on all ranks. Anything but
 *             MPI_INFO_NULL costs one small agreement of the ranks per call. It stays the caller's. */
SHOAL_PUBLIC int shoal_alltoall_with(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                     int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info);
/** shoal_alltoallv() with an info for this call.
 * @copydetails shoal_alltoallv
 * @param info as in shoal_alltoall_with(), with the key shoal_alltoallv */
SHOAL_PUBLIC int shoal_alltoallv_with(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                      MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
                                      MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info);
/** shoal_alltoallw() with an info for this call.
 * @copydetails shoal_alltoallw
 * @param info as in shoal_alltoall_with(), with the key shoal_alltoallw */
SHOAL_PUBLIC int shoal_alltoallw_with(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                      const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                                      const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                                      MPI_Info info);

/**
 * MPI_Allgather: on an inter-communicator every rank of one group gets the messages of all ranks of the other. Both
 * directions are under way together. SHOAL_NETWORK says what connects the groups: "full" (the default), "ring" or
 * "torus:4x8" with the ranks of the first group in front. Within one group it is the MPI library's own.
 *
 * @param[in] sendbuf  this rank's message
 * @param sendcount    elements of `sendtype` in it, the same on all ranks of a group, 0 where the group only receives
 * @param sendtype     committed datatype
 * @param[out] recvbuf place for the messages, in the order of the ranks that send them
 * @param recvcount    elements of `recvtype` in each of them, 0 where the other group sends none
 * @param recvtype     committed datatype
 * @param comm         whose ranks exchange; errors are raised on it
 * @return as shoal_alltoall()
 */
SHOAL_PUBLIC int shoal_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/**
 * MPI_Allgatherv: shoal_allgather() with messages of different sizes. One small agreement of all ranks per call.
 *
 * @param[in] sendbuf    this rank's message
 * @param sendcount      elements of `sendtype` in it, at least 0
 * @param sendtype       committed datatype
 * @param[out] recvbuf   place for the messages
 * @param[in] recvcounts elements of `recvtype` from each rank that sends
 * @param[in] displs     where each message goes, in extents of `recvtype` from `recvbuf`
 * @param recvtype       committed datatype
 * @param comm           whose ranks exchange; errors are raised on it
 * @return as shoal_alltoall(); MPI_ERR_OTHER on all ranks where the groups differ about a size
 */
SHOAL_PUBLIC int shoal_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm);

/** shoal_allgather() with 64-bit counts and displacements, on every MPI.
 * @copydetails shoal_allgather */
SHOAL_PUBLIC int shoal_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
/** shoal_allgatherv() with 64-bit counts and displacements, on every MPI.
 * @copydetails shoal_allgatherv */
SHOAL_PUBLIC int shoal_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                                    MPI_Comm comm);

/** shoal_allgather() with an info for this call.
 * @copydetails shoal_allgather
 * @param info as in shoal_alltoall_with(), with the key shoal_allgather */
SHOAL_PUBLIC int shoal_allgather_with(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                      int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info);
/** shoal_allgatherv() with an info for this call.
 * @copydetails shoal_allgatherv
 * @param info as in shoal_alltoall_with(), with the key shoal_allgatherv */
SHOAL_PUBLIC int shoal_allgatherv_with(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                       const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                       MPI_Info info);

/** @name Among neighbours
 * On communicators with a topology: grids (MPI_Cart_create), graphs, and distributed graphs. Shoal learns from these calls as
 * from those of shoal_alltoall(), unless SHOAL_NEIGHBOR_ALLTOALL, SHOAL_NEIGHBOR_ALLTOALLV or SHOAL_NEIGHBOR_ALLTOALLW names
 * a spec, such as "gathered". The first call by a schedule tells all ranks the whole graph. With SHOAL_MAX_TEMP these calls
 * are the MPI library's own.
 * @{ */

/**
 * MPI_Neighbor_alltoall: one block of equal size along every edge of the communicator's topology.
 *
 * @param[in] sendbuf  blocks to send, in the order of the destinations, `sendcount` elements each
 * @param sendcount    elements of `sendtype` in a block, at least 0
 * @param sendtype     committed datatype
 * @param[out] recvbuf place for the blocks, in the order of the sources; not one that overlaps `sendbuf`. A place for nobody
 *                     (MPI_PROC_NULL) stays as it is
 * @param recvcount    elements of `recvtype` in a block, at least 0
 * @param recvtype     committed datatype
 * @param comm         whose ranks exchange; errors are raised on it
 * @return as shoal_alltoall()
 */
SHOAL_PUBLIC int shoal_neighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                         int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/**
 * MPI_Neighbor_alltoallv: one block of any size along every edge of the communicator's topology.
 *
 * @param[in] sendbuf    blocks to send
 * @param[in] sendcounts elements of `sendtype` for each destination, at least 0
 * @param[in] sdispls    where each block begins, in extents of `sendtype` from `sendbuf`
 * @param sendtype       committed datatype
 * @param[out] recvbuf   place for the blocks, which do not overlap each other or `sendbuf`
 * @param[in] recvcounts elements of `recvtype` from each source, at least 0
 * @param[in] rdispls    where each block goes, in extents of `recvtype` from `recvbuf`
 * @param recvtype       committed datatype
 * @param comm           whose ranks exchange; errors are raised on it
 * @return as shoal_alltoall(); where a rank gives wrong arguments the others wait, as in MPI_Neighbor_alltoallv
 */
SHOAL_PUBLIC int shoal_neighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                          MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                                          const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

/**
 * MPI_Neighbor_alltoallw: one block along every edge of the communicator's topology, of any size and a datatype for each.
 *
 * @param[in] sendbuf    blocks to send
 * @param[in] sendcounts elements of its type in the block for each destination, at least 0
 * @param[in] sdispls    where each block begins, in bytes from `sendbuf`
 * @param[in] sendtypes  committed datatypes; one of a block without elements is not looked at
 * @param[out] recvbuf   place for the blocks, which do not overlap each other or `sendbuf`
 * @param[in] recvcounts elements of its type in the block from each source, at least 0
 * @param[in] rdispls    where each block goes, in bytes from `recvbuf`
 * @param[in] recvtypes  committed datatypes, as `sendtypes`
 * @param comm           whose ranks exchange; errors are raised on it
 * @return as shoal_neighbor_alltoallv()
 */
SHOAL_PUBLIC int shoal_neighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                                          const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                                          const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);

/** @}
 * @name Sparse exchange
 * @{ */

/** What arrived in a shoal_exchange(): blocks in the order of the ranks that sent them, those of one rank in the order in which
 * it named them. */
typedef struct shoal_arrivals {
  int blocks;              /**< how many */
  const int *sources;      /**< the rank that each comes from */
  const MPI_Count *counts; /**< elements in each; 0 of a datatype without bytes */
  const MPI_Count *displs; /**< where each begins, in elements from `data` */
  const void *data;        /**< one after another, without the gaps that the datatype may have: MPI_Type_size() bytes an
                                element */
} shoal_arrivals;

/**
 * Sends blocks to whom you like, and receives what comes: no rank has to know who sends to it, nor how much. It takes the
 * place of an alltoall of counts with an alltoallv behind it, and of sparse exchanges written by hand. Collective: every rank
 * calls it, also one that sends nothing.
 *
 * @param blocks         how many this rank sends, at least 0
 * @param[in] destinations the rank that each goes to, in any order; several may go to one, also to this rank itself;
 *                       MPI_PROC_NULL: nowhere
 * @param[in] sendbuf    blocks to send
 * @param[in] counts     elements of `datatype` in each, at least 0
 * @param[in] displs     where each begins, in extents of `datatype` from `sendbuf`
 * @param datatype       committed datatype, on ranks that send nothing too; its size is the same on all ranks
 * @param comm           whose ranks exchange, an intra-communicator; errors are raised on it
 * @param[out] arrivals  what came, to be freed with shoal_arrivals_free(), at any time; NULL after an error
 * @return MPI_SUCCESS; what is wrong with this rank's arguments (MPI_ERR_COMM, MPI_ERR_COUNT, MPI_ERR_RANK, MPI_ERR_TYPE,
 *         MPI_ERR_BUFFER or MPI_ERR_ARG; MPI_ERR_NO_MEM where its blocks have gaps and there is no memory to pack them), and
 *         then MPI_ERR_OTHER on all other ranks, where nothing was exchanged either;
 *         MPI_ERR_TRUNCATE where a block is no whole number of elements. The next call is right. MPI_ERR_NO_MEM as
 *         shoal_alltoall()
 */
SHOAL_PUBLIC int shoal_exchange(int blocks, const int destinations[], const void *sendbuf, const MPI_Count counts[],
                                const MPI_Aint displs[], MPI_Datatype datatype, MPI_Comm comm,
                                shoal_arrivals **arrivals);

/** Frees what arrived. Local.
 * @param[in,out] arrivals becomes NULL; nothing is done where it is
 * @return MPI_SUCCESS, or MPI_ERR_ARG where `arrivals` is NULL itself */
SHOAL_PUBLIC int shoal_arrivals_free(shoal_arrivals **arrivals);

/** @}
 * @name Started now, ended later
 * @{ */

/** An exchange under way, or ready to be started. Buffers and the arrays of counts and displacements must stay as they are
 * until it has ended, for a persistent one until it is freed; datatypes may be freed before. The receive buffer may be read,
 * and the send buffer written, while it is not under way. It moves inside whatever call of Shoal waits or tests, on any
 * communicator, so ranks may wait in any order; not inside other MPI calls. Any number may be open. Calls for one
 * communicator may not run in two threads at once. */
typedef struct shoal_request_data *shoal_request;
/** No exchange. */
#define SHOAL_REQUEST_NULL ((shoal_request)0)

/** MPI_Ialltoall: starts an exchange, which ends in shoal_test() or shoal_wait(). No rank waits for others here; so
 * until a blocking call or shoal_comm_set_info() has made `comm` known to Shoal, the MPI library's own runs.
 * @copydetails shoal_alltoall
 * @param[out] request the exchange, SHOAL_REQUEST_NULL after an error */
SHOAL_PUBLIC int shoal_ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm, shoal_request *request);
/** MPI_Ialltoallv: starts an exchange, as shoal_ialltoall().
 * @copydetails shoal_alltoallv
 * @param[out] request the exchange, SHOAL_REQUEST_NULL after an error */
SHOAL_PUBLIC int shoal_ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                  MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
                                  MPI_Datatype recvtype, MPI_Comm comm, shoal_request *request);

/** MPI_Ialltoallw: starts an exchange, as shoal_ialltoall(). The datatypes may be freed before it ends.
 * @copydetails shoal_alltoallw
 * @param[out] request the exchange, SHOAL_REQUEST_NULL after an error */
SHOAL_PUBLIC int shoal_ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                  const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                                  const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                                  shoal_request *request);

/** shoal_ialltoall() with 64-bit counts; where the MPI library's own runs and lacks them, larger ones are MPI_ERR_COUNT.
 * @copydetails shoal_ialltoall */
SHOAL_PUBLIC int shoal_ialltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, shoal_request *request);
/** shoal_ialltoallv() with 64-bit counts and displacements, as shoal_ialltoall_c().
 * @copydetails shoal_ialltoallv */
SHOAL_PUBLIC int shoal_ialltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                                    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                    shoal_request *request);

/** shoal_ialltoallw() with 64-bit counts and displacements, as shoal_ialltoall_c().
 * @copydetails shoal_ialltoallw */
SHOAL_PUBLIC int shoal_ialltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                    const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                                    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                                    shoal_request *request);

/** shoal_exchange() that ends in shoal_test() or shoal_wait(). The first one on a communicator, of either form, makes a
 * communicator of Shoal's own, for which it waits for all ranks; later ones wait for none. On one communicator they run
 * one after another, and are started in the same order on all ranks.
 * @copydetails shoal_exchange
 * Wrong arguments are an error when the exchange ends. `sendbuf` and `arrivals` stay as they are until then; the other arrays
 * are not used after the return.
 * @param[out] request the exchange, SHOAL_REQUEST_NULL after an error */
SHOAL_PUBLIC int shoal_iexchange(int blocks, const int destinations[], const void *sendbuf, const MPI_Count counts[],
                                 const MPI_Aint displs[], MPI_Datatype datatype, MPI_Comm comm,
                                 shoal_arrivals **arrivals, shoal_request *request);

/** MPI_Alltoall_init: makes everything ready once, to be started with shoal_start() any number of times. Collective:
 * the ranks agree on the sizes and choose from measured exchanges, or take the spec of `info`. From the second start on
 * nothing is allocated. Inside a node blocks mostly go through memory that its ranks share for this exchange. The
 * algorithm is settled here, whatever algorithm the communicator is given later.
 * @copydetails shoal_alltoall
 * @param info         the key shoal_alltoall may hold a spec, the same on all ranks; or MPI_INFO_NULL
 * @param[out] request the exchange, to be freed with shoal_request_free(); SHOAL_REQUEST_NULL after an error */
SHOAL_PUBLIC int shoal_alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                     int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                     shoal_request *request);
/** MPI_Alltoallv_init: makes everything ready once, as shoal_alltoall_init().
 * @copydetails shoal_alltoallv
 * @param info         the key shoal_alltoallv may hold a spec, the same on all ranks; or MPI_INFO_NULL
 * @param[out] request the exchange, to be freed with shoal_request_free(); SHOAL_REQUEST_NULL after an error */
SHOAL_PUBLIC int shoal_alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                      MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
                                      MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, shoal_request *request);
/** MPI_Alltoallw_init: makes everything ready once, as shoal_alltoall_init(). The datatypes may be freed behind it.
 * @copydetails shoal_alltoallw
 * @param info         the key shoal_alltoallw may hold a spec, the same on all ranks; or MPI_INFO_NULL
 * @param[out] request the exchange, to be freed with shoal_request_free(); SHOAL_REQUEST_NULL after an error */
SHOAL_PUBLIC int shoal_alltoallw_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                      const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                                      const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                      shoal_request *request);

/** shoal_alltoall_init() with 64-bit counts, as shoal_ialltoall_c().
 * @copydetails shoal_alltoall_init */
SHOAL_PUBLIC int shoal_alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                                       MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                       shoal_request *request);
/** shoal_alltoallv_init() with 64-bit counts and displacements, as shoal_ialltoall_c().
 * @copydetails shoal_alltoallv_init */
SHOAL_PUBLIC int shoal_alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                        MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                                        const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                        shoal_request *request);
/** shoal_alltoallw_init() with 64-bit counts and displacements, as shoal_ialltoall_c().
 * @copydetails shoal_alltoallw_init */
SHOAL_PUBLIC int shoal_alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                        const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                                        const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                                        MPI_Info info, shoal_request *request);

/** MPI_Allgather_init: makes an allgather between two groups ready once, as shoal_alltoall_init(), always by messages;
 * within one group the MPI library's own.
 * @copydetails shoal_allgather
 * @param info         the key shoal_allgather may hold a spec, the same on all ranks; or MPI_INFO_NULL
 * @param[out] request the exchange, to be freed with shoal_request_free(); SHOAL_REQUEST_NULL after an error */
SHOAL_PUBLIC int shoal_allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                      int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                      shoal_request *request);
/** MPI_Allgatherv_init: as shoal_allgather_init(), with messages of different sizes.
 * @copydetails shoal_allgatherv
 * @param info         the key shoal_allgatherv may hold a spec, the same on all ranks; or MPI_INFO_NULL
 * @param[out] request the exchange, to be freed with shoal_request_free(); SHOAL_REQUEST_NULL after an error */
SHOAL_PUBLIC int shoal_allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                       const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                                       MPI_Comm comm, MPI_Info info, shoal_request *request);

/** Starts a persistent exchange that is not under way. Ranks may start several in any order, as with MPI_Start.
 * @param request made by one of the functions above
 * @return MPI_SUCCESS, or MPI_ERR_REQUEST where it cannot be started */
SHOAL_PUBLIC int shoal_start(shoal_request request);

/** Moves the exchange on, and all others under way in this process. A nonblocking request that has ended is freed
 * and becomes SHOAL_REQUEST_NULL, for which this returns at once.
 * @param[in,out] request the exchange
 * @param[out] flag       whether it has ended, or was not under way
 * @return MPI_SUCCESS, or the error of the exchange, as shoal_alltoall() */
SHOAL_PUBLIC int shoal_test(shoal_request *request, int *flag);
/** Returns when the exchange has ended; else as shoal_test().
 * @param[in,out] request the exchange
 * @return as shoal_test() */
SHOAL_PUBLIC int shoal_wait(shoal_request *request);

/** Frees a persistent request that is not under way. Before MPI_Finalize.
 * @param[in,out] request becomes SHOAL_REQUEST_NULL
 * @return MPI_SUCCESS, or MPI_ERR_REQUEST where it is under way or none */
SHOAL_PUBLIC int shoal_request_free(shoal_request *request);

/** @}
 * @name Asking
 * @{ */

/** Sets the spec for all later calls on a communicator. Collective. On an error nothing is changed.
 * @param comm whose calls are meant; stays the caller's
 * @param info its keys shoal_alltoall, shoal_alltoallv and shoal_alltoallw, on an inter-communicator shoal_allgather and
 *             shoal_allgatherv, hold specs; "auto" lets Shoal choose again, an absent key changes nothing; not kept.
 *             MPI_INFO_NULL is an error of this rank alone: ranks that give an info then wait for it
 * @return MPI_SUCCESS; MPI_ERR_INFO_VALUE or MPI_ERR_OTHER, on all ranks, for a spec that is wrong or differs between
 *         them */
SHOAL_PUBLIC int shoal_comm_set_info(MPI_Comm comm, MPI_Info info);

/** Says in one line which algorithm ran last on a communicator, and why. Local.
 * @param comm      the communicator
 * @param[out] text place for the line, which a null character ends
 * @param size      bytes of `text`, at least 1; a longer line is cut
 * @return MPI_SUCCESS, or MPI_ERR_ARG */
SHOAL_PUBLIC int shoal_comm_explain(MPI_Comm comm, char *text, int size);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
