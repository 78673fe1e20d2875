"""Communicators that belong to threads, which MPICH has, are left to it."""

import pytest

import mpis
from mpis import left, served

MPICH = mpis.WHEELS[0]
# Without these MPICH has no place for a stream.
PLACES = {"MPIR_CVAR_CH4_RESERVE_VCIS": 5, "MPIR_CVAR_CH4_NUM_VCIS": 1}


@pytest.mark.parametrize("case, reason", [("streams", "a stream communicator"), ("ranks", "whose ranks are threads")])
@pytest.mark.parametrize(
    "settings", [{}, {"SHOAL_ALLTOALL": "shared", "SHOAL_ALLTOALLV": "tuna"}], ids=["auto", "named"]
)
def test_communicators_of_threads(compiled, case, reason, settings):
    run = MPICH.run(3, [compiled(MPICH, "of_threads.c", "-lpthread"), case], SHOAL_REPORT=1, **PLACES, **settings)
    assert (run.returncode, run.stdout) == (0, "faults: 0\n"), run.stderr
    assert not served(run) and "in time" not in run.stderr
    assert left(run) == {"alltoall": 600, "alltoallv": 600} and run.stderr.count(reason) == 2, run.stderr
