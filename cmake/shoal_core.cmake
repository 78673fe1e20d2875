# Schedules, algorithms, models, choosing and the part of the executor that needs no MPI. In src/execute a file that needs
# MPI is named mpi_*.cpp.
shoal_sources(core_sources src/schedule src/topology src/algorithms src/model src/emit src/execute src/select)
list(FILTER core_sources EXCLUDE REGEX "/mpi_[^/]*$")
find_package(Threads REQUIRED)
set(include_directories ${CMAKE_CURRENT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR}/include)
if(SHOAL_CORE)  # compiled there, once for Python and every MPI
  set(core_library ${SHOAL_CORE}/libshoal_core.a)
  add_custom_target(build_core COMMAND flock ${SHOAL_CORE} ${CMAKE_COMMAND} --build ${SHOAL_CORE} --target shoal_core
                    BYPRODUCTS ${core_library} USES_TERMINAL)
  add_library(shoal_core STATIC IMPORTED GLOBAL)
  add_dependencies(shoal_core build_core)
  set_target_properties(shoal_core PROPERTIES IMPORTED_LOCATION ${core_library})
  target_include_directories(shoal_core INTERFACE ${include_directories})
  target_link_libraries(shoal_core INTERFACE Threads::Threads)
else()
  find_path(TOMLPLUSPLUS toml++/toml.h DOC "Debian: libtomlplusplus-dev" REQUIRED)
  add_library(shoal_core STATIC ${core_sources})
  shoal_unity(shoal_core)
  target_include_directories(shoal_core PUBLIC ${include_directories})
  target_link_libraries(shoal_core PUBLIC Threads::Threads)
endif()
