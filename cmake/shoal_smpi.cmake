# The driver of `shoal simulate`, which SimGrid's smpirun loads and runs on every simulated rank. Only what calls MPI is
# compiled for SMPI; the rest is the core as it is everywhere.
find_path(SMPI_INCLUDE smpi/smpi_helpers.h REQUIRED)
find_library(SIMGRID simgrid REQUIRED)
add_library(shoal_simulated MODULE bench/simulated/shoal_simulated.cpp bench/block_sizes.cpp bench/options.cpp
            bench/traffic_file.cpp bench/workload.cpp src/execute/mpi_transport.cpp)
target_include_directories(shoal_simulated SYSTEM PRIVATE ${SMPI_INCLUDE}/smpi)
target_compile_definitions(shoal_simulated PRIVATE SMPI_NO_OVERRIDE_MALLOC)
target_compile_options(shoal_simulated PRIVATE -include smpi_helpers.h)  # renames main, makes time simulated
target_link_options(shoal_simulated PRIVATE -Wl,--wrap=PMPI_Testsome)
target_link_libraries(shoal_simulated PRIVATE shoal_core ${SIMGRID})
set_target_properties(shoal_simulated PROPERTIES CXX_VISIBILITY_PRESET default)
install(TARGETS shoal_simulated DESTINATION lib/shoal/smpi COMPONENT preload)
