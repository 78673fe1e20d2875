// What starts in one call and ends in another, and the functions that start such requests and free them.
#include "preload/pass_on.h"

// NOLINTBEGIN(misc-use-internal-linkage)
PASS_ON(MPI_Ialltoall, 8)
PASS_ON(MPI_Ialltoallv, 10)
PASS_ON(MPI_Ialltoallw, 10)
PASS_ON_NEWER(MPI_Ialltoall_c, 8)
PASS_ON_NEWER(MPI_Ialltoallv_c, 10)
PASS_ON_NEWER(MPI_Ialltoallw_c, 10)
PASS_ON_NEWER(MPI_Alltoall_init, 9)
PASS_ON_NEWER(MPI_Alltoallv_init, 11)
PASS_ON_NEWER(MPI_Alltoallw_init, 11)
PASS_ON_NEWER(MPI_Alltoall_init_c, 9)
PASS_ON_NEWER(MPI_Alltoallv_init_c, 11)
PASS_ON_NEWER(MPI_Alltoallw_init_c, 11)
PASS_ON(MPI_Start, 1)
PASS_ON(MPI_Startall, 2)
PASS_ON(MPI_Request_free, 1)

PASS_ON_FORTRAN(ialltoall, IALLTOALL, 9)
PASS_ON_FORTRAN(ialltoallv, IALLTOALLV, 11)
PASS_ON_FORTRAN(ialltoallw, IALLTOALLW, 11)
PASS_ON_FORTRAN(alltoall_init, ALLTOALL_INIT, 10)
PASS_ON_FORTRAN(alltoallv_init, ALLTOALLV_INIT, 12)
PASS_ON_FORTRAN(alltoallw_init, ALLTOALLW_INIT, 12)
PASS_ON_FORTRAN(start, START, 2)
PASS_ON_FORTRAN(startall, STARTALL, 3)
PASS_ON_FORTRAN(request_free, REQUEST_FREE, 2)

#ifdef SHOAL_MPICH_F08_NAMES  // which call PMPI_ functions, where all else of MPICH's Fortran calls the C names
PASS_ON(mpi_start_f08_, 2)
PASS_ON(mpi_startall_f08_, 3)
PASS_ON(mpi_request_free_f08_, 2)
#endif
// NOLINTEND(misc-use-internal-linkage)
