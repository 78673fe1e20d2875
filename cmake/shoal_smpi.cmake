# What `shoal simulate` runs under SimGrid's smpirun. Only what calls MPI is compiled for SMPI; the rest is the same
# core as everywhere.
find_program(SMPIRUN smpirun NO_CACHE REQUIRED HINTS ${CMAKE_SOURCE_DIR}/.simgrid/bin)  # made by `make simgrid`
cmake_path(GET SMPIRUN PARENT_PATH simgrid)
find_path(SMPI_HEADERS smpi/smpi_helpers.h NO_CACHE REQUIRED HINTS ${simgrid}/../include)
find_library(SIMGRID_LIBRARY simgrid NO_CACHE REQUIRED HINTS ${simgrid}/../lib)

function(shoal_for_smpi name)
  add_library(${name} MODULE ${ARGN})
  target_include_directories(${name} SYSTEM PRIVATE ${SMPI_HEADERS}/smpi ${SMPI_HEADERS})
  target_link_libraries(${name} PRIVATE shoal_core ${SIMGRID_LIBRARY})
  install(TARGETS ${name} DESTINATION lib/shoal/smpi COMPONENT preload)
endfunction()

# The driver of exchanges, which every simulated rank runs.
shoal_for_smpi(shoal_simulated bench/simulated/shoal_simulated.cpp bench/block_sizes.cpp
               bench/neighbor_graphs.cpp bench/options.cpp bench/traffic_file.cpp bench/workload.cpp
               src/transport/mpi_ended.cpp src/transport/mpi_transport.cpp)
target_compile_definitions(shoal_simulated PRIVATE SMPI_NO_OVERRIDE_MALLOC)
target_compile_options(shoal_simulated PRIVATE -include smpi_helpers.h)  # renames main, makes time simulated
target_link_options(shoal_simulated PRIVATE -Wl,--wrap=PMPI_Testsome)
set_target_properties(shoal_simulated PROPERTIES CXX_VISIBILITY_PRESET default)

# For whole programs: the library that is preloaded, and the Shoal that serves them, of which every rank has a copy.
shoal_for_smpi(shoal_simulated_program bench/simulated/simulated_program.cpp)
shoal_for_smpi(shoal_simulated_library ${mpi_sources} src/preload/drop_in.cpp bench/simulated/served.cpp
               bench/simulated/simulated_mpi.cpp)
target_compile_definitions(shoal_simulated_library PRIVATE SHOAL_SIMULATED_TIME)
target_link_options(
  shoal_simulated_library PRIVATE -s -Wl,--wrap=PMPI_Testsome,--wrap=PMPI_Iallreduce,--wrap=gethostname
  -Wl,--wrap=PMPI_Test,--wrap=memfd_create,--wrap=PMPI_Comm_set_attr)
# Beside these libraries, links to the commands of the same SimGrid.
cmake_path(GET SMPIRUN PARENT_PATH simgrid_commands)
foreach(command smpirun smpicc smpicxx)
  file(CREATE_LINK ${simgrid_commands}/${command} ${CMAKE_BINARY_DIR}/${command} SYMBOLIC)
  install(FILES ${CMAKE_BINARY_DIR}/${command} DESTINATION lib/shoal/smpi COMPONENT preload)
endforeach()
