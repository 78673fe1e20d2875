// The functions that MPIs have gained since MPI 3.1. A function that the running MPI lacks is null, whatever MPI this
// is compiled with.
#pragma once

#include <mpi.h>

#include "transport/mpi_arguments.hpp"

extern "C" {

#define SHOAL_NEWER(name, ...) int name(__VA_ARGS__) __attribute__((weak))

SHOAL_NEWER(PMPI_Alltoall_init, SHOAL_EQUAL(int, int), MPI_Info info, MPI_Request* request);
SHOAL_NEWER(PMPI_Alltoallv_init, SHOAL_SIZED(int, int), MPI_Info info, MPI_Request* request);
SHOAL_NEWER(PMPI_Alltoallw_init, SHOAL_TYPED(int, int), MPI_Info info, MPI_Request* request);
SHOAL_NEWER(PMPI_Alltoall_init_c, SHOAL_EQUAL(MPI_Count, MPI_Aint), MPI_Info info, MPI_Request* request);
SHOAL_NEWER(PMPI_Alltoallv_init_c, SHOAL_SIZED(MPI_Count, MPI_Aint), MPI_Info info, MPI_Request* request);
SHOAL_NEWER(PMPI_Alltoallw_init_c, SHOAL_TYPED(MPI_Count, MPI_Aint), MPI_Info info, MPI_Request* request);

SHOAL_NEWER(PMPI_Alltoall_c, SHOAL_EQUAL(MPI_Count, MPI_Aint));
SHOAL_NEWER(PMPI_Alltoallv_c, SHOAL_SIZED(MPI_Count, MPI_Aint));
SHOAL_NEWER(PMPI_Alltoallw_c, SHOAL_TYPED(MPI_Count, MPI_Aint));
SHOAL_NEWER(PMPI_Allgather_c, SHOAL_EQUAL(MPI_Count, MPI_Aint));
SHOAL_NEWER(PMPI_Allgatherv_c, SHOAL_GATHERED(MPI_Count, MPI_Aint));

SHOAL_NEWER(PMPI_Neighbor_alltoall_c, SHOAL_EQUAL(MPI_Count, MPI_Aint));
SHOAL_NEWER(PMPI_Neighbor_alltoallv_c, SHOAL_SIZED(MPI_Count, MPI_Aint));
SHOAL_NEWER(PMPI_Neighbor_alltoallw_c, SHOAL_TYPED(MPI_Count, MPI_Aint));
SHOAL_NEWER(PMPI_Ineighbor_alltoall_c, SHOAL_EQUAL(MPI_Count, MPI_Aint), MPI_Request* request);
SHOAL_NEWER(PMPI_Ineighbor_alltoallv_c, SHOAL_SIZED(MPI_Count, MPI_Aint), MPI_Request* request);
SHOAL_NEWER(PMPI_Ineighbor_alltoallw_c, SHOAL_TYPED(MPI_Count, MPI_Aint), MPI_Request* request);
SHOAL_NEWER(PMPI_Neighbor_alltoall_init, SHOAL_EQUAL(int, int), MPI_Info info, MPI_Request* request);
SHOAL_NEWER(PMPI_Neighbor_alltoallv_init, SHOAL_SIZED(int, int), MPI_Info info, MPI_Request* request);
SHOAL_NEWER(PMPI_Neighbor_alltoallw_init, SHOAL_TYPED(int, MPI_Aint), MPI_Info info, MPI_Request* request);
SHOAL_NEWER(PMPI_Neighbor_alltoall_init_c, SHOAL_EQUAL(MPI_Count, MPI_Aint), MPI_Info info, MPI_Request* request);
SHOAL_NEWER(PMPI_Neighbor_alltoallv_init_c, SHOAL_SIZED(MPI_Count, MPI_Aint), MPI_Info info, MPI_Request* request);
SHOAL_NEWER(PMPI_Neighbor_alltoallw_init_c, SHOAL_TYPED(MPI_Count, MPI_Aint), MPI_Info info, MPI_Request* request);

SHOAL_NEWER(PMPI_Ialltoall_c, SHOAL_EQUAL(MPI_Count, MPI_Aint), MPI_Request* request);
SHOAL_NEWER(PMPI_Ialltoallv_c, SHOAL_SIZED(MPI_Count, MPI_Aint), MPI_Request* request);
SHOAL_NEWER(PMPI_Ialltoallw_c, SHOAL_TYPED(MPI_Count, MPI_Aint), MPI_Request* request);
SHOAL_NEWER(PMPI_Iallgather_c, SHOAL_EQUAL(MPI_Count, MPI_Aint), MPI_Request* request);
SHOAL_NEWER(PMPI_Iallgatherv_c, SHOAL_GATHERED(MPI_Count, MPI_Aint), MPI_Request* request);

SHOAL_NEWER(PMPI_Pack_c, const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf, MPI_Count outsize,
            MPI_Count* position, MPI_Comm comm);
SHOAL_NEWER(PMPI_Unpack_c, const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf, MPI_Count outcount,
            MPI_Datatype datatype, MPI_Comm comm);
SHOAL_NEWER(PMPI_Type_get_envelope_c, MPI_Datatype datatype, MPI_Count* integers, MPI_Count* addresses,
            MPI_Count* large_counts, MPI_Count* datatypes, int* combiner);
SHOAL_NEWER(PMPI_Type_get_contents_c, MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
            MPI_Count max_large_counts, MPI_Count max_datatypes, int integers[], MPI_Aint addresses[],
            MPI_Count large_counts[], MPI_Datatype datatypes[]);

// Functions of fault-tolerant MPIs.
SHOAL_NEWER(PMPIX_Comm_is_revoked, MPI_Comm comm, int* flag);
SHOAL_NEWER(PMPIX_Comm_revoke, MPI_Comm comm);
SHOAL_NEWER(PMPIX_Comm_get_failed, MPI_Comm comm, MPI_Group* failed);

// Functions that let the MPI itself move what Shoal has under way. They have names of Shoal's own, because headers that
// declare MPICH's functions do so with types that others lack.
// Open MPI's function is looked up instead (team/progress): if libmpi itself uses a symbol, the linker reports a weak
// use of it as missing.
#ifndef OPEN_MPI
#define SHOAL_AS(symbol) __asm__(symbol) __attribute__((weak))
int shoal_async_start(int (*moves)(void* thing), void* state, int stream) SHOAL_AS("PMPIX_Async_start");
int shoal_request_is_complete(MPI_Request request) SHOAL_AS("PMPIX_Request_is_complete");
// These are about communicators that belong to threads.
int shoal_comm_test_threadcomm(MPI_Comm comm, int* flag) SHOAL_AS("PMPIX_Comm_test_threadcomm");
int shoal_stream_comm_create(MPI_Comm comm, int stream, MPI_Comm* made) SHOAL_AS("PMPIX_Stream_comm_create");
int shoal_stream_comm_create_multiplex(MPI_Comm comm, int count, int streams[], MPI_Comm* made)
    SHOAL_AS("PMPIX_Stream_comm_create_multiplex");
#undef SHOAL_AS
#endif

#undef SHOAL_NEWER

}  // extern "C"
