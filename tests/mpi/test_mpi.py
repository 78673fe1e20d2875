"""mpi_tests, one MPI program, on each MPI and several numbers of ranks; most have more ranks than cores."""

import pytest

import mpis

RANKS = [1, 2, 3, 4, 5, 7, 8, 13]


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("mpi", [pytest.param(mpi, id=mpi.name) for mpi in mpis.WHEELS])
def test_all(mpi, ranks):
    run = mpi.run(ranks, [mpi.build / "mpi_tests", "--gtest_brief=1"], preload=False, timeout=300)
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-5000:]
    assert f" on {ranks} ranks" in run.stdout
