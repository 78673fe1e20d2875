! The all-to-all family through a Fortran binding: -DBINDING_MPIFH, -DBINDING_MPI or -DBINDING_F08. Each rank checks
! every element it receives. Makes two calls of alltoallw and of ialltoall, one of ialltoallv, and one of each blocking
! and nonblocking call among neighbours. With -DPERSISTENT it makes persistent exchanges of each form too, which run
! twice.
program family
#include "binding.inc"
  integer, parameter :: most = 16
  integer :: rank, ranks, i, ierror, faults
  integer, asynchronous :: sent(most), got(most)
  integer, asynchronous :: ones(most), places(most), bytes(most)
  integer(MPI_ADDRESS_KIND) :: long_bytes(most)
  HANDLE(MPI_Datatype), asynchronous :: types(most)
  HANDLE(MPI_Comm) :: everyone
  HANDLE(MPI_Request) :: request

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  faults = 0
  ones = 1
  places = [(i, i = 0, most - 1)]
  bytes = 4 * places
  long_bytes = bytes
  types = MPI_INTEGER
  sent = rank * 100 + places
  got = -1
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ranks, places, ones, ranks, places, ones, MPI_INFO_NULL, .false., &
                                      everyone, ierror)
  call MPI_Alltoallw(sent, ones, bytes, types, got, ones, bytes, types, MPI_COMM_WORLD, ierror)
  call check()
  got(1:ranks) = sent(1:ranks)
  call MPI_Alltoallw(MPI_IN_PLACE, ones, bytes, types, got, ones, bytes, types, MPI_COMM_WORLD, ierror)
  call check()
  call MPI_Ialltoall(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, MPI_COMM_WORLD, request, ierror)
  call finish()
  got(1:ranks) = sent(1:ranks)
  call MPI_Ialltoall(MPI_IN_PLACE, 1, MPI_INTEGER, got, 1, MPI_INTEGER, MPI_COMM_WORLD, request, ierror)
  call finish()
  call MPI_Ialltoallv(sent, ones, places, MPI_INTEGER, got, ones, places, MPI_INTEGER, MPI_COMM_WORLD, request, ierror)
  call finish()
  call MPI_Neighbor_alltoall(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, everyone, ierror)
  call check()
  call MPI_Neighbor_alltoallv(sent, ones, places, MPI_INTEGER, got, ones, places, MPI_INTEGER, everyone, ierror)
  call check()
  call MPI_Neighbor_alltoallw(sent, ones, long_bytes, types, got, ones, long_bytes, types, everyone, ierror)
  call check()
  call MPI_Ineighbor_alltoall(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, everyone, request, ierror)
  call finish()
  call MPI_Ineighbor_alltoallv(sent, ones, places, MPI_INTEGER, got, ones, places, MPI_INTEGER, everyone, request, ierror)
  call finish()
  call MPI_Ineighbor_alltoallw(sent, ones, long_bytes, types, got, ones, long_bytes, types, everyone, request, ierror)
  call finish()
#ifdef PERSISTENT
  call MPI_Alltoall_init(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
  call run_twice()
  call MPI_Alltoallv_init(sent, ones, places, MPI_INTEGER, got, ones, places, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, &
                          request, ierror)
  call run_twice()
  call MPI_Alltoallw_init(sent, ones, bytes, types, got, ones, bytes, types, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
  call run_twice()
  call MPI_Neighbor_alltoall_init(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, everyone, MPI_INFO_NULL, request, ierror)
  call run_twice()
  call MPI_Neighbor_alltoallv_init(sent, ones, places, MPI_INTEGER, got, ones, places, MPI_INTEGER, everyone, &
                                   MPI_INFO_NULL, request, ierror)
  call run_twice()
  call MPI_Neighbor_alltoallw_init(sent, ones, long_bytes, types, got, ones, long_bytes, types, everyone, MPI_INFO_NULL, &
                                   request, ierror)
  call run_twice()
#endif
  call MPI_Comm_free(everyone, ierror)
  call MPI_Allreduce(MPI_IN_PLACE, faults, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(a,i0)', 'faults: ', faults
  call MPI_Finalize(ierror)
  if (faults > 0) error stop 1

contains

  subroutine finish()
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call check()
  end subroutine

#ifdef PERSISTENT
  subroutine run_twice()
    integer :: time

    if (ierror /= MPI_SUCCESS) faults = faults + 1
    do time = 1, 2
      call MPI_Start(request, ierror)
      call finish()
    end do
    call MPI_Request_free(request, ierror)
  end subroutine
#endif

  subroutine check()
    if (ierror /= MPI_SUCCESS .or. any(got(1:ranks) /= 100 * places(1:ranks) + rank)) faults = faults + 1
    got = -1
  end subroutine
end program
