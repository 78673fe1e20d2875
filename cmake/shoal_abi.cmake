# SHOAL_ABI: which MPI libraries a preload built here fits, by the SONAME that a program linked to this MPI needs.
# mpich: MPICH, Intel MPI, MVAPICH, Cray (libmpi.so.12, in Debian libmpich.so.12); openmpi (libmpi.so.40);
# standard: the ABI of MPI 5 (libmpi_abi.so.1), for every MPI that has this ABI. MPICH 5's mpicc_abi builds for it.
if(NOT unknown_mpi)
  set(unknown_mpi FATAL_ERROR)
endif()
include(shoal_mpi_soname)
shoal_mpi_soname(SHOAL_MPI_SONAME C)
if(SHOAL_MPI_SONAME MATCHES "^libmpi(ch)?\\.so\\.12$")
  set(SHOAL_ABI mpich)
elseif(SHOAL_MPI_SONAME STREQUAL "libmpi.so.40")
  set(SHOAL_ABI openmpi)
elseif(SHOAL_MPI_SONAME STREQUAL "libmpi_abi.so.1")
  set(SHOAL_ABI standard)
else()
  message(${unknown_mpi} "${MPI_C_COMPILER} links programs to the MPI library '${SHOAL_MPI_SONAME}', which Shoal does not "
                      "know; it knows libmpi.so.12, libmpich.so.12, libmpi.so.40 and libmpi_abi.so.1. Give another with "
                      "-DMPI_C_COMPILER=...")
endif()
