"""A preload serves every MPI of the ABI it was built for."""

import dataclasses
import shutil
import subprocess

import pytest

import mpis
from mpis import served

MPICH, OPEN_MPI = mpis.WHEELS
DEBIAN_OPEN_MPI = mpis.DEBIAN[1]
SETTINGS = {"SHOAL_ALLTOALL": "tuna", "SHOAL_ALLTOALLV": "tuna", "SHOAL_REPORT": 1}


def need(mpi):
    if mpi.missing():
        pytest.skip(mpi.missing())


def run(mpi, program, **environment):
    done = mpi.run(3, [program], **SETTINGS, **environment)
    assert (done.returncode, done.stdout.split()) == (0, ["faults:", "0"]), done.stderr
    return served(done)


def test_intel_mpi_by_the_one_for_mpich(compiled):
    """A program built for MPICH runs on Intel MPI. LD_LIBRARY_PATH says which MPI to load."""
    need(mpis.INTEL)
    need(MPICH)
    calls = run(mpis.INTEL, compiled(MPICH, "exchange.c"), LD_LIBRARY_PATH=mpis.INTEL.libraries)
    assert calls == {("alltoall", "tuna"): 3, ("alltoallv", "tuna"): 2}


@pytest.mark.skipif(not shutil.which("gfortran"), reason="there is no gfortran")
def test_fortran_on_intel_mpi(tmp_path):
    """Its Fortran wrappers call the C functions: each call is served once."""
    need(mpis.INTEL)
    home, program = mpis.INTEL.home, tmp_path / "exchange"
    source = mpis.ROOT / "tests/preload/exchange.F90"
    options = ["-w", "-fallow-argument-mismatch", "-DBINDING_MPIFH", f"-I{home}/include", f"-L{home}/lib"]
    libraries = ["-lmpifort", "-lmpi", f"-Wl,-rpath,{home}/lib"]
    subprocess.run(["gfortran", *options, source, "-o", program, *libraries], check=True)
    calls = run(mpis.INTEL, program, LD_LIBRARY_PATH=mpis.INTEL.libraries)
    assert calls == {("alltoall", "tuna"): 5, ("alltoallv", "tuna"): 3}


@pytest.mark.parametrize("home", [mpis.STANDARD, mpis.INTEL], ids=lambda mpi: mpi.home.name)
def test_standard_abi(compiled, home):
    """A program built by mpicc_abi, with one preload on MPICH and on Intel MPI."""
    need(mpis.STANDARD)
    need(home)
    program = compiled(mpis.STANDARD, "exchange.c")
    serving = dataclasses.replace(home, built_as=mpis.STANDARD.name)
    calls = run(serving, program, LD_LIBRARY_PATH=home.libraries)
    assert calls == {("alltoall", "tuna"): 3, ("alltoallv", "tuna"): 2}


def test_open_mpi_4_by_the_one_for_open_mpi_5(compiled):
    need(DEBIAN_OPEN_MPI)
    need(OPEN_MPI)
    program = compiled(DEBIAN_OPEN_MPI, "exchange.F90", "-DBINDING_F08", "-fallow-argument-mismatch")
    calls = run(dataclasses.replace(DEBIAN_OPEN_MPI, built_as=OPEN_MPI.name), program)
    assert calls == {("alltoall", "tuna"): 5, ("alltoallv", "tuna"): 3}
