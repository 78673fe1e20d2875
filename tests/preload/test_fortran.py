"""Fortran programs are served, and every call exactly once, through mpif.h, `use mpi` and `use mpi_f08`."""

import pytest


@pytest.mark.parametrize("ranks", [1, 3, 4])
@pytest.mark.parametrize("binding", ["MPIFH", "MPI", "F08"])
def test_binding(fortran_mpi, compiled, report, binding, ranks, tmp_path):
    program = compiled(fortran_mpi, "exchange.F90", f"-DBINDING_{binding}", "-fallow-argument-mismatch", f"-J{tmp_path}")
    settings = {"SHOAL_REPORT": 1, "SHOAL_ALLTOALL": "tuna:radix=2", "SHOAL_ALLTOALLV": "tuna:radix=3"}
    run = fortran_mpi.run(ranks, [program], **settings)
    assert (run.returncode, run.stdout.split()) == (0, ["faults:", "0"]), run.stderr
    assert report(run.stderr).calls == {("alltoall", "tuna:radix=2"): 4, ("alltoallv", "tuna:radix=3"): 3}


def test_program_itself_is_right(fortran_mpi, compiled, tmp_path):
    program = compiled(fortran_mpi, "exchange.F90", "-DBINDING_F08", f"-J{tmp_path}")
    run = fortran_mpi.run(3, [program], preload=False)
    assert (run.returncode, run.stdout.split()) == (0, ["faults:", "0"]), run.stderr
