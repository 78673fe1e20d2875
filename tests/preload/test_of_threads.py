"""Communicators that belong to threads, which MPICH has, are left to it."""

import pytest

import mpis
from mpis import left, served

# Without these MPICH has no place for a stream.
PLACES = {"MPIR_CVAR_CH4_RESERVE_VCIS": 5, "MPIR_CVAR_CH4_NUM_VCIS": 1}
ASKED = {"SHOAL_ALLTOALL": "shared", "SHOAL_ALLTOALLV": "tuna"}


# MPICH 5.0.2 cannot make communicators with several streams, without Shoal either.
@pytest.mark.parametrize(
    "name, case, threads, reason",
    [
        ("mpich", "one", 1, "a stream communicator"),
        ("mpich", "streams", 3, "a stream communicator"),
        ("mpich-4.3", "multiplex", 3, "a stream communicator"),
        ("mpich", "ranks", 3, "a communicator whose ranks are threads"),
    ],
)
@pytest.mark.parametrize("settings", [{}, ASKED], ids=["auto", "named"])
def test_communicators_of_threads(compiled, name, case, threads, reason, settings):
    mpi = next(mpi for mpi in (*mpis.WHEELS, *mpis.OTHERS) if mpi.name == name)
    run = mpi.run(
        3, [compiled(mpi, "of_threads.c", "-lpthread"), case], timeout=60, SHOAL_REPORT=1, **PLACES, **settings
    )
    assert (run.returncode, run.stdout) == (0, "faults: 0\n"), run.stderr
    assert not served(run) and "in time" not in run.stderr
    assert left(run) == {"alltoall": 200 * threads, "alltoallv": 200 * threads} and run.stderr.count(reason) == 2, (
        run.stderr
    )
