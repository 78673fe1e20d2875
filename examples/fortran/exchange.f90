! Every rank has items for other ranks, a different number for each. It tells them how many, then sends the items.
program exchange
  use mpi
  use shoal_f
  implicit none
  integer :: rank, ranks, i, wrong, ierror
  integer, allocatable :: send_counts(:), send_at(:), recv_counts(:), recv_at(:)
  double precision, allocatable :: items(:), mine(:)
  character(len=200) :: how

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  if (command_argument_count() > 0) call use_given(MPI_COMM_WORLD)

  allocate (send_counts(ranks), recv_counts(ranks))
  send_counts = [(mod(rank + i, 3), i = 0, ranks - 1)]
  recv_counts = send_counts
  call shoal_alltoall(shoal_in_place, 1, MPI_INTEGER, recv_counts, 1, MPI_INTEGER, MPI_COMM_WORLD)

  send_at = [(sum(send_counts(:i - 1)), i = 1, ranks)]
  recv_at = [(sum(recv_counts(:i - 1)), i = 1, ranks)]
  allocate (items(sum(send_counts)), mine(sum(recv_counts)))
  do i = 1, ranks
    items(send_at(i) + 1:send_at(i) + send_counts(i)) = 100 * rank + i - 1
  end do
  call shoal_alltoallv(items, send_counts, send_at, MPI_DOUBLE_PRECISION, &
                       mine, recv_counts, recv_at, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierror)

  wrong = 0
  do i = 1, ranks
    wrong = wrong + count(mine(recv_at(i) + 1:recv_at(i) + recv_counts(i)) /= 100 * (i - 1) + rank)
  end do
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call shoal_comm_explain(MPI_COMM_WORLD, how, len(how))
  if (rank == 0) print '(i0,a,a)', wrong, ' wrong items; exchanged by ', trim(how)
  call MPI_Finalize(ierror)
  if (wrong > 0) error stop 1

contains

  ! Asks for the algorithm that the command line names. Without this, Shoal chooses.
  subroutine use_given(comm)
    integer, intent(in) :: comm
    integer :: info
    character(len=100) :: spec
    call get_command_argument(1, spec)
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'shoal_alltoallv', trim(spec), ierror)
    call shoal_comm_set_info(comm, info)
    call MPI_Info_free(info, ierror)
  end subroutine
end program
