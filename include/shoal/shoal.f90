! Shoal for Fortran: the functions of shoal.h as subroutines, with their arguments in the order of MPI's.
!
! Compile this file with your program (no MPI module is used, so any Fortran compiler's MPI will do) and link libshoal.
! Handles are the integers of `use mpi` and mpif.h; with `use mpi_f08` give comm%MPI_VAL, type%MPI_VAL, info%MPI_VAL.
! In place is shoal_in_place as sendbuf, not MPI_IN_PLACE; MPI_BOTTOM cannot be given. ierror is optional, as in mpi_f08.
! Buffers are contiguous arrays of any type and rank. Counts and displacements are default integers.
module shoal_f
  use iso_c_binding, only: c_int, c_char
  implicit none
  private
  public :: shoal_alltoall, shoal_alltoallv, shoal_alltoallw, shoal_allgather, shoal_allgatherv, &
            shoal_comm_set_info, shoal_comm_explain, shoal_in_place

  ! Stands for a place; its value is not used.
  integer(c_int), bind(c, name="shoal_in_place_f") :: shoal_in_place(1)

  interface
    subroutine shoal_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror) &
        bind(c, name="shoal_alltoall_f")
      import :: c_int
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int), value :: sendcount, sendtype, recvcount, recvtype, comm
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

    subroutine shoal_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, &
                               ierror) bind(c, name="shoal_alltoallw_f")
      import :: c_int
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int), intent(in) :: sendcounts(*), sdispls(*), sendtypes(*), recvcounts(*), rdispls(*), recvtypes(*)
      integer(c_int), value :: comm
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

    subroutine shoal_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, ierror) &
        bind(c, name="shoal_allgatherv_f")
      import :: c_int
      type(*), intent(in) :: sendbuf(*)
      type(*) :: recvbuf(*)
      integer(c_int), intent(in) :: recvcounts(*), displs(*)
      integer(c_int), value :: sendcount, sendtype, recvtype, comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    ! The keys named after the functions, as shoal_alltoallv, of info hold specs such as tuna:radix=8.
    subroutine shoal_comm_set_info(comm, info, ierror) bind(c, name="shoal_comm_set_info_f")
      import :: c_int
      integer(c_int), value :: comm, info
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    ! What ran last and why, in the first `size` characters of text, filled up with blanks.
    subroutine shoal_comm_explain(comm, text, size, ierror) bind(c, name="shoal_comm_explain_f")
      import :: c_int, c_char
      integer(c_int), value :: comm, size
      character(kind=c_char), intent(out) :: text(*)
      integer(c_int), intent(out), optional :: ierror
    end subroutine
  end interface
end module
