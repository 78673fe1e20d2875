# The driver of `shoal simulate`, which SimGrid's smpirun loads and runs on every simulated rank. Only what calls MPI is
# compiled for SMPI; the rest is the core as it is everywhere.
find_program(SMPIRUN smpirun NO_CACHE REQUIRED HINTS ${CMAKE_SOURCE_DIR}/.simgrid/bin)  # made by `make simgrid`
cmake_path(GET SMPIRUN PARENT_PATH simgrid)
find_path(SMPI_HEADERS smpi/smpi_helpers.h NO_CACHE REQUIRED HINTS ${simgrid}/../include)
find_library(SIMGRID_LIBRARY simgrid NO_CACHE REQUIRED HINTS ${simgrid}/../lib)
add_library(shoal_simulated MODULE bench/simulated/shoal_simulated.cpp bench/block_sizes.cpp bench/options.cpp
            bench/traffic_file.cpp bench/workload.cpp src/execute/mpi_transport.cpp)
target_include_directories(shoal_simulated SYSTEM PRIVATE ${SMPI_HEADERS}/smpi)
target_compile_definitions(shoal_simulated PRIVATE SMPI_NO_OVERRIDE_MALLOC)
target_compile_options(shoal_simulated PRIVATE -include smpi_helpers.h)  # renames main, makes time simulated
target_link_options(shoal_simulated PRIVATE -Wl,--wrap=PMPI_Testsome)
target_link_libraries(shoal_simulated PRIVATE shoal_core ${SIMGRID_LIBRARY})
set_target_properties(shoal_simulated PROPERTIES CXX_VISIBILITY_PRESET default)
# Beside it the smpirun of the same SimGrid.
file(CREATE_LINK ${SMPIRUN} ${CMAKE_BINARY_DIR}/smpirun SYMBOLIC)
install(TARGETS shoal_simulated DESTINATION lib/shoal/smpi COMPONENT preload)
install(FILES ${CMAKE_BINARY_DIR}/smpirun DESTINATION lib/shoal/smpi COMPONENT preload)
