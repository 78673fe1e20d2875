"""Exchanges beside what else a job does meanwhile: one-sided communication, files, and many ranks on few cores."""

import pytest

from mpis import served

ALGORITHMS = pytest.mark.parametrize("algorithm", ["shared", "tuna:radix=2", "auto"])


@ALGORITHMS
def test_one_sided_communication(mpi, compiled, algorithm):
    is_right(mpi.run(3, [compiled(mpi, "beside.c"), 3], SHOAL_ALLTOALL=algorithm, SHOAL_REPORT=1), algorithm)


@ALGORITHMS
def test_files(mpi, compiled, algorithm, tmp_path):
    run = mpi.run(3, [compiled(mpi, "beside.c"), 20, tmp_path / "file"], SHOAL_ALLTOALL=algorithm, SHOAL_REPORT=1)
    is_right(run, algorithm)


def is_right(run, algorithm):
    """All that arrived was right, and the algorithm served all exchanges if it was named."""
    assert (run.returncode, run.stdout) == (0, "faults: 0\n"), run.stdout + run.stderr
    assert algorithm == "auto" or {by for _, by in served(run)} == {algorithm}, run.stderr


def test_48_ranks_on_one_node(mpi, compiled):
    named = {"SHOAL_ALLTOALL": "tuna:radix=2", "SHOAL_ALLTOALLV": "shared"}
    run = mpi.run(48, [compiled(mpi, "exchange.c")], **named, SHOAL_REPORT=1)
    assert (run.returncode, run.stdout) == (0, "faults: 0\n"), run.stderr
    assert served(run) == {("alltoall", "tuna:radix=2"): 3, ("alltoallv", "shared"): 2}
