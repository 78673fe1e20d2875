# What holds for every target: C++20, Release unless asked otherwise, warnings, hidden symbols, code fit for a
# shared library.
if(NOT CMAKE_BUILD_TYPE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The core is compiled alike for every MPI and for Python, and in every checkout (with CCACHE_NOHASHDIR also with -g).
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()
add_compile_options(-Wall -Wextra -Wno-restrict)  # g++ 12 warns of overlaps in std::string where there are none
add_compile_options(-ffp-contract=off)  # so that models choose the same if a processor multiplies and adds in one step
# A job runs much of the code once, and pays for each page of it. So the code is kept small. Flags that a user has set
# stay.
if(CMAKE_CXX_FLAGS_RELEASE STREQUAL "-O3 -DNDEBUG")
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
endif()
add_compile_options(-ffunction-sections)

# The C++ runtime, linked in instead of taken from the system. The unwinder of the stack is the system's: what a
# program's error handler throws passes through Shoal, and one unwinder has to do all of it.
add_library(own_runtime OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/older_glibc.c)
set_target_properties(own_runtime PROPERTIES C_VISIBILITY_PRESET hidden)
target_compile_definitions(own_runtime PRIVATE _GNU_SOURCE)
target_link_options(own_runtime INTERFACE -static-libstdc++ -Wl,--gc-sections)

# Source files of the named directories, which may be empty.
function(shoal_sources result)
  set(patterns)
  foreach(directory IN LISTS ARGN)
    list(APPEND patterns ${CMAKE_CURRENT_SOURCE_DIR}/${directory}/*.cpp)
  endforeach()
  file(GLOB found CONFIGURE_DEPENDS ${patterns})
  foreach(file IN LISTS found)
    get_filename_component(path ${file} DIRECTORY)
    get_filename_component(directory ${path} NAME)
    string(REGEX REPLACE "^(learn|team|transport)$" "below_calls" directory ${directory})
    if(NOT file MATCHES "${names_of_others}")
      set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${directory})
    endif()
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# With SHOAL_UNITY the files of a directory are compiled as one, which takes a quarter of the time. The directories that
# need MPI and include each other's headers are one as well. (`api` and `calls` as one take g++ 12 almost twice as long
# as apart.) A file is left out if another file of these has the same name for something local.
set(names_of_others "(topology/(layout_tree|node_layout)|algorithms/radix|transport/node_window|select/contest|\
calls/native_nonblocking|python/topology_bindings)\\.cpp$")
function(shoal_unity)
  set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ${SHOAL_UNITY} UNITY_BUILD_MODE GROUP
                        UNITY_BUILD_CODE_BEFORE_INCLUDE "// NOLINTNEXTLINE(bugprone-suspicious-include)")
endfunction()
