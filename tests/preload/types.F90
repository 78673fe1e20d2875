! Nonblocking alltoallw with arrays of derived types, which an MPI may read again when the request ends; and exchanges
! in a chain of neighbours, whose ends have one edge less (a single rank has none). Each rank checks what it receives.
program derived_types
  use mpi
  implicit none
  integer, parameter :: most = 16, calls = 50
  integer :: rank, ranks, i, call_number, ierror, faults, pair, request, chain, sources, destinations
  integer, asynchronous :: sent(2 * most), got(2 * most)
  integer :: ones(most) = 1, bytes(most), types(most), from(1), to(1)
  integer(MPI_ADDRESS_KIND) :: nowhere(1) = 0

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierror)
  call MPI_Type_commit(pair, ierror)
  faults = 0
  types = pair
  bytes = [(8 * i, i = 0, most - 1)]
  sources = merge(1, 0, rank > 0)
  destinations = merge(1, 0, rank < ranks - 1)
  from = rank - 1
  to = rank + 1
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, sources, from, ones, destinations, to, ones, MPI_INFO_NULL, &
                                      .false., chain, ierror)
  do call_number = 1, calls
    sent = rank + call_number
    got = -1
    call MPI_Ialltoallw(sent, ones, bytes, types, got, ones, bytes, types, MPI_COMM_WORLD, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    do i = 0, ranks - 1
      if (any(got(2 * i + 1:2 * i + 2) /= i + call_number)) faults = faults + 1
    end do
    call MPI_Neighbor_alltoallw(sent, ones, nowhere, types, got, ones, nowhere, types, chain, ierror)
    if (sources == 1 .and. any(got(1:2) /= rank - 1 + call_number)) faults = faults + 1
    call MPI_Ineighbor_alltoallw(sent, ones, nowhere, types, got, ones, nowhere, types, chain, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    if (sources == 1 .and. any(got(1:2) /= rank - 1 + call_number)) faults = faults + 1
  end do
  call MPI_Type_free(pair, ierror)
  call MPI_Comm_free(chain, ierror)
  call MPI_Allreduce(MPI_IN_PLACE, faults, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0) print *, 'faults:', faults
  call MPI_Finalize(ierror)
end program
