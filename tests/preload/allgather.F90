! Allgather and allgatherv between the odd and the even ranks through a Fortran binding: -DBINDING_MPIFH, -DBINDING_MPI
! or -DBINDING_F08. Each rank checks every element. Makes 2 calls of allgather and 1 of allgatherv between the groups,
! and one of each within the world.
program allgather
#include "binding.inc"
  HANDLE(MPI_Comm) :: half, both
  integer, parameter :: block = 3
  integer :: me, ranks, side, rank, others, i, k, ierror, faults

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  faults = 0
  side = mod(me, 2)
  call MPI_Comm_split(MPI_COMM_WORLD, side, me, half, ierror)
  call MPI_Comm_rank(half, rank, ierror)
  call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 0, both, ierror)
  call MPI_Comm_remote_size(both, others, ierror)
  call equal_messages(.true., .true.)
  call equal_messages(.false., .true.)
  call uneven_messages()
  call within_the_world()
  call MPI_Comm_free(both, ierror)
  call MPI_Allreduce(MPI_IN_PLACE, faults, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (me == 0) print '(a,i0)', 'faults: ', faults
  call MPI_Finalize(ierror)
  if (faults > 0) error stop 1

contains

  integer function value(group, sender, element)
    integer, intent(in) :: group, sender, element
    value = (group * 1000 + sender) * 100 + element
  end function

  subroutine expect(good)
    logical, intent(in) :: good
    if (.not. good) faults = faults + 1
  end subroutine

  subroutine equal_messages(even_sends, odd_sends)
    logical, intent(in) :: even_sends, odd_sends
    integer :: sent(block), got(block * others)
    logical :: sends, receives
    sends = merge(even_sends, odd_sends, side == 0)
    receives = merge(odd_sends, even_sends, side == 0)
    sent = [(value(side, rank, k), k = 1, block)]
    got = -1
    ierror = -1
    call MPI_Allgather(sent, merge(block, 0, sends), MPI_INTEGER, got, merge(block, 0, receives), MPI_INTEGER, both, &
                       ierror)
    call expect(ierror == MPI_SUCCESS)
    if (receives) call expect(all(got == [((value(1 - side, i, k), k = 1, block), i = 0, others - 1)]))
    if (.not. receives) call expect(all(got == -1))
  end subroutine

  integer function elements(sender)
    integer, intent(in) :: sender
    elements = mod(3 * sender + 1, 4)
  end function

  subroutine uneven_messages()
    integer :: sent(4), got(0:6 * others - 1), counts(others), at(others), expected(0:6 * others - 1)
    sent = [(value(side, rank, k), k = 1, 4)]
    counts = [(elements(i), i = 0, others - 1)]
    at = [(6 * i + 1, i = 0, others - 1)]
    expected = -1
    do i = 0, others - 1
      do k = 1, elements(i)
        expected(6 * i + k) = value(1 - side, i, k)
      end do
    end do
    got = -1
#ifdef BINDING_F08
    call MPI_Allgatherv(sent, elements(rank), MPI_INTEGER, got, counts, at, MPI_INTEGER, both)  ! no ierror
#else
    call MPI_Allgatherv(sent, elements(rank), MPI_INTEGER, got, counts, at, MPI_INTEGER, both, ierror)
#endif
    call expect(all(got == expected))
  end subroutine

  subroutine within_the_world()
    integer :: got(ranks)
    got = -1
    got(me + 1) = me
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call expect(all(got == [(i, i = 0, ranks - 1)]))
    call MPI_Allgatherv(me + 7, 1, MPI_INTEGER, got, [(1, i = 1, ranks)], [(i, i = 0, ranks - 1)], MPI_INTEGER, &
                        MPI_COMM_WORLD, ierror)
    call expect(all(got == [(i + 7, i = 0, ranks - 1)]))
  end subroutine
end program
