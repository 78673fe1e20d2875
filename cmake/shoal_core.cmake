# Schedules, algorithms, models, choosing and the part of the executor that needs no MPI. In src/execute a file that needs
# MPI is named mpi_*.cpp.
shoal_sources(core_sources src/schedule src/topology src/algorithms src/model src/emit src/execute src/select)
list(FILTER core_sources EXCLUDE REGEX "/mpi_[^/]*$")
find_package(Threads REQUIRED)
find_path(TOMLPLUSPLUS toml++/toml.h DOC "Debian: libtomlplusplus-dev" REQUIRED)
add_library(shoal_core STATIC ${core_sources})
target_include_directories(shoal_core PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR}/include)
target_link_libraries(shoal_core PUBLIC Threads::Threads)
