! Every rank sends numbers to a rank that does not expect them: rank r sends r + 1 numbers to rank r / 2.
program to_whom_you_like
  use iso_c_binding, only: c_f_pointer, c_int64_t
  use mpi
  use shoal_f
  implicit none
  integer :: rank, ranks, i, k, wrong, ierror
  double precision, allocatable :: numbers(:)
  double precision, pointer :: came(:)
  type(shoal_arrivals) :: arrivals

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)

  allocate (numbers(rank + 1))
  numbers = [(100 * rank + i, i = 0, rank)]
  call shoal_exchange(1, [rank / 2], numbers, [int(rank + 1, c_int64_t)], [0_c_int64_t], MPI_DOUBLE_PRECISION, &
                      MPI_COMM_WORLD, arrivals, ierror)
  call c_f_pointer(arrivals%data, came, [arrivals%elements])

  wrong = 0
  do i = 1, arrivals%blocks
    associate (source => arrivals%sources(i), first => arrivals%displs(i), elements => arrivals%counts(i))
      if (source / 2 /= rank .or. elements /= source + 1) wrong = wrong + 1
      wrong = wrong + count(came(first + 1:first + elements) /= [(100 * source + k, k = 0, source)])
    end associate
  end do
  wrong = wrong + abs(arrivals%blocks - count([(i / 2 == rank, i = 0, ranks - 1)]))
  call shoal_arrivals_free(arrivals)
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(i0,a)', wrong, ' wrong numbers'
  call MPI_Finalize(ierror)
  if (wrong > 0) error stop 1
end program
