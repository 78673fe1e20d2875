# SHOAL_ABI: which MPI libraries a preload built here fits, told by the SONAME a program linked to this MPI needs.
# mpich: MPICH, Intel MPI, MVAPICH, Cray (libmpi.so.12); openmpi (libmpi.so.40); mpich-debian (libmpich.so.12);
# standard: the ABI of MPI 5 (libmpi_abi.so.1), of every MPI that has it: MPICH 5's mpicc_abi builds for it.
set(program ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/needs_mpi)
file(WRITE ${program}.c "#include <mpi.h>\nint main(void) { int flag; return MPI_Initialized(&flag); }\n")
try_compile(linked ${CMAKE_CURRENT_BINARY_DIR} ${program}.c LINK_LIBRARIES MPI::MPI_C COPY_FILE ${program})
if(NOT linked)
  message(FATAL_ERROR "${MPI_C_COMPILER} does not link a program; give another with -DMPI_C_COMPILER=...")
endif()
execute_process(COMMAND ${CMAKE_READELF} -d ${program} OUTPUT_VARIABLE needed)
string(REGEX MATCH "libmpi(ch|_abi)?\\.so\\.[0-9]+" SHOAL_MPI_SONAME "${needed}")
if(SHOAL_MPI_SONAME STREQUAL "libmpi.so.12")
  set(SHOAL_ABI mpich)
elseif(SHOAL_MPI_SONAME STREQUAL "libmpi.so.40")
  set(SHOAL_ABI openmpi)
elseif(SHOAL_MPI_SONAME STREQUAL "libmpich.so.12")
  set(SHOAL_ABI mpich-debian)
elseif(SHOAL_MPI_SONAME STREQUAL "libmpi_abi.so.1")
  set(SHOAL_ABI standard)
else()
  message(FATAL_ERROR "MPI with SONAME '${SHOAL_MPI_SONAME}' is not known; Shoal knows libmpi.so.12, libmpi.so.40, "
                      "libmpich.so.12, libmpi_abi.so.1")
endif()
