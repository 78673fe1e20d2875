"""Allgathers of unmodified programs: Shoal serves those between two groups, the MPI those within one group."""

import pytest

from mpis import served, warnings

SPECS = {"SHOAL_ALLGATHER": "ring", "SHOAL_ALLGATHERV": "full", "SHOAL_REPORT": 1}


def right(run):
    assert (run.returncode, run.stdout.split()) == (0, ["faults:", "0"]), run.stderr
    return run


@pytest.mark.parametrize("ranks", [2, 5, 8])
def test_served(mpi, compiled, ranks):
    run = right(mpi.run(ranks, [compiled(mpi, "allgather.c")], **SPECS))
    assert served(run) == {("allgather", "ring"): 3, ("allgatherv", "full"): 2}


def test_chosen(mpi, compiled):
    run = right(mpi.run(5, [compiled(mpi, "allgather.c"), "4"], SHOAL_REPORT=1))
    assert sum(calls for (collective, _), calls in served(run).items() if collective == "allgather") == 12
    assert not warnings(run)


@pytest.mark.parametrize("network, spec", [("ring", "ring"), ("torus:2x2", "torus:shape=2x2")])
def test_network(one_mpi, compiled, network, spec):
    run = right(one_mpi.run(4, [compiled(one_mpi, "allgather.c")], SHOAL_NETWORK=network, SHOAL_REPORT=1))
    assert served(run)["allgather", spec] == 3


@pytest.mark.parametrize("network, words", [("torus:3x2", ["torus:3x2", "6 ranks"]), ("mesh", ["mesh", "torus"])])
def test_network_that_does_not_fit(one_mpi, compiled, network, words):
    run = right(one_mpi.run(4, [compiled(one_mpi, "allgather.c")], SHOAL_NETWORK=network, SHOAL_REPORT=1))
    assert len(warnings(run)) == 1 and all(word in warnings(run)[0] for word in words), run.stderr


def test_verified(mpi, compiled):
    run = right(mpi.run(5, [compiled(mpi, "allgather.c")], SHOAL_VERIFY=1, **SPECS))
    assert "shoal: verified 5 exchanges" in run.stderr


def test_differing_sizes_are_an_error(mpi, compiled):
    right(mpi.run(5, [compiled(mpi, "allgather.c"), "differ"], **SPECS))


def test_program_itself_is_right(mpi, compiled):
    right(mpi.run(5, [compiled(mpi, "allgather.c")], preload=False))


@pytest.mark.parametrize("binding", ["MPIFH", "MPI", "F08"])
def test_fortran(fortran_mpi, compiled, binding):
    program = compiled(fortran_mpi, "allgather.F90", f"-DBINDING_{binding}", "-fallow-argument-mismatch")
    run = right(fortran_mpi.run(5, [program], **SPECS))
    assert served(run) == {("allgather", "ring"): 2, ("allgatherv", "full"): 1}
