"""Shoal serves Fortran programs, and every call exactly once, through mpif.h, `use mpi` and `use mpi_f08`."""

import subprocess
from pathlib import Path

import pytest

from mpis import left, served

BINDINGS = ["MPIFH", "MPI", "F08"]


def exchange_flags(mpi, binding):
    """The module mpi_f08 of Debian's MPICH gets sections of arrays wrong, without Shoal too."""
    is_wrong = "mpich" in mpi.name and binding == "F08"
    return [f"-DBINDING_{binding}", "-fallow-argument-mismatch", *["-DWITHOUT_SECTIONS"] * is_wrong]


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("binding", BINDINGS)
def test_binding(fortran_mpi, compiled, binding, ranks):
    program = compiled(fortran_mpi, "exchange.F90", *exchange_flags(fortran_mpi, binding))
    settings = {"SHOAL_REPORT": 1, "SHOAL_ALLTOALL": "tuna:radix=2", "SHOAL_ALLTOALLV": "tuna:radix=3"}
    run = fortran_mpi.run(ranks, [program], **settings)
    assert (run.returncode, run.stdout.split()) == (0, ["faults:", "0"]), run.stderr
    calls = 4 if "-DWITHOUT_SECTIONS" in exchange_flags(fortran_mpi, binding) else 5
    assert served(run) == {("alltoall", "tuna:radix=2"): calls, ("alltoallv", "tuna:radix=3"): 3}


def test_program_itself_is_right(fortran_mpi, compiled):
    program = compiled(fortran_mpi, "exchange.F90", *exchange_flags(fortran_mpi, "F08"))
    run = fortran_mpi.run(3, [program], preload=False)
    assert (run.returncode, run.stdout.split()) == (0, ["faults:", "0"]), run.stderr


@pytest.mark.parametrize("binding", BINDINGS)
def test_persistent(fortran_mpi, compiled, binding):
    """Debian's MPICH serves persistent exchanges itself.

    Debian's Open MPI has none, so there the program is linked to those of the preload, which exist for mpif.h only.
    """
    is_mpich = "mpich" in fortran_mpi.name
    if not is_mpich and binding != "MPIFH":
        pytest.skip("its modules have no persistent collectives")
    flags = ["-DPERSISTENT", f"-DBINDING_{binding}", "-fallow-argument-mismatch"]
    program = compiled(fortran_mpi, "family.F90", *flags, *([] if is_mpich else [fortran_mpi.preload]))
    asked = {f"SHOAL_ALLTOALL{form}": "tuna:radix=2" for form in ("", "V", "W")}
    asked |= {f"SHOAL_NEIGHBOR_ALLTOALL{form}": "gathered" for form in ("", "V", "W")}
    run = fortran_mpi.run(3, [program], SHOAL_REPORT=1, **asked)
    assert (run.returncode, run.stdout.split()) == (0, ["faults:", "0"]), run.stderr
    names = [f"{kind}{form}" for kind in ("alltoall", "neighbor_alltoall") for form in ("", "v", "w")]
    persistent = {name: calls for name, calls in left(run).items() if name.endswith("_init")}
    assert persistent == ({f"{name}_init": 1 for name in names} if is_mpich else {})
    # Each persistent exchange runs twice. The program's other calls are one of alltoallv, and two of each other form.
    expected = dict.fromkeys(names, 4) | {"alltoallv": 3}
    assert is_mpich or {name: calls for (name, _), calls in served(run).items()} == expected


@pytest.mark.parametrize("asked", [{}, {"SHOAL_ALLTOALLW": "tuna:radix=2", "SHOAL_NEIGHBOR_ALLTOALLW": "direct"}])
def test_derived_types(fortran_mpi, compiled, asked):
    """Open MPI reads the arrays of types again when a request ends, and needs them even if there are no edges."""
    if "openmpi" not in fortran_mpi.name:
        pytest.skip("Debian's MPICH gets this program wrong, without Shoal too")
    program = compiled(fortran_mpi, "types.F90", "-fallow-argument-mismatch")
    run = fortran_mpi.run(4, [program], **asked)
    assert (run.returncode, run.stdout.split()) == (0, ["faults:", "0"]), run.stderr


def test_lists_of_types_do_not_stay(fortran_mpi, compiled):
    program = compiled(fortran_mpi, "many_types.F90", "-fallow-argument-mismatch")
    run = fortran_mpi.run(4, [program])
    assert run.returncode == 0 and int(run.stdout.split()[-1]) < 1024, run.stdout + run.stderr


@pytest.mark.parametrize("binding", BINDINGS)
def test_exchanges_in_functions_of_attributes(fortran_mpi, compiled, binding):
    """The preload knows the names by which Fortran frees communicators and ends MPI."""
    program = compiled(fortran_mpi, "callbacks.F90", f"-DBINDING_{binding}")
    run = fortran_mpi.run(2, [program], SHOAL_ALLTOALL="tuna", SHOAL_REPORT=1)
    assert (run.returncode, run.stdout) == (0, "faults: 0, exchanges in functions: 9\n" * 2), run.stderr
    assert left(run) == {"alltoall": 9}


@pytest.mark.parametrize("binding", BINDINGS)
def test_library_loaded_for_itself_alone(fortran_mpi, compiled, tmp_path, binding):
    """As Python loads its modules. Such a library has an MPI_IN_PLACE and an MPI_BOTTOM of its own."""
    flags = [*exchange_flags(fortran_mpi, binding), "-shared", "-fPIC"]
    library = compiled(fortran_mpi, "exchange.F90", *flags, "-Wl,--defsym,main_of_library=main")
    loader = tmp_path / "loader"
    subprocess.run(["cc", "-o", loader, Path(__file__).with_name("loader.c"), "-ldl"], check=True)
    run = fortran_mpi.run(2, [loader, library], SHOAL_ALLTOALL="tuna", SHOAL_ALLTOALLV="tuna", SHOAL_REPORT=1)
    assert (run.returncode, run.stdout.split()) == (0, ["faults:", "0"]), run.stderr
    calls = 4 if "-DWITHOUT_SECTIONS" in exchange_flags(fortran_mpi, binding) else 5
    assert served(run) == {("alltoall", "tuna"): calls, ("alltoallv", "tuna"): 3}
