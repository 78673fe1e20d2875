! Alltoall and alltoallv through a Fortran binding: -DBINDING_MPIFH, -DBINDING_MPI or -DBINDING_F08. Each rank checks
! every element it receives. Makes 5 calls of alltoall, or 4 with -DWITHOUT_SECTIONS, and 3 of alltoallv.
program exchange
#include "binding.inc"
  integer, parameter :: block = 3
  integer :: rank, ranks, i, k, ierror, faults
  integer, allocatable :: sent(:), got(:), send_counts(:), send_at(:), recv_counts(:), recv_at(:)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  faults = 0
  call equal_blocks()
  call absolute_addresses()
  call uneven_blocks()
  call MPI_Allreduce(MPI_IN_PLACE, faults, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(a,i0)', 'faults: ', faults
  call MPI_Finalize(ierror)
  if (faults > 0) error stop 1

contains

  integer function value(from, to, element)
    integer, intent(in) :: from, to, element
    value = (from * ranks + to) * 1000 + element
  end function

  subroutine expect(good)
    logical, intent(in) :: good
    if (.not. good) faults = faults + 1
  end subroutine

  subroutine fill_equal(buffer)
    integer, intent(out) :: buffer(:)
    buffer = [((value(rank, i, k), k = 1, block), i = 0, ranks - 1)]
  end subroutine

  subroutine check_equal(buffer)
    integer, intent(in) :: buffer(:)
    call expect(all(buffer == [((value(i, rank, k), k = 1, block), i = 0, ranks - 1)]))
  end subroutine

  subroutine equal_blocks()
    allocate (sent(block * ranks), got(block * ranks))
    call fill_equal(sent)
    got = -1
    ierror = -1
    call MPI_Alltoall(sent, block, MPI_INTEGER, got, block, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call expect(ierror == MPI_SUCCESS)
    call check_equal(got)
    call fill_equal(got)
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, block, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call check_equal(got)
    got = -1
#ifdef BINDING_F08
    call MPI_Alltoall(sent, block, MPI_INTEGER, got, block, MPI_INTEGER, MPI_COMM_WORLD)  ! no ierror
#else
    call MPI_Alltoall(sent, block, MPI_INTEGER, got, block, MPI_INTEGER, MPI_COMM_WORLD, ierror)
#endif
    call check_equal(got)
#ifndef WITHOUT_SECTIONS
    call sections()
#endif
    deallocate (sent, got)
  end subroutine

  ! Sections of arrays: every second element of both buffers.
  subroutine sections()
    integer :: from(2 * block * ranks), to(2 * block * ranks)
    from = -1
    to = -1
    from(1::2) = sent
    call MPI_Alltoall(from(1::2), block, MPI_INTEGER, to(2::2), block, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call check_equal(to(2::2))
    call expect(all(to(1::2) == -1))
  end subroutine

  ! Types of absolute addresses, with MPI_BOTTOM as both buffers: one element is one block.
  subroutine absolute_addresses()
    integer, target, asynchronous :: from(block, 0:63), to(block, 0:63)
    HANDLE(MPI_Datatype) :: from_type, to_type
    call expect(ranks <= 64)
    from = -1
    to = -1
    do i = 0, ranks - 1
      from(:, i) = [(value(rank, i, k), k = 1, block)]
    end do
    from_type = located(from)
    to_type = located(to)
    call MPI_Alltoall(MPI_BOTTOM, 1, from_type, MPI_BOTTOM, 1, to_type, MPI_COMM_WORLD, ierror)
    call check_equal(reshape(to(:, 0:ranks - 1), [block * ranks]))
    call MPI_Type_free(from_type, ierror)
    call MPI_Type_free(to_type, ierror)
  end subroutine

  function located(where_from) result(type)
    integer, asynchronous, intent(in) :: where_from(block, 0:63)
    HANDLE(MPI_Datatype) :: type, far
    integer(MPI_ADDRESS_KIND) :: address
    call MPI_Get_address(where_from, address, ierror)
    call MPI_Type_create_hindexed(1, [block], [address], MPI_INTEGER, far, ierror)
    call MPI_Type_create_resized(far, 0_MPI_ADDRESS_KIND, int(4 * block, MPI_ADDRESS_KIND), type, ierror)
    call MPI_Type_commit(type, ierror)
    call MPI_Type_free(far, ierror)
  end function

  ! Rank s sends mod(s + 2 d, 4) elements to rank d; with gaps of one element between blocks where they arrive.
  subroutine uneven_blocks()
    allocate (send_counts(0:ranks - 1), send_at(0:ranks - 1), recv_counts(0:ranks - 1), recv_at(0:ranks - 1))
    do i = 0, ranks - 1
      send_counts(i) = mod(rank + 2 * i, 4)
      recv_counts(i) = mod(i + 2 * rank, 4)
      send_at(i) = sum(send_counts(0:i - 1))
      recv_at(i) = sum(recv_counts(0:i - 1)) + i
    end do
    allocate (sent(4 * ranks), got(5 * ranks))
    do i = 0, ranks - 1
      sent(send_at(i) + 1:send_at(i) + send_counts(i)) = [(value(rank, i, k), k = 1, send_counts(i))]
    end do
    do k = 1, 2
      got = -1
      call MPI_Alltoallv(sent, send_counts, send_at, MPI_INTEGER, got, recv_counts, recv_at, MPI_INTEGER, &
                         MPI_COMM_WORLD, ierror)
      call check_uneven()
    end do
    call symmetric_in_place()
  end subroutine

  subroutine check_uneven()
    integer :: j, expected(5 * ranks)
    expected = -1
    do i = 0, ranks - 1
      do j = 1, recv_counts(i)
        expected(recv_at(i) + j) = value(i, rank, j)
      end do
    end do
    call expect(all(got == expected))
  end subroutine

  subroutine symmetric_in_place()
    do i = 0, ranks - 1
      recv_counts(i) = mod(rank + i, 4)
      recv_at(i) = 4 * i
    end do
    got = -1
    do i = 0, ranks - 1
      got(recv_at(i) + 1:recv_at(i) + recv_counts(i)) = [(value(rank, i, k), k = 1, recv_counts(i))]
    end do
    call MPI_Alltoallv(MPI_IN_PLACE, send_counts, send_at, MPI_DATATYPE_NULL, got, recv_counts, recv_at, &
                       MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call check_uneven()
  end subroutine
end program
