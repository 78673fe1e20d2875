! Calls every function of shoal_f that exchanges among neighbours, by a request, with counts of 64 bits or with an info;
! and checks what each leaves in its request.
program every_call
  use iso_c_binding, only: c_f_pointer, c_int64_t
  use mpi
  use shoal_f
  implicit none
  integer :: rank, ranks, wrong, i, info, ierror
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
  call MPI_Info_create(info, ierror)
  call ask_for(['shoal_alltoall  ', 'shoal_alltoallv ', 'shoal_alltoallw '], 'tuna:radix=2')
  call ask_for(['shoal_allgather ', 'shoal_allgatherv'], 'circulant')

  call start_and_test()
  call start_twice()
  call exchange_with_info()
  call exchange_by_large_counts()
  call send_more_elements_than_32_bits_count()
  call start_with_derived_types()
  call in_a_ring()
  call between_two_groups()
  call send_to_the_first_alone()
  call send_to_two_at_once()
  call send_to_nobody_there()

  call MPI_Info_free(info, ierror)
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(i0,a)', wrong, ' wrong results'
  call MPI_Finalize(ierror)

contains

  subroutine ask_for(collectives, spec)
    character(len=*), intent(in) :: collectives(:), spec
    do i = 1, size(collectives)
      call MPI_Info_set(info, collectives(i), spec, ierror)
    end do
  end subroutine

  ! The last exchange on a communicator must have had this algorithm.
  subroutine check_algorithm(comm, spec)
    integer, intent(in) :: comm
    character(len=*), intent(in) :: spec
    character(len=200) :: how
    call shoal_comm_explain(comm, how, len(how))
    if (index(how, spec) /= 1) wrong = wrong + 1
  end subroutine

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
    integer :: form, start
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
  end subroutine

  ! On a communicator of its own, whose other exchanges have no algorithm by name.
  subroutine exchange_with_info()
    integer :: form, fresh
    do form = 1, 3
      call MPI_Comm_dup(MPI_COMM_WORLD, fresh, ierror)
      call fill(form)
      select case (form)
      case (1)
        call shoal_alltoall_with(sent, 1, MPI_INTEGER, came, 1, MPI_INTEGER, fresh, info)
      case (2)
        call shoal_alltoallv_with(sent, counts, at, MPI_INTEGER, came, counts, at, MPI_INTEGER, fresh, info)
      case (3)
        call shoal_alltoallw_with(sent, counts, bytes, types, came, counts, bytes, types, fresh, info)
      end select
      call check(form)
      call check_algorithm(fresh, 'tuna:radix=2')
      call MPI_Comm_free(fresh, ierror)
    end do
  end subroutine

  ! Blocking, nonblocking, and persistent.
  subroutine exchange_by_large_counts()
    integer(c_int64_t), asynchronous :: ones(ranks), places(ranks), offsets(ranks)
    type(shoal_request) :: request
    integer :: form, comm
    comm = MPI_COMM_WORLD
    ones = 1
    places = at
    offsets = bytes
    do form = 1, 9
      call fill(form)
      select case (form)
      case (1)
        call shoal_alltoall_c(sent, ones(1), MPI_INTEGER, came, ones(1), MPI_INTEGER, comm)
      case (2)
        call shoal_alltoallv_c(sent, ones, places, MPI_INTEGER, came, ones, places, MPI_INTEGER, comm)
      case (3)
        call shoal_alltoallw_c(sent, ones, offsets, types, came, ones, offsets, types, comm)
      case (4)
        call shoal_ialltoall_c(sent, ones(1), MPI_INTEGER, came, ones(1), MPI_INTEGER, comm, request)
      case (5)
        call shoal_ialltoallv_c(sent, ones, places, MPI_INTEGER, came, ones, places, MPI_INTEGER, comm, request)
      case (6)
        call shoal_ialltoallw_c(sent, ones, offsets, types, came, ones, offsets, types, comm, request)
      case (7)
        call shoal_alltoall_init_c(sent, ones(1), MPI_INTEGER, came, ones(1), MPI_INTEGER, comm, info, request)
      case (8)
        call shoal_alltoallv_init_c(sent, ones, places, MPI_INTEGER, came, ones, places, MPI_INTEGER, comm, info, &
                                    request)
      case (9)
        call shoal_alltoallw_init_c(sent, ones, offsets, types, came, ones, offsets, types, comm, info, request)
      end select
      if (form > 6) call shoal_start(request)
      if (form > 3) call shoal_wait(request)
      if (form > 6) call shoal_request_free(request)
      call check(form)
    end do
  end subroutine

  ! Elements without bytes need no room. The info is there because the MPI's own collective may lack such counts.
  subroutine send_more_elements_than_32_bits_count()
    integer(c_int64_t), parameter :: many = 2_c_int64_t**31
    integer :: fresh, nothing
    call MPI_Type_contiguous(0, MPI_INTEGER, nothing, ierror)
    call MPI_Type_commit(nothing, ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, fresh, ierror)
    call shoal_comm_set_info(fresh, info)
    call shoal_alltoall_c(sent, many, nothing, came, many, nothing, fresh, ierror)
    if (ierror /= MPI_SUCCESS) wrong = wrong + 1
    call MPI_Comm_free(fresh, ierror)
    call MPI_Type_free(nothing, ierror)
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
    integer(c_int64_t) :: ones(ranks), places(ranks)
    type(shoal_request) :: request
    ones = 1
    places = at
    call MPI_Comm_split(MPI_COMM_WORLD, min(rank, 1), rank, side, ierror)
    call MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, merge(1, 0, rank == 0), 0, groups, ierror)
    call MPI_Comm_remote_size(groups, others, ierror)
    do form = 1, 6
      sent(1) = rank
      came = -1
      select case (form)
      case (1)
        call shoal_allgather_with(sent, 1, MPI_INTEGER, came, 1, MPI_INTEGER, groups, info)
      case (2)
        call shoal_allgatherv_with(sent, 1, MPI_INTEGER, came, counts, at, MPI_INTEGER, groups, info)
      case (3)
        call shoal_allgather_c(sent, ones(1), MPI_INTEGER, came, ones(1), MPI_INTEGER, groups)
      case (4)
        call shoal_allgatherv_c(sent, ones(1), MPI_INTEGER, came, ones, places, MPI_INTEGER, groups)
      case (5)
        call shoal_allgather_init(sent, 1, MPI_INTEGER, came, 1, MPI_INTEGER, groups, MPI_INFO_NULL, request)
      case (6)
        call shoal_allgatherv_init(sent, 1, MPI_INTEGER, came, counts, at, MPI_INTEGER, groups, MPI_INFO_NULL, request)
      end select
      if (form <= 2) call check_algorithm(groups, 'circulant')
      if (form > 4) then
        call shoal_start(request)
        call shoal_wait(request)
        call shoal_request_free(request)
      end if
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

  ! To the next rank and to the one behind it. The later exchange is waited for first.
  subroutine send_to_two_at_once()
    type(shoal_arrivals), target :: arrived(2)
    type(shoal_request) :: requests(2)
    integer, pointer :: numbers(:)
    integer :: n, from
    logical :: done
    sent(:2) = [rank, 100 + rank]
    do n = 1, 2
      call shoal_iexchange(1, [mod(rank + n, ranks)], sent, [1_c_int64_t], [int(n - 1, c_int64_t)], MPI_INTEGER, &
                           MPI_COMM_WORLD, arrived(n), requests(n))
      if (arrived(n)%blocks /= 0 .or. associated(arrived(n)%sources)) wrong = wrong + 1
    end do
    call shoal_wait(requests(2))
    done = .false.
    do while (.not. done)
      call shoal_test(requests(1), done)
    end do
    do n = 1, 2
      from = modulo(rank - n, ranks)
      call c_f_pointer(arrived(n)%data, numbers, [arrived(n)%elements])
      if (arrived(n)%blocks /= 1 .or. size(arrived(n)%sources) /= 1 .or. size(numbers) /= 1) wrong = wrong + 1
      wrong = wrong + count([arrived(n)%sources, numbers] /= [from, 100 * (n - 1) + from])
      call shoal_arrivals_free(arrived(n))
      if (arrived(n)%blocks /= 0 .or. associated(arrived(n)%sources)) wrong = wrong + 1
    end do
  end subroutine

  ! A wrong argument of one rank: all ranks hear of it at the end, and nothing arrives.
  subroutine send_to_nobody_there()
    type(shoal_arrivals), target :: arrived
    type(shoal_request) :: request
    integer :: fresh
    call MPI_Comm_dup(MPI_COMM_WORLD, fresh, ierror)
    call MPI_Comm_set_errhandler(fresh, MPI_ERRORS_RETURN, ierror)
    call shoal_iexchange(1, [merge(ranks, 0, rank == 0)], sent, [1_c_int64_t], [0_c_int64_t], MPI_INTEGER, fresh, &
                         arrived, request, ierror)
    if (ierror /= MPI_SUCCESS) wrong = wrong + 1
    call shoal_wait(request, ierror)
    if (ierror == MPI_SUCCESS .or. arrived%blocks /= 0 .or. associated(arrived%sources)) wrong = wrong + 1
    call MPI_Comm_free(fresh, ierror)
  end subroutine
end program
