! Exchanges with another list of types in each call. Rank 0 prints how much memory they add: "grown by KIB".
program many_types
  use mpi
  implicit none
  integer, parameter :: kinds = 32, warm = 1000, calls = 20000
  integer :: ierror, ranks, rank, i, call_number, before, kind_of(kinds)
  integer, allocatable :: sent_types(:), got_types(:), ones(:), places(:)
  double precision :: sent(1000), got(1000)
  real :: any
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  allocate(sent_types(ranks), got_types(ranks), ones(ranks), places(ranks))
  ones = 1
  places = 0
  sent = 1
  do i = 1, kinds
    call MPI_Type_vector(10, 1, 10 + i, MPI_DOUBLE_PRECISION, kind_of(i), ierror)
    call MPI_Type_commit(kind_of(i), ierror)
  end do
  do call_number = 1, calls
    do i = 1, ranks
      call random_number(any)
      sent_types(i) = kind_of(1 + int(kinds * any))
      call random_number(any)
      got_types(i) = kind_of(1 + int(kinds * any))
    end do
    call MPI_Alltoallw(sent, ones, places, sent_types, got, ones, places, got_types, MPI_COMM_WORLD, ierror)
    if (call_number == warm) before = resident()
  end do
  if (rank == 0) print "(A, I0)", "grown by ", resident() - before
  call MPI_Finalize(ierror)
contains
  integer function resident()
    character(len=200) :: line
    integer :: file, state
    resident = 0
    open(newunit=file, file="/proc/self/status", action="read")
    do
      read(file, "(A)", iostat=state) line
      if (state /= 0) exit
      if (line(1:6) == "VmRSS:") read(line(7:index(line, "kB") - 1), *) resident
    end do
    close(file)
  end function
end program
