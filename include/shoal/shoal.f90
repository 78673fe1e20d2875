! Shoal for Fortran: the functions of shoal.h as subroutines, with their arguments in MPI's order.
!
! Compile this file with your program (it uses no MPI module, so the MPI of any Fortran compiler will do) and link
! libshoal. Handles are the integers of `use mpi` and mpif.h; with `use mpi_f08` give comm%MPI_VAL, type%MPI_VAL,
! info%MPI_VAL. For an exchange in place give shoal_in_place as sendbuf, not MPI_IN_PLACE. You cannot give MPI_BOTTOM.
! ierror is optional, as in mpi_f08. Buffers are contiguous arrays of any type and rank.
!
! Counts and displacements are default integers. In functions whose names end in _c, and in shoal_exchange and
! shoal_iexchange, they are of kind int64, and so are the displacements of shoal_neighbor_alltoallw, which are in
! bytes. Unlike in mpi_f08, no name takes both kinds: with such a name, a compiler would refuse buffers whose rank is
! not 1. Functions whose names end in _with take an info for this call.
!
! The arrays from which a request was made must stay as they are until its exchange has ended. Give them the attribute
! asynchronous if the compiler cannot see that they are in use. The arrivals of shoal_iexchange must stay too, and
! must have the attribute target.
module shoal_f
  use iso_c_binding, only: c_int, c_int64_t, c_char, c_ptr, c_funptr, c_null_ptr, c_f_pointer, c_associated, c_loc, &
                           c_funloc
  implicit none
  private
  public :: shoal_alltoall, shoal_alltoallv, shoal_alltoallw, shoal_allgather, shoal_allgatherv, &
            shoal_neighbor_alltoall, shoal_neighbor_alltoallv, shoal_neighbor_alltoallw, &
            shoal_ialltoall, shoal_ialltoallv, shoal_ialltoallw, &
            shoal_alltoall_init, shoal_alltoallv_init, shoal_alltoallw_init, &
            shoal_allgather_init, shoal_allgatherv_init, &
            shoal_alltoall_c, shoal_alltoallv_c, shoal_alltoallw_c, shoal_allgather_c, shoal_allgatherv_c, &
            shoal_ialltoall_c, shoal_ialltoallv_c, shoal_ialltoallw_c, &
            shoal_alltoall_init_c, shoal_alltoallv_init_c, shoal_alltoallw_init_c, &
            shoal_alltoall_with, shoal_alltoallv_with, shoal_alltoallw_with, &
            shoal_allgather_with, shoal_allgatherv_with, &
            shoal_request, shoal_start, shoal_test, shoal_wait, shoal_request_free, &
            shoal_exchange, shoal_iexchange, shoal_arrivals, shoal_arrivals_free, &
            shoal_comm_set_info, shoal_comm_explain, shoal_in_place

  ! Stands for a sendbuf in place; its value is not used.
  integer(c_int), bind(c, name="shoal_in_place_f") :: shoal_in_place(1)

  ! An exchange that is under way, or ready to be started; at first no exchange.
  type, bind(c) :: shoal_request
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  ! What arrived in a shoal_exchange or shoal_iexchange: blocks in the order of the ranks that sent them. Block i begins
  ! displs(i) elements behind the address `data`. If `came` is of this type,
  ! `call c_f_pointer(came%data, values, [came%elements])` makes `values` an array of all elements, which stays until
  ! `call shoal_arrivals_free(came)`. MPI counts ranks and displacements from 0.
  type :: shoal_arrivals
    integer(c_int) :: blocks = 0
    integer(c_int64_t) :: elements = 0
    integer(c_int), pointer :: sources(:) => null()
    integer(c_int64_t), pointer :: counts(:) => null(), displs(:) => null()
    type(c_ptr) :: data = c_null_ptr
    type(c_ptr), private :: handle = c_null_ptr
  end type

  ! The same as a struct of C, as in shoal.h.
  type, bind(c) :: arrivals_of_c
    integer(c_int) :: blocks
    type(c_ptr) :: sources, counts, displs, data
  end type

  interface
    subroutine shoal_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror) &
        bind(c, name="shoal_alltoall_f")
      import :: c_int
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int), value :: sendcount, sendtype, recvcount, recvtype, comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror) &
        bind(c, name="shoal_alltoall_c_f")
      import :: c_int, c_int64_t
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int64_t), value :: sendcount, recvcount
      integer(c_int), value :: sendtype, recvtype, comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_alltoall_with(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, ierror) &
        bind(c, name="shoal_alltoall_with_f")
      import :: c_int
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int), value :: sendcount, sendtype, recvcount, recvtype, comm, info
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, &
                               ierror) bind(c, name="shoal_alltoallv_f")
      import :: c_int
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int), intent(in) :: sendcounts(*), sdispls(*), recvcounts(*), rdispls(*)
      integer(c_int), value :: sendtype, recvtype, comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, &
                                 comm, ierror) bind(c, name="shoal_alltoallv_c_f")
      import :: c_int, c_int64_t
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int64_t), intent(in) :: sendcounts(*), sdispls(*), recvcounts(*), rdispls(*)
      integer(c_int), value :: sendtype, recvtype, comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_alltoallv_with(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, &
                                    comm, info, ierror) bind(c, name="shoal_alltoallv_with_f")
      import :: c_int
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int), intent(in) :: sendcounts(*), sdispls(*), recvcounts(*), rdispls(*)
      integer(c_int), value :: sendtype, recvtype, comm, info
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, &
                               ierror) bind(c, name="shoal_alltoallw_f")
      import :: c_int
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int), intent(in) :: sendcounts(*), sdispls(*), sendtypes(*), recvcounts(*), rdispls(*), recvtypes(*)
      integer(c_int), value :: comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, &
                                 comm, ierror) bind(c, name="shoal_alltoallw_c_f")
      import :: c_int, c_int64_t
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int64_t), intent(in) :: sendcounts(*), sdispls(*), recvcounts(*), rdispls(*)
      integer(c_int), intent(in) :: sendtypes(*), recvtypes(*)
      integer(c_int), value :: comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_alltoallw_with(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, &
                                    recvtypes, comm, info, ierror) bind(c, name="shoal_alltoallw_with_f")
      import :: c_int
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int), intent(in) :: sendcounts(*), sdispls(*), sendtypes(*), recvcounts(*), rdispls(*), recvtypes(*)
      integer(c_int), value :: comm, info
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror) &
        bind(c, name="shoal_allgather_f")
      import :: c_int
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int), value :: sendcount, sendtype, recvcount, recvtype, comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror) &
        bind(c, name="shoal_allgather_c_f")
      import :: c_int, c_int64_t
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int64_t), value :: sendcount, recvcount
      integer(c_int), value :: sendtype, recvtype, comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_allgather_with(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, ierror) &
        bind(c, name="shoal_allgather_with_f")
      import :: c_int
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int), value :: sendcount, sendtype, recvcount, recvtype, comm, info
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, ierror) &
        bind(c, name="shoal_allgatherv_f")
      import :: c_int
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int), intent(in) :: recvcounts(*), displs(*)
      integer(c_int), value :: sendcount, sendtype, recvtype, comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, ierror) &
        bind(c, name="shoal_allgatherv_c_f")
      import :: c_int, c_int64_t
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int64_t), intent(in) :: recvcounts(*), displs(*)
      integer(c_int64_t), value :: sendcount
      integer(c_int), value :: sendtype, recvtype, comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_allgatherv_with(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, &
                                     info, ierror) bind(c, name="shoal_allgatherv_with_f")
      import :: c_int
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int), intent(in) :: recvcounts(*), displs(*)
      integer(c_int), value :: sendcount, sendtype, recvtype, comm, info
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    ! Exchanges along the edges of a grid or graph.
    subroutine shoal_neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror) &
        bind(c, name="shoal_neighbor_alltoall_f")
      import :: c_int
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int), value :: sendcount, sendtype, recvcount, recvtype, comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, &
                                        recvtype, comm, ierror) bind(c, name="shoal_neighbor_alltoallv_f")
      import :: c_int
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int), intent(in) :: sendcounts(*), sdispls(*), recvcounts(*), rdispls(*)
      integer(c_int), value :: sendtype, recvtype, comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, &
                                        recvtypes, comm, ierror) bind(c, name="shoal_neighbor_alltoallw_f")
      import :: c_int, c_int64_t
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int), intent(in) :: sendcounts(*), sendtypes(*), recvcounts(*), recvtypes(*)
      integer(c_int64_t), intent(in) :: sdispls(*), rdispls(*)
      integer(c_int), value :: comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    ! Exchanges that are started here, and end in shoal_test or shoal_wait.
    subroutine shoal_ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request, ierror) &
        bind(c, name="shoal_ialltoall_f")
      import :: c_int, shoal_request
      type(*), intent(in), asynchronous :: sendbuf(*)
      type(*), asynchronous :: recvbuf(*)
      integer(c_int), value :: sendcount, sendtype, recvcount, recvtype, comm
      type(shoal_request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_ialltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request, ierror) &
        bind(c, name="shoal_ialltoall_c_f")
      import :: c_int, c_int64_t, shoal_request
      type(*), intent(in), asynchronous :: sendbuf(*)
      type(*), asynchronous :: recvbuf(*)
      integer(c_int64_t), value :: sendcount, recvcount
      integer(c_int), value :: sendtype, recvtype, comm
      type(shoal_request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, &
                                comm, request, ierror) bind(c, name="shoal_ialltoallv_f")
      import :: c_int, shoal_request
      type(*), intent(in), asynchronous :: sendbuf(*)
      type(*), asynchronous :: recvbuf(*)
      integer(c_int), intent(in), asynchronous :: sendcounts(*), sdispls(*), recvcounts(*), rdispls(*)
      integer(c_int), value :: sendtype, recvtype, comm
      type(shoal_request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_ialltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, &
                                  comm, request, ierror) bind(c, name="shoal_ialltoallv_c_f")
      import :: c_int, c_int64_t, shoal_request
      type(*), intent(in), asynchronous :: sendbuf(*)
      type(*), asynchronous :: recvbuf(*)
      integer(c_int64_t), intent(in), asynchronous :: sendcounts(*), sdispls(*), recvcounts(*), rdispls(*)
      integer(c_int), value :: sendtype, recvtype, comm
      type(shoal_request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, &
                                comm, request, ierror) bind(c, name="shoal_ialltoallw_f")
      import :: c_int, shoal_request
      type(*), intent(in), asynchronous :: sendbuf(*)
      type(*), asynchronous :: recvbuf(*)
      integer(c_int), intent(in), asynchronous :: sendcounts(*), sdispls(*), recvcounts(*), rdispls(*)
      integer(c_int), intent(in) :: sendtypes(*), recvtypes(*)
      integer(c_int), value :: comm
      type(shoal_request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_ialltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, &
                                  comm, request, ierror) bind(c, name="shoal_ialltoallw_c_f")
      import :: c_int, c_int64_t, shoal_request
      type(*), intent(in), asynchronous :: sendbuf(*)
      type(*), asynchronous :: recvbuf(*)
      integer(c_int64_t), intent(in), asynchronous :: sendcounts(*), sdispls(*), recvcounts(*), rdispls(*)
      integer(c_int), intent(in) :: sendtypes(*), recvtypes(*)
      integer(c_int), value :: comm
      type(shoal_request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    ! Exchanges that are prepared once, start in shoal_start any number of times, and end in shoal_test or shoal_wait.
    subroutine shoal_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request, &
                                   ierror) bind(c, name="shoal_alltoall_init_f")
      import :: c_int, shoal_request
      type(*), intent(in), asynchronous :: sendbuf(*)
      type(*), asynchronous :: recvbuf(*)
      integer(c_int), value :: sendcount, sendtype, recvcount, recvtype, comm, info
      type(shoal_request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_alltoall_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, &
                                     request, ierror) bind(c, name="shoal_alltoall_init_c_f")
      import :: c_int, c_int64_t, shoal_request
      type(*), intent(in), asynchronous :: sendbuf(*)
      type(*), asynchronous :: recvbuf(*)
      integer(c_int64_t), value :: sendcount, recvcount
      integer(c_int), value :: sendtype, recvtype, comm, info
      type(shoal_request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, &
                                    comm, info, request, ierror) bind(c, name="shoal_alltoallv_init_f")
      import :: c_int, shoal_request
      type(*), intent(in), asynchronous :: sendbuf(*)
      type(*), asynchronous :: recvbuf(*)
      integer(c_int), intent(in), asynchronous :: sendcounts(*), sdispls(*), recvcounts(*), rdispls(*)
      integer(c_int), value :: sendtype, recvtype, comm, info
      type(shoal_request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, &
                                      recvtype, comm, info, request, ierror) bind(c, name="shoal_alltoallv_init_c_f")
      import :: c_int, c_int64_t, shoal_request
      type(*), intent(in), asynchronous :: sendbuf(*)
      type(*), asynchronous :: recvbuf(*)
      integer(c_int64_t), intent(in), asynchronous :: sendcounts(*), sdispls(*), recvcounts(*), rdispls(*)
      integer(c_int), value :: sendtype, recvtype, comm, info
      type(shoal_request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, &
                                    recvtypes, comm, info, request, ierror) bind(c, name="shoal_alltoallw_init_f")
      import :: c_int, shoal_request
      type(*), intent(in), asynchronous :: sendbuf(*)
      type(*), asynchronous :: recvbuf(*)
      integer(c_int), intent(in), asynchronous :: sendcounts(*), sdispls(*), recvcounts(*), rdispls(*)
      integer(c_int), intent(in) :: sendtypes(*), recvtypes(*)
      integer(c_int), value :: comm, info
      type(shoal_request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, &
                                      recvtypes, comm, info, request, ierror) bind(c, name="shoal_alltoallw_init_c_f")
      import :: c_int, c_int64_t, shoal_request
      type(*), intent(in), asynchronous :: sendbuf(*)
      type(*), asynchronous :: recvbuf(*)
      integer(c_int64_t), intent(in), asynchronous :: sendcounts(*), sdispls(*), recvcounts(*), rdispls(*)
      integer(c_int), intent(in) :: sendtypes(*), recvtypes(*)
      integer(c_int), value :: comm, info
      type(shoal_request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, &
                                    request, ierror) bind(c, name="shoal_allgather_init_f")
      import :: c_int, shoal_request
      type(*), intent(in), asynchronous :: sendbuf(*)
      type(*), asynchronous :: recvbuf(*)
      integer(c_int), value :: sendcount, sendtype, recvcount, recvtype, comm, info
      type(shoal_request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, &
                                     info, request, ierror) bind(c, name="shoal_allgatherv_init_f")
      import :: c_int, shoal_request
      type(*), intent(in), asynchronous :: sendbuf(*)
      type(*), asynchronous :: recvbuf(*)
      integer(c_int), intent(in), asynchronous :: recvcounts(*), displs(*)
      integer(c_int), value :: sendcount, sendtype, recvtype, comm, info
      type(shoal_request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_start(request, ierror) bind(c, name="shoal_start_f")
      import :: c_int, shoal_request
      type(shoal_request), intent(in) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine shoal_wait(request, ierror) bind(c, name="shoal_wait_f")
      import :: c_int, shoal_request
      type(shoal_request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine test_of_c(request, flag, ierror) bind(c, name="shoal_test_f")
      import :: c_int, shoal_request
      type(shoal_request), intent(inout) :: request
      integer(c_int), intent(out) :: flag
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    ! Frees a persistent request that is not under way.
    subroutine shoal_request_free(request, ierror) bind(c, name="shoal_request_free_f")
      import :: c_int, shoal_request
      type(shoal_request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine exchange_of_c(blocks, destinations, sendbuf, counts, displs, datatype, comm, arrivals, ierror) &
        bind(c, name="shoal_exchange_f")
      import :: c_int, c_int64_t, c_ptr
      integer(c_int), value :: blocks, datatype, comm
      type(*), intent(in) :: sendbuf(*)
      integer(c_int), intent(in) :: destinations(*)
      integer(c_int64_t), intent(in) :: counts(*), displs(*)
      type(c_ptr), intent(out) :: arrivals
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine iexchange_of_c(blocks, destinations, sendbuf, counts, displs, datatype, comm, arrivals, put, request, &
                              ierror) bind(c, name="shoal_iexchange_f")
      import :: c_int, c_int64_t, c_ptr, c_funptr, shoal_request
      integer(c_int), value :: blocks, datatype, comm
      type(*), intent(in), asynchronous :: sendbuf(*)
      integer(c_int), intent(in) :: destinations(*)
      integer(c_int64_t), intent(in) :: counts(*), displs(*)
      type(c_ptr), value :: arrivals
      type(c_funptr), value :: put
      type(shoal_request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine free_of_c(arrivals, ierror) bind(c, name="shoal_arrivals_free_f")
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: arrivals
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    ! The keys of info that are named after functions, such as shoal_alltoallv, hold specs such as tuna:radix=8.
    subroutine shoal_comm_set_info(comm, info, ierror) bind(c, name="shoal_comm_set_info_f")
      import :: c_int
      integer(c_int), value :: comm, info
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    ! Says what ran last and why, in the first `size` characters of text, which are filled up with blanks.
    subroutine shoal_comm_explain(comm, text, size, ierror) bind(c, name="shoal_comm_explain_f")
      import :: c_int, c_char
      integer(c_int), value :: comm, size
      character(kind=c_char), intent(out) :: text(*)
      integer(c_int), intent(out), optional :: ierror
    end subroutine
  end interface

contains

  ! Moves exchanges on; `flag` tells whether this exchange has ended, or was not under way.
  subroutine shoal_test(request, flag, ierror)
    type(shoal_request), intent(inout) :: request
    logical, intent(out) :: flag
    integer(c_int), intent(out), optional :: ierror
    integer(c_int) :: ended
    call test_of_c(request, ended, ierror)
    flag = ended /= 0
  end subroutine

  ! Sends `blocks` blocks to any ranks you like, and receives what comes; counts and displs are of kind int64.
  subroutine shoal_exchange(blocks, destinations, sendbuf, counts, displs, datatype, comm, arrivals, ierror)
    integer(c_int), intent(in) :: blocks, destinations(*), datatype, comm
    type(*), intent(in) :: sendbuf(*)
    integer(c_int64_t), intent(in) :: counts(*), displs(*)
    type(shoal_arrivals), intent(out) :: arrivals
    integer(c_int), intent(out), optional :: ierror
    call exchange_of_c(blocks, destinations, sendbuf, counts, displs, datatype, comm, arrivals%handle, ierror)
    call show(arrivals)
  end subroutine

  ! The same, but ends in shoal_test or shoal_wait. Until then, and after an error, `arrivals` has no blocks.
  subroutine shoal_iexchange(blocks, destinations, sendbuf, counts, displs, datatype, comm, arrivals, request, ierror)
    integer(c_int), intent(in) :: blocks, destinations(*), datatype, comm
    type(*), intent(in), asynchronous :: sendbuf(*)
    integer(c_int64_t), intent(in) :: counts(*), displs(*)
    type(shoal_arrivals), pointer, intent(in) :: arrivals
    type(shoal_request), intent(out) :: request
    integer(c_int), intent(out), optional :: ierror
    arrivals = shoal_arrivals()
    call iexchange_of_c(blocks, destinations, sendbuf, counts, displs, datatype, comm, c_loc(arrivals), &
                        c_funloc(put), request, ierror)
  end subroutine

  ! C calls this at the end of a shoal_iexchange, with the address of the program's arrivals and what arrived.
  subroutine put(address, handle) bind(c, name="")
    type(c_ptr), value :: address, handle
    type(shoal_arrivals), pointer :: arrivals
    call c_f_pointer(address, arrivals)
    arrivals%handle = handle
    call show(arrivals)
  end subroutine

  ! Lets the program see what is behind the handle.
  subroutine show(arrivals)
    type(shoal_arrivals), intent(inout) :: arrivals
    type(arrivals_of_c), pointer :: came
    if (.not. c_associated(arrivals%handle)) return
    call c_f_pointer(arrivals%handle, came)
    arrivals%blocks = came%blocks
    arrivals%data = came%data
    call c_f_pointer(came%sources, arrivals%sources, [came%blocks])
    call c_f_pointer(came%counts, arrivals%counts, [came%blocks])
    call c_f_pointer(came%displs, arrivals%displs, [came%blocks])
    arrivals%elements = sum(arrivals%counts)
  end subroutine

  subroutine shoal_arrivals_free(arrivals, ierror)
    type(shoal_arrivals), intent(inout) :: arrivals
    integer(c_int), intent(out), optional :: ierror
    type(c_ptr) :: handle
    handle = arrivals%handle
    arrivals = shoal_arrivals()
    call free_of_c(handle, ierror)
  end subroutine
end module
