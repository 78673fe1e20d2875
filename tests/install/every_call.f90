! Calls every function of shoal_f that exchanges among neighbours, or by a request; and checks what each leaves in its
! request.
program every_call
  use iso_c_binding, only: c_f_pointer, c_int64_t
  use mpi
  use shoal_f
  implicit none
  integer :: rank, ranks, wrong, i, ierror
  integer, allocatable :: counts(:), at(:), bytes(:), types(:)
  integer, allocatable, asynchronous :: sent(:), came(:)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  allocate (sent(ranks), came(ranks), counts(ranks), at(ranks), bytes(ranks), types(ranks))
  counts = 1
  at = [(i, i = 0, ranks - 1)]
  bytes = 4 * at
  types = MPI_INTEGER
  wrong = 0

  call start_and_test()
  call start_twice()
  call start_with_derived_types()
  call in_a_ring()
  call between_two_groups()
  call send_to_the_first_alone()

  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(i0,a)', wrong, ' wrong results'
  call MPI_Finalize(ierror)

contains

  ! Numbers that tell who sends them to whom, in exchange `n`.
  subroutine fill(n)
    integer, intent(in) :: n
    sent = [(1000 * n + 10 * rank + i, i = 0, ranks - 1)]
    came = -1
  end subroutine

  subroutine check(n)
    integer, intent(in) :: n
    wrong = wrong + count(came /= [(1000 * n + 10 * i + rank, i = 0, ranks - 1)])
  end subroutine

  subroutine start_and_test()
    type(shoal_request) :: request
    integer :: form
    logical :: done
    do form = 1, 3
      call fill(form)
      select case (form)
      case (1)
        call shoal_ialltoall(sent, 1, MPI_INTEGER, came, 1, MPI_INTEGER, MPI_COMM_WORLD, request, ierror)
      case (2)
        call shoal_ialltoallv(sent, counts, at, MPI_INTEGER, came, counts, at, MPI_INTEGER, MPI_COMM_WORLD, request)
      case (3)
        call shoal_ialltoallw(sent, counts, bytes, types, came, counts, bytes, types, MPI_COMM_WORLD, request)
      end select
      done = .false.
      do while (.not. done)
        call shoal_test(request, done)
      end do
      call check(form)
      call shoal_wait(request, ierror)  ! there is no request any more
      if (ierror /= MPI_SUCCESS) wrong = wrong + 1
    end do
  end subroutine

  ! On a communicator of its own, where the MPI's function is still the one that serves: it may look at the types at the end.
  subroutine start_with_derived_types()
    integer :: fresh, pair, n
    integer :: many(2 * ranks), got(2 * ranks), pairs(ranks), offsets(ranks), ones(ranks)
    type(shoal_request) :: request
    call MPI_Comm_dup(MPI_COMM_WORLD, fresh, ierror)
    call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierror)
    call MPI_Type_commit(pair, ierror)
    many = [(100 * rank + n, n = 0, 2 * ranks - 1)]
    got = -1
    pairs = pair
    ones = 1
    offsets = 8 * at
    call shoal_ialltoallw(many, ones, offsets, pairs, got, ones, offsets, pairs, fresh, request)
    call shoal_wait(request)
    wrong = wrong + count(got /= [(100 * (n / 2) + 2 * rank + mod(n, 2), n = 0, 2 * ranks - 1)])
    call MPI_Type_free(pair, ierror)
    call MPI_Comm_free(fresh, ierror)
  end subroutine

  subroutine start_twice()
    type(shoal_request) :: request
    character(len=15), parameter :: names(3) = ['shoal_alltoall ', 'shoal_alltoallv', 'shoal_alltoallw']
    integer :: form, start, info
    call MPI_Info_create(info, ierror)
    do form = 1, 3
      call MPI_Info_set(info, names(form), 'tuna:radix=2', ierror)
    end do
    do form = 1, 3
      select case (form)
      case (1)
        call shoal_alltoall_init(sent, 1, MPI_INTEGER, came, 1, MPI_INTEGER, MPI_COMM_WORLD, info, request)
      case (2)
        call shoal_alltoallv_init(sent, counts, at, MPI_INTEGER, came, counts, at, MPI_INTEGER, MPI_COMM_WORLD, info, request)
      case (3)
        call shoal_alltoallw_init(sent, counts, bytes, types, came, counts, bytes, types, MPI_COMM_WORLD, info, request)
      end select
      do start = 1, 2
        call fill(10 * form + start)
        call shoal_start(request)
        call shoal_wait(request)
        call check(10 * form + start)
      end do
      call shoal_request_free(request)
    end do
    call MPI_Info_free(info, ierror)
  end subroutine

  ! To the left first, then to the right.
  subroutine in_a_ring()
    integer :: ring, out(2), in(2), form
    integer(c_int64_t) :: places(2)
    places = [0, 4]
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring, ierror)
    do form = 1, 3
      out = 100 * form + [rank, rank + 10]
      select case (form)
      case (1)
        call shoal_neighbor_alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, ring)
      case (2)
        call shoal_neighbor_alltoallv(out, [1, 1], [0, 1], MPI_INTEGER, in, [1, 1], [0, 1], MPI_INTEGER, ring)
      case (3)
        call shoal_neighbor_alltoallw(out, [1, 1], places, types([1, 1]), in, [1, 1], places, types([1, 1]), ring)
      end select
      wrong = wrong + count(in /= 100 * form + [modulo(rank - 1, ranks) + 10, modulo(rank + 1, ranks)])
    end do
    call MPI_Comm_free(ring, ierror)
  end subroutine

  ! Between the first rank and all others.
  subroutine between_two_groups()
    integer :: side, groups, others, form
    type(shoal_request) :: request
    call MPI_Comm_split(MPI_COMM_WORLD, min(rank, 1), rank, side, ierror)
    call MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, merge(1, 0, rank == 0), 0, groups, ierror)
    call MPI_Comm_remote_size(groups, others, ierror)
    do form = 1, 2
      sent(1) = rank
      came = -1
      if (form == 1) then
        call shoal_allgather_init(sent, 1, MPI_INTEGER, came, 1, MPI_INTEGER, groups, MPI_INFO_NULL, request)
      else
        call shoal_allgatherv_init(sent, 1, MPI_INTEGER, came, counts, at, MPI_INTEGER, groups, MPI_INFO_NULL, request)
      end if
      call shoal_start(request)
      call shoal_wait(request)
      call shoal_request_free(request)
      wrong = wrong + count(came(:others) /= [(merge(i, 0, rank == 0), i = 1, others)])
    end do
    call MPI_Comm_free(groups, ierror)
    call MPI_Comm_free(side, ierror)
  end subroutine

  ! Where nothing comes, the pointers have targets all the same, without elements.
  subroutine send_to_the_first_alone()
    type(shoal_arrivals) :: arrived
    integer, pointer :: numbers(:)
    integer :: blocks
    sent(1) = rank
    blocks = merge(ranks, 0, rank == 0)
    call shoal_exchange(1, [0], sent, [1_c_int64_t], [0_c_int64_t], MPI_INTEGER, MPI_COMM_WORLD, arrived)
    call c_f_pointer(arrived%data, numbers, [arrived%elements])
    wrong = wrong + count(numbers /= [(i, i = 0, blocks - 1)])
    wrong = wrong + count(.not. [associated(arrived%sources), associated(arrived%counts), associated(arrived%displs)])
    wrong = wrong + count([size(arrived%sources), size(arrived%counts), size(arrived%displs), size(numbers)] /= blocks)
    wrong = wrong + merge(0, 1, associated(numbers))
    call shoal_arrivals_free(arrived)
  end subroutine
end program
