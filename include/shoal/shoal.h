/** @file
 * Shoal: configurable all-to-all collectives for MPI.
 *
 * The functions take the arguments of the MPI functions after which they are named, with MPI's meaning, and return an MPI error
 * code (MPI_SUCCESS is 0). Errors are raised on the communicator first, so its error handler decides whether the program ends.
 * Exchanges may have any number of ranks, any datatypes, MPI_IN_PLACE and zero counts. Shoal does an all-to-all within one
 * group of ranks, and an allgather between two groups. The MPI library's own collective does the other cases, exchanges with
 * device memory, and whatever Shoal cannot do better.
 *
 * Calls are collective and blocking, unless something else is said. If MPI was initialised with MPI_THREAD_MULTIPLE, calls on
 * different communicators may run in different threads. Shoal may make a communicator of its own beside yours, and frees it
 * with yours. Buffers and arguments stay the caller's, and Shoal does not use them after the return. Shoal writes to nothing
 * but the receive buffer, and there only where MPI says so.
 *
 * Shoal tries algorithms on the program's own calls, and keeps the fastest, the same on every rank. You can name an algorithm
 * instead by a spec: "name" or "name:parameter=value,parameter=value", for example "tuna:radix=8". The command
 * `shoal list` prints all algorithms and parameters. Shoal takes a spec from these places; the later one wins:
 *   - the environment: SHOAL_ALLTOALL, SHOAL_ALLTOALLV, SHOAL_ALLTOALLW, SHOAL_ALLGATHER, SHOAL_ALLGATHERV,
 *     SHOAL_NEIGHBOR_ALLTOALL, SHOAL_NEIGHBOR_ALLTOALLV, SHOAL_NEIGHBOR_ALLTOALLW, or the file named by SHOAL_CONFIG,
 *   - shoal_comm_set_info() on the communicator,
 *   - the info given to one call.
 * A spec must be the same on every rank. Shoal finds a difference and reports an error on all ranks. There is one exception: if
 * only some ranks give an info to a call, and others MPI_INFO_NULL, the ranks that give an info wait for the others.
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
 * @param[in] sendbuf  blocks to send, in the order of ranks, `sendcount` elements each; or MPI_IN_PLACE on all ranks: then the
 *                     blocks are taken from `recvbuf`, and the next two arguments are ignored
 * @param sendcount    elements of `sendtype` in a block, at least 0
 * @param sendtype     committed datatype; a block must have the signature that its receiver expects
 * @param[out] recvbuf place for the blocks, in the order of ranks; must not overlap `sendbuf`
 * @param recvcount    elements of `recvtype` in a block, at least 0
 * @param recvtype     committed datatype
 * @param comm         communicator whose ranks exchange; errors are raised on it
 * @return MPI_SUCCESS; MPI_ERR_COMM, MPI_ERR_COUNT, MPI_ERR_TYPE or MPI_ERR_BUFFER as the MPI library checks them;
 *         MPI_ERR_TRUNCATE if a block does not have the size that this rank expects, and MPI_ERR_OTHER on ranks that lost
 *         blocks because of that: the next call is right again. (While the MPI's own collective serves, the MPI checks the sizes.
 *         In MPICH before 4.3, in Intel MPI, and for shoal_alltoallw() on Open MPI that is its nonblocking form: MPICH's does
 *         not find a wrong size, and after a wrong size Open MPI 5's next call may have wrong data.)
 *         MPI_ERR_NO_MEM if no scratch memory is left (the job then ends, because other ranks wait for blocks);
 *         MPI_ERR_OTHER, on all ranks, if settings differ between them
 */
SHOAL_PUBLIC int shoal_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                                MPI_Datatype recvtype, MPI_Comm comm);

/**
 * MPI_Alltoallv: one block from every rank to every rank, of any sizes.
 *
 * @param[in] sendbuf    blocks to send; or MPI_IN_PLACE on all ranks: then the blocks are taken from `recvbuf`, by
 *                       `recvcounts` and `rdispls`, and the next three arguments are ignored
 * @param[in] sendcounts elements of `sendtype` for each rank, at least 0: as many as that rank expects from this one
 * @param[in] sdispls    where each block begins, in extents of `sendtype` from `sendbuf`
 * @param sendtype       committed datatype
 * @param[out] recvbuf   place for the blocks, which must not overlap each other or `sendbuf`
 * @param[in] recvcounts elements of `recvtype` from each rank, at least 0
 * @param[in] rdispls    where each block goes, in extents of `recvtype` from `recvbuf`
 * @param recvtype       committed datatype
 * @param comm           communicator whose ranks exchange; errors are raised on it
 * @return as shoal_alltoall(). A rank that gives wrong arguments gets the MPI library's error. The other ranks get MPI_ERR_OTHER
 *         if the ranks agree on sizes; else they wait, as in MPI_Alltoallv
 */
SHOAL_PUBLIC int shoal_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
                                 MPI_Datatype recvtype, MPI_Comm comm);

/**
 * MPI_Alltoallw: one block from every rank to every rank, each block of any size and of a datatype of its own. If a datatype is
 * a few loops of contiguous bytes, as parts of arrays are, its blocks are copied without MPI_Pack.
 *
 * @param[in] sendbuf    blocks to send; or MPI_IN_PLACE on all ranks: then the blocks are taken from `recvbuf`, by
 *                       `recvcounts`, `rdispls` and `recvtypes`, and the next three arguments are ignored
 * @param[in] sendcounts elements in the block for each rank, of the block's own datatype, at least 0
 * @param[in] sdispls    where each block begins, in bytes from `sendbuf`
 * @param[in] sendtypes  committed datatypes; nobody looks at the datatype of a block without elements, except Open MPI if its
 *                       own collective serves
 * @param[out] recvbuf   place for the blocks, which must not overlap each other or `sendbuf`
 * @param[in] recvcounts elements in the block from each rank, of the block's own datatype, at least 0
 * @param[in] rdispls    where each block goes, in bytes from `recvbuf`
 * @param[in] recvtypes  committed datatypes, as `sendtypes`
 * @param comm           communicator whose ranks exchange; errors are raised on it
 * @return as shoal_alltoallv()
 */
SHOAL_PUBLIC int shoal_alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                 const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                                 const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);

/** shoal_alltoall() with 64-bit counts. If the MPI library's own collective runs and lacks 64-bit counts, as in Open MPI 5,
 * counts and displacements that need them give MPI_ERR_COUNT on the ranks that give them, and other ranks may wait. Name an
 * algorithm for such calls.
 * @copydetails shoal_alltoall */
SHOAL_PUBLIC int shoal_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                                  MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
/** shoal_alltoallv() with 64-bit counts and displacements, as shoal_alltoall_c().
 * @copydetails shoal_alltoallv */
SHOAL_PUBLIC int shoal_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                   MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

/** shoal_alltoallw() with 64-bit counts and displacements, as shoal_alltoall_c().
 * @copydetails shoal_alltoallw */
SHOAL_PUBLIC int shoal_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                   const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);

/** shoal_alltoall() with an info for this call.
 * @copydetails shoal_alltoall
 * @param info its key shoal_alltoall may hold a spec for this call alone, the same on all ranks. Any info but MPI_INFO_NULL costs
 *             one small agreement of the ranks in each call. The info stays the caller's. */
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
 * MPI_Allgather: on an inter-communicator every rank of one group gets the messages of all ranks of the other group. Both
 * directions are under way together. SHOAL_NETWORK says what connects the groups: "full" (the default), "ring" or "torus:4x8",
 * in which the ranks of the first group come first. Within one group the MPI library's own collective serves.
 *
 * @param[in] sendbuf  this rank's message
 * @param sendcount    elements of `sendtype` in the message, the same on all ranks of a group; 0 if the group only receives
 * @param sendtype     committed datatype
 * @param[out] recvbuf place for the messages, in the order of the ranks that send them
 * @param recvcount    elements of `recvtype` in each of these messages; 0 if the other group sends none
 * @param recvtype     committed datatype
 * @param comm         communicator whose ranks exchange; errors are raised on it
 * @return as shoal_alltoall()
 */
SHOAL_PUBLIC int shoal_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/**
 * MPI_Allgatherv: shoal_allgather() with messages of different sizes. Each call costs one small agreement of all ranks.
 *
 * @param[in] sendbuf    this rank's message
 * @param sendcount      elements of `sendtype` in the message, at least 0
 * @param sendtype       committed datatype
 * @param[out] recvbuf   place for the messages
 * @param[in] recvcounts elements of `recvtype` from each rank that sends
 * @param[in] displs     where each message goes, in extents of `recvtype` from `recvbuf`
 * @param recvtype       committed datatype
 * @param comm           communicator whose ranks exchange; errors are raised on it
 * @return as shoal_alltoall(); MPI_ERR_OTHER on all ranks if the groups give different sizes for a message
 */
SHOAL_PUBLIC int shoal_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm);

/** shoal_allgather() with 64-bit counts and displacements, as shoal_alltoall_c().
 * @copydetails shoal_allgather */
SHOAL_PUBLIC int shoal_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
/** shoal_allgatherv() with 64-bit counts and displacements, as shoal_alltoall_c().
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
 * a spec, such as "gathered". The first call that Shoal serves by a schedule tells all ranks the whole graph.
 * @{ */

/**
 * MPI_Neighbor_alltoall: one block of equal size along every edge of the communicator's topology.
 *
 * @param[in] sendbuf  blocks to send, in the order of the destinations, `sendcount` elements each
 * @param sendcount    elements of `sendtype` in a block, at least 0
 * @param sendtype     committed datatype
 * @param[out] recvbuf place for the blocks, in the order of the sources; must not overlap `sendbuf`. If a source is
 *                     MPI_PROC_NULL, its place stays as it is
 * @param recvcount    elements of `recvtype` in a block, at least 0
 * @param recvtype     committed datatype
 * @param comm         communicator whose ranks exchange; errors are raised on it
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
 * @param[out] recvbuf   place for the blocks, which must not overlap each other or `sendbuf`
 * @param[in] recvcounts elements of `recvtype` from each source, at least 0
 * @param[in] rdispls    where each block goes, in extents of `recvtype` from `recvbuf`
 * @param recvtype       committed datatype
 * @param comm           communicator whose ranks exchange; errors are raised on it
 * @return as shoal_alltoall(). If a rank gives wrong arguments, the others wait, as in MPI_Neighbor_alltoallv
 */
SHOAL_PUBLIC int shoal_neighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                          MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                                          const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm);

/**
 * MPI_Neighbor_alltoallw: one block along every edge of the communicator's topology, each of any size and of a datatype of its
 * own.
 *
 * @param[in] sendbuf    blocks to send
 * @param[in] sendcounts elements in the block for each destination, of the block's own datatype, at least 0
 * @param[in] sdispls    where each block begins, in bytes from `sendbuf`
 * @param[in] sendtypes  committed datatypes; nobody looks at the datatype of a block without elements, except Open MPI if its
 *                       own collective serves
 * @param[out] recvbuf   place for the blocks, which must not overlap each other or `sendbuf`
 * @param[in] recvcounts elements in the block from each source, of the block's own datatype, at least 0
 * @param[in] rdispls    where each block goes, in bytes from `recvbuf`
 * @param[in] recvtypes  committed datatypes, as `sendtypes`
 * @param comm           communicator whose ranks exchange; errors are raised on it
 * @return as shoal_neighbor_alltoallv()
 */
SHOAL_PUBLIC int shoal_neighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                                          const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                                          const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm);

/** @}
 * @name Sparse exchange
 * @{ */

/** What arrived in a shoal_exchange(). The blocks are in the order of the ranks that sent them, and the blocks of one rank in the
 * order in which that rank named them. */
typedef struct shoal_arrivals {
  int blocks;              /**< how many blocks arrived */
  const int *sources;      /**< the rank from which each block comes */
  const MPI_Count *counts; /**< elements in each block; 0 for a datatype without bytes */
  const MPI_Count *displs; /**< where each block begins, in elements from `data` */
  const void *data;        /**< the blocks, one after another, without the gaps that the datatype may have: an element
                                takes MPI_Type_size() bytes */
} shoal_arrivals;

/**
 * Sends blocks to any ranks you like, and receives what comes: no rank has to know who sends to it, nor how much. This function
 * replaces an alltoall of counts followed by an alltoallv, and sparse exchanges written by hand. Collective: every rank calls
 * it, even a rank that sends nothing.
 *
 * @param blocks         how many blocks this rank sends, at least 0
 * @param[in] destinations the rank to which each block goes, in any order; several blocks may go to one rank, and blocks may go
 *                       to this rank itself; a block for MPI_PROC_NULL goes nowhere
 * @param[in] sendbuf    blocks to send
 * @param[in] counts     elements of `datatype` in each block, at least 0
 * @param[in] displs     where each block begins, in extents of `datatype` from `sendbuf`
 * @param datatype       committed datatype, also on ranks that send nothing; its size must be the same on all ranks
 * @param comm           intra-communicator whose ranks exchange; errors are raised on it. Not one of MPICH's with streams
 *                       (MPIX_Stream_comm_create), on which the call may never end. MPI_ERR_OTHER if its ranks are threads
 * @param[out] arrivals  what arrived; free it with shoal_arrivals_free(), at any time. NULL after an error
 * @return MPI_SUCCESS; what is wrong with this rank's arguments (MPI_ERR_COMM, MPI_ERR_COUNT, MPI_ERR_RANK, MPI_ERR_TYPE,
 *         MPI_ERR_BUFFER or MPI_ERR_ARG; MPI_ERR_NO_MEM if its blocks have gaps and there is no memory to pack them): then all
 *         other ranks get MPI_ERR_OTHER, and nothing is exchanged on any rank;
 *         MPI_ERR_TRUNCATE if a block is not a whole number of elements. The next call is right again. MPI_ERR_NO_MEM as in
 *         shoal_alltoall()
 */
SHOAL_PUBLIC int shoal_exchange(int blocks, const int destinations[], const void *sendbuf, const MPI_Count counts[],
                                const MPI_Aint displs[], MPI_Datatype datatype, MPI_Comm comm,
                                shoal_arrivals **arrivals);

/** Frees what arrived. Local.
 * @param[in,out] arrivals what arrived; becomes NULL. If it is NULL already, nothing is done
 * @return MPI_SUCCESS, or MPI_ERR_ARG if the argument `arrivals` itself is NULL */
SHOAL_PUBLIC int shoal_arrivals_free(shoal_arrivals **arrivals);

/** @}
 * @name Nonblocking and persistent exchanges
 * @{ */

/** An exchange that is under way, or ready to be started. Buffers and the arrays of counts and displacements must stay as they
 * are until the exchange has ended or, if it is persistent, until it is freed; datatypes may be freed earlier. While the exchange
 * is not under way, you may read the receive buffer and write to the send buffer. An exchange moves on inside any call of Shoal
 * that waits or tests, on any communicator, so ranks may wait in any order. It does not move inside other MPI calls. Any number
 * of exchanges may be open. Calls for one communicator must not run in two threads at once. */
typedef struct shoal_request_data *shoal_request;
/** No exchange. */
#define SHOAL_REQUEST_NULL ((shoal_request)0)

/** MPI_Ialltoall: starts an exchange, which ends in shoal_test() or shoal_wait(). No rank waits for others in this
 * call. So the MPI library's own collective runs until a blocking call or shoal_comm_set_info() has made `comm` known to Shoal.
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

/** shoal_ialltoall() with 64-bit counts. If the MPI library's own collective runs and lacks 64-bit counts, counts that need them
 * give MPI_ERR_COUNT.
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

/** shoal_exchange() that ends in shoal_test() or shoal_wait(). The first exchange on a communicator, of either form, makes a
 * communicator of Shoal's own, and waits for all ranks to do so; later exchanges wait for no rank. The exchanges on one
 * communicator run one after another, and all ranks must start them in the same order.
 * @copydetails shoal_exchange
 * Wrong arguments are reported when the exchange ends. `sendbuf` and `arrivals` must stay as they are until then; Shoal does not
 * use the other arrays after the return.
 * @param[out] request the exchange, SHOAL_REQUEST_NULL after an error */
SHOAL_PUBLIC int shoal_iexchange(int blocks, const int destinations[], const void *sendbuf, const MPI_Count counts[],
                                 const MPI_Aint displs[], MPI_Datatype datatype, MPI_Comm comm,
                                 shoal_arrivals **arrivals, shoal_request *request);

/** MPI_Alltoall_init: prepares an exchange once, which shoal_start() may then start any number of times. Collective:
 * the ranks agree on the sizes and choose an algorithm from measured exchanges, or take the spec in `info`. From the second
 * start on, nothing is allocated. Inside a node, blocks mostly go through memory that its ranks share for this exchange. The
 * exchange keeps its algorithm, whatever algorithm the communicator is given later. The program may free the communicator before
 * the last start, but not if the MPI library's own collective serves and has no persistent form that is right: for several
 * datatypes, in place, in allgathers within one group, and in an MPI before MPI 4. Then shoal_start() gives MPI_ERR_COMM.
 * @copydetails shoal_alltoall
 * @param info         its key shoal_alltoall may hold a spec, the same on all ranks; or MPI_INFO_NULL
 * @param[out] request the exchange, to be freed with shoal_request_free(); SHOAL_REQUEST_NULL after an error */
SHOAL_PUBLIC int shoal_alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                     int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                     shoal_request *request);
/** MPI_Alltoallv_init: prepares an exchange once, as shoal_alltoall_init().
 * @copydetails shoal_alltoallv
 * @param info         its key shoal_alltoallv may hold a spec, the same on all ranks; or MPI_INFO_NULL
 * @param[out] request the exchange, to be freed with shoal_request_free(); SHOAL_REQUEST_NULL after an error */
SHOAL_PUBLIC int shoal_alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                      MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
                                      MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, shoal_request *request);
/** MPI_Alltoallw_init: prepares an exchange once, as shoal_alltoall_init(). The datatypes may be freed after this call.
 * @copydetails shoal_alltoallw
 * @param info         its key shoal_alltoallw may hold a spec, the same on all ranks; or MPI_INFO_NULL
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

/** MPI_Allgather_init: prepares an allgather between two groups once, as shoal_alltoall_init(). The allgather always goes by
 * messages. Within one group it is the MPI library's own.
 * @copydetails shoal_allgather
 * @param info         its key shoal_allgather may hold a spec, the same on all ranks; or MPI_INFO_NULL
 * @param[out] request the exchange, to be freed with shoal_request_free(); SHOAL_REQUEST_NULL after an error */
SHOAL_PUBLIC int shoal_allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                      int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                      shoal_request *request);
/** MPI_Allgatherv_init: as shoal_allgather_init(), with messages of different sizes.
 * @copydetails shoal_allgatherv
 * @param info         its key shoal_allgatherv may hold a spec, the same on all ranks; or MPI_INFO_NULL
 * @param[out] request the exchange, to be freed with shoal_request_free(); SHOAL_REQUEST_NULL after an error */
SHOAL_PUBLIC int shoal_allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                       const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                                       MPI_Comm comm, MPI_Info info, shoal_request *request);

/** Starts a persistent exchange that is not under way. Ranks may start several exchanges in any order, as with MPI_Start.
 * @param request a request that one of the functions above made
 * @return MPI_SUCCESS, or MPI_ERR_REQUEST if the request cannot be started */
SHOAL_PUBLIC int shoal_start(shoal_request request);

/** Moves on the exchange, and all others that are under way in this process. If a nonblocking exchange has ended, its request is
 * freed and becomes SHOAL_REQUEST_NULL. If the request is SHOAL_REQUEST_NULL already, the function returns at once.
 * @param[in,out] request the exchange
 * @param[out] flag       whether the exchange has ended, or was not under way
 * @return MPI_SUCCESS, or the error of the exchange, as in shoal_alltoall() */
SHOAL_PUBLIC int shoal_test(shoal_request *request, int *flag);
/** Waits until the exchange has ended; otherwise as shoal_test().
 * @param[in,out] request the exchange
 * @return as shoal_test() */
SHOAL_PUBLIC int shoal_wait(shoal_request *request);

/** Frees a persistent request that is not under way. To be called before MPI_Finalize.
 * @param[in,out] request the request; becomes SHOAL_REQUEST_NULL
 * @return MPI_SUCCESS, or MPI_ERR_REQUEST if the request is under way or is SHOAL_REQUEST_NULL */
SHOAL_PUBLIC int shoal_request_free(shoal_request *request);

/** @}
 * @name Choosing and explaining
 * @{ */

/** Sets the spec for all later calls on a communicator. Collective. On an error nothing is changed.
 * @param comm the communicator; it stays the caller's
 * @param info its keys shoal_alltoall, shoal_alltoallv and shoal_alltoallw hold specs; on an inter-communicator its keys
 *             shoal_allgather and shoal_allgatherv do. "auto" lets Shoal choose again, and an absent key changes nothing. The
 *             info is not kept. MPI_INFO_NULL is an error on this rank alone: ranks that give an info then wait for this rank
 * @return MPI_SUCCESS; MPI_ERR_INFO_VALUE or MPI_ERR_OTHER, on all ranks, if a spec is wrong or differs between them */
SHOAL_PUBLIC int shoal_comm_set_info(MPI_Comm comm, MPI_Info info);

/** Says in one line which algorithm ran last on a communicator, and why. While Shoal compares its choice with another
 * one, so that the two serve in turn, the line names the choice. If there were also exchanges among neighbours, it says so
 * for both. Local.
 * @param comm      the communicator
 * @param[out] text place for the line, which a null character ends
 * @param size      bytes of `text`, at least 1; a longer line is cut off
 * @return MPI_SUCCESS, or MPI_ERR_ARG */
SHOAL_PUBLIC int shoal_comm_explain(MPI_Comm comm, char *text, int size);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
