# libshoal, its preload and the benchmarks, for one MPI. Only MPI's C interface is used: older headers bring C++
# bindings into every C++ file unless told not to.
find_package(MPI REQUIRED COMPONENTS C)
include(shoal_abi)
# Nothing that is installed knows where the MPI is (there is no rpath): programs and LD_LIBRARY_PATH tell that. In the
# build tree CMake adds an rpath.
add_library(shoal_mpi INTERFACE)
foreach(property INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS LINK_LIBRARIES LINK_OPTIONS)
  get_target_property(value MPI::MPI_C INTERFACE_${property})
  list(FILTER value EXCLUDE REGEX "-rpath|NOTFOUND")
  set_property(TARGET shoal_mpi PROPERTY INTERFACE_${property} ${value})
endforeach()
target_compile_definitions(shoal_mpi INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
get_target_property(includes shoal_mpi INTERFACE_INCLUDE_DIRECTORIES)  # so that the MPI's header gives no warnings
set_property(TARGET shoal_mpi PROPERTY INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${includes}")
message(STATUS "MPI: ${MPI_C_COMPILER} (ABI ${SHOAL_ABI})")

if(SHOAL_ABI STREQUAL "standard")  # this ABI says nothing of Fortran's handles
  list(FILTER mpi_sources EXCLUDE REGEX "/fortran\\.cpp$")
endif()
shoal_sources(drop_in_sources src/preload)

# Compiled once for libshoal, for the library that the preload loads, and for the tests.
add_library(shoal_objects OBJECT ${mpi_sources})
target_link_libraries(shoal_objects PUBLIC shoal_core shoal_mpi ${CMAKE_DL_LIBS})

# A shared library that exports what its version script names and nothing else.
function(shoal_library name script)
  set(map ${CMAKE_CURRENT_SOURCE_DIR}/cmake/${script})
  add_library(${name} SHARED ${ARGN})
  target_link_options(${name} PRIVATE -Wl,--version-script=${map})
  set_target_properties(${name} PROPERTIES LINK_DEPENDS ${map})
endfunction()

shoal_library(shoal shoal.map $<TARGET_OBJECTS:shoal_objects>)
target_link_libraries(shoal PRIVATE shoal_core ${CMAKE_DL_LIBS} $<BUILD_INTERFACE:shoal_mpi>)
add_library(shoal::shoal ALIAS shoal)
target_link_options(shoal PRIVATE -Wl,--no-undefined)
set_target_properties(shoal PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_include_directories(shoal INTERFACE $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
                                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(shoal INTERFACE $<BUILD_INTERFACE:shoal_mpi> $<INSTALL_INTERFACE:shoal::mpi>)

# shoal-drop-in serves the calls of programs that were built elsewhere. So it has a C++ runtime of its own, which nobody
# else sees, and uses the program's MPI. The preload itself needs no C++ runtime and no MPI.
add_library(drop_in_objects OBJECT ${drop_in_sources})
target_link_libraries(drop_in_objects PUBLIC shoal_core shoal_mpi ${CMAKE_DL_LIBS})
shoal_unity(shoal_objects drop_in_objects)
shoal_library(shoal-drop-in preload.map $<TARGET_OBJECTS:shoal_objects> $<TARGET_OBJECTS:drop_in_objects>)
target_link_libraries(shoal-drop-in PRIVATE shoal_core own_runtime)
# It also has Shoal's own functions, for Python. They call each other, and not those of a libshoal that the program has
# as well.
target_link_options(shoal-drop-in PRIVATE -Wl,-Bsymbolic)
shoal_library(shoal-preload preload.map src/preload/preload.c src/preload/requests.c src/preload/frees.c
              src/preload/buffers.c src/preload/duplicates.c src/preload/handlers.c src/preload/narrowed.c
              src/preload/passing.c src/preload/starts.c)
target_include_directories(shoal-preload PRIVATE src)
target_compile_definitions(shoal-preload PRIVATE _GNU_SOURCE SHOAL_ABI="${SHOAL_ABI}"
                                                 $<$<STREQUAL:${SHOAL_ABI},openmpi>:SHOAL_FORTRAN_NAMES>
                                                 $<$<STREQUAL:${SHOAL_ABI},mpich>:SHOAL_MPICH_F08_NAMES>
                                                 $<$<STREQUAL:${SHOAL_ABI},mpich>:SHOAL_HANDLES_ARE_INTS>)
target_link_libraries(shoal-preload PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
target_link_options(shoal-preload PRIVATE -Wl,--no-undefined)
add_dependencies(shoal-preload shoal-drop-in)

if(NOT PROJECT_IS_TOP_LEVEL)  # a project that includes this one takes no more
  return()
endif()

shoal_sources(benchmark_sources bench)
add_executable(shoal_bench ${benchmark_sources})
target_include_directories(shoal_bench PRIVATE include)
shoal_unity(shoal_bench)
target_link_libraries(shoal_bench PRIVATE shoal_objects own_runtime)

# Real users of the public interface.
add_executable(closure apps/closure.cpp)
target_link_libraries(closure PRIVATE shoal)

# Built if FFTW is there. FFTW's parallel transforms, to compare with, come from Debian, which has them for Open MPI.
find_library(FFTW fftw3)
find_library(FFTW_MPI fftw3_mpi)
if(FFTW)
  add_executable(fft apps/fft.cpp)
  target_link_libraries(fft PRIVATE shoal ${FFTW})
  if(FFTW_MPI AND SHOAL_ABI STREQUAL "openmpi")
    target_compile_definitions(fft PRIVATE SHOAL_WITH_FFTW_MPI)
    target_link_libraries(fft PRIVATE ${FFTW_MPI})
  endif()
endif()
