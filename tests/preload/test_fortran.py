"""Fortran programs are served, and every call exactly once, through mpif.h, `use mpi` and `use mpi_f08`."""

import pytest

from mpis import served


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("binding", ["MPIFH", "MPI", "F08"])
def test_binding(fortran_mpi, compiled, binding, ranks):
    program = compiled(fortran_mpi, "exchange.F90", f"-DBINDING_{binding}", "-fallow-argument-mismatch")
    settings = {"SHOAL_REPORT": 1, "SHOAL_ALLTOALL": "tuna:radix=2", "SHOAL_ALLTOALLV": "tuna:radix=3"}
    run = fortran_mpi.run(ranks, [program], **settings)
    assert (run.returncode, run.stdout.split()) == (0, ["faults:", "0"]), run.stderr
    assert served(run) == {("alltoall", "tuna:radix=2"): 4, ("alltoallv", "tuna:radix=3"): 3}


def test_program_itself_is_right(fortran_mpi, compiled):
    program = compiled(fortran_mpi, "exchange.F90", "-DBINDING_F08")
    run = fortran_mpi.run(3, [program], preload=False)
    assert (run.returncode, run.stdout.split()) == (0, ["faults:", "0"]), run.stderr
