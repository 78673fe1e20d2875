! Ranks in a ring smooth their numbers: each step needs one number from either neighbour. Meanwhile an exchange that is
! made ready once carries the sum of each rank's numbers to all ranks.
program smoothing
  use mpi
  use shoal_f
  implicit none
  integer, parameter :: steps = 20
  integer :: rank, ranks, ring, step, wrong, ierror
  double precision :: edges(2), ghosts(2), at_start
  double precision, allocatable :: numbers(:)
  double precision, allocatable, asynchronous :: sums(:), gathered(:)
  type(shoal_request) :: gathering

  call MPI_Init(ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring, ierror)
  call MPI_Comm_rank(ring, rank, ierror)
  allocate (numbers(100), sums(ranks), gathered(ranks))
  numbers = rank
  at_start = 100 * sum([(step, step = 0, ranks - 1)])

  call shoal_alltoall_init(sums, 1, MPI_DOUBLE_PRECISION, gathered, 1, MPI_DOUBLE_PRECISION, ring, &
                           MPI_INFO_NULL, gathering)
  wrong = 0
  do step = 1, steps
    sums = sum(numbers)
    call shoal_start(gathering)
    edges = [numbers(1), numbers(100)]
    call shoal_neighbor_alltoall(edges, 1, MPI_DOUBLE_PRECISION, ghosts, 1, MPI_DOUBLE_PRECISION, ring)
    numbers = (eoshift(numbers, -1, ghosts(1)) + 2 * numbers + eoshift(numbers, 1, ghosts(2))) / 4
    call shoal_wait(gathering)
    if (abs(sum(gathered) - at_start) > 1e-9) wrong = wrong + 1  ! smoothing changes no sum
  end do
  call shoal_request_free(gathering)

  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(i0,a)', wrong, ' wrong sums'
  call MPI_Finalize(ierror)
  if (wrong > 0) error stop 1
end program
