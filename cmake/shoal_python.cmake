# The module shoal._core of the Python package; pyproject.toml builds it.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
find_package(nanobind CONFIG REQUIRED)
shoal_sources(python_sources src/python)
nanobind_add_module(_core NB_STATIC ${python_sources})
target_link_libraries(_core PRIVATE shoal_core)
install(TARGETS _core DESTINATION shoal COMPONENT python)
