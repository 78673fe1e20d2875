! Like callbacks.c, through a Fortran binding: exchanges inside the functions that MPI calls when communicators are
! freed or disconnected, and when MPI ends. Every rank prints how many exchanges these functions made.
program callbacks
#include "binding.inc"
  integer :: rank, turn, ierror, faults, in_functions
  HANDLE(MPI_Comm) :: own, half, watched

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  faults = 0
  in_functions = 0
  do turn = 1, 4
    call MPI_Comm_split(MPI_COMM_WORLD, 0, rank, own, ierror)
    call watch(own)
    call exchange(own)
    call watch(own)
    if (turn < 3) call MPI_Comm_free(own, ierror)
    if (turn >= 3) call MPI_Comm_disconnect(own, ierror)
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierror)
    call exchange(half)
    call MPI_Comm_free(half, ierror)
  end do
  call watch(MPI_COMM_SELF)
  call exchange(MPI_COMM_SELF)
  call MPI_Finalize(ierror)
  print '(a,i0,a,i0)', 'faults: ', faults, ', exchanges in functions: ', in_functions
  if (faults > 0) error stop 1

contains

  subroutine watch(comm)
    HANDLE(MPI_Comm), intent(in) :: comm
    integer :: key
    watched = comm
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, key, 0_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_set_attr(comm, key, 0_MPI_ADDRESS_KIND, ierror)
  end subroutine

  subroutine on_delete(comm, key, value, extra, code)
    HANDLE(MPI_Comm) :: comm  ! not a valid communicator in Open MPI
    integer :: key, code
    integer(MPI_ADDRESS_KIND) :: value, extra
    code = int(value + extra) + 0 * key
    in_functions = in_functions + 1
    call exchange(watched)
  end subroutine

  subroutine exchange(comm)
    HANDLE(MPI_Comm), intent(in) :: comm
    integer :: me, ranks, i, sent(16), got(16), code
    call MPI_Comm_rank(comm, me, code)
    call MPI_Comm_size(comm, ranks, code)
    sent = [(me * 100 + i, i = 0, 15)]
    got = -1
    call MPI_Alltoall(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, comm, code)
    do i = 1, ranks
      if (got(i) /= (i - 1) * 100 + me) faults = faults + 1
    end do
  end subroutine
end program
