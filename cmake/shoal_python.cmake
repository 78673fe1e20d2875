# The module shoal._core of the Python package; pyproject.toml builds it. One build serves every Python from 3.11 on:
# what differs between them is in the package nanobind-backend.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
find_package(nanobind CONFIG REQUIRED)
shoal_sources(python_sources src/python)
nanobind_add_module(_core BACKEND_MODULE nanobind_backend ${python_sources})
shoal_unity(_core)
target_compile_options(_core PRIVATE -O1)  # the module only passes calls on
target_link_libraries(_core PRIVATE shoal_core own_runtime)
target_link_options(_core PRIVATE -Wl,--exclude-libs,ALL)  # leaves another C++ runtime in the same Python alone
install(TARGETS _core DESTINATION shoal COMPONENT python)
if(SHOAL_PRELOADS)  # the preloads of all ABIs, for a wheel
  install(DIRECTORY ${SHOAL_PRELOADS}/ DESTINATION shoal/preload COMPONENT preload USE_SOURCE_PERMISSIONS)
endif()
