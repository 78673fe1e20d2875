"""Nonblocking and persistent all-to-alls behind requests of the MPI's own, where an algorithm is asked for."""

import pytest

import mpis
from mpis import left, served

ASKED = {"SHOAL_ALLTOALL": "tuna:radix=2", "SHOAL_ALLTOALLV": "tuna:radix=2"}
NONBLOCKING = ["wait_in_any_order", "go_on", "free_early", "mix_with_blocking", "use_threads"]


def run(mpi, compiled, ranks, *arguments, **variables):
    program = compiled(mpi, "requests.c", "-lpthread")
    done = mpi.run(ranks, [program, *arguments], timeout=300, SHOAL_REPORT=1, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == ["faults:", "0"]
    return done


@pytest.mark.parametrize("ranks", [2, 3, 5])
@pytest.mark.parametrize("part", NONBLOCKING)
def test_nonblocking(mpi, compiled, part, ranks):
    done = run(mpi, compiled, ranks, part, **ASKED)
    assert not left(done) and set(served(done)) == {("alltoall", "tuna:radix=2"), ("alltoallv", "tuna:radix=2")}


@pytest.mark.parametrize("ranks", [2, 4])
def test_persistent(mpi, compiled, ranks):
    done = run(mpi, compiled, ranks, "repeat", 50, **ASKED)
    assert not left(done) and served(done)["alltoallv", "tuna:radix=2"] == 150


@pytest.mark.parametrize("algorithm", ["spread_out", "pairwise", "hierarchical", "shared", "two_phase"])
def test_other_algorithms(mpi, compiled, algorithm):
    asked = {"SHOAL_ALLTOALL": algorithm, "SHOAL_ALLTOALLV": algorithm, "SHOAL_LAYOUT": "2,2"}
    for part in ("wait_in_any_order", "repeat"):
        assert not left(run(mpi, compiled, 4, part, 5, **asked))


def test_results_are_compared(mpi, compiled):
    for part in ("wait_in_any_order", "repeat"):
        assert "verified" in run(mpi, compiled, 3, part, 5, **ASKED, SHOAL_VERIFY=1).stderr


def test_mistakes_are_told(mpi, compiled):
    run(mpi, compiled, 3, "mistake", 2, **ASKED)


def test_limited_memory_is_for_the_mpi(mpi, compiled):
    done = run(mpi, compiled, 3, "free_early", 5, **ASKED, SHOAL_MAX_TEMP="64M")
    assert not served(done)


@pytest.mark.parametrize("part", NONBLOCKING)
def test_unasked(mpi, compiled, part):
    done = run(mpi, compiled, 2, part, 3)
    assert left(done)["ialltoallv"] > 0 and left(done)["ialltoall"] > 0


def test_left_under_way(mpi, compiled):
    """Which MPI forbids: no crash, if the MPI itself ends."""
    program = compiled(mpi, "requests.c", "-lpthread")
    done = mpi.run(2, [program, "leave_open"], timeout=60, **ASKED)
    assert "faults: 0" in done.stdout
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["mpich-3.4.3", "mpich-4.0", "mpich-4.3", "openmpi-4.1", "impi"])
def test_other_mpis(compiled, name):
    """Those that do not move what others have under way serve such calls themselves."""
    mpi = next(one for one in [*mpis.OTHERS, mpis.INTEL] if one.name == name)
    if mpi.missing():
        pytest.skip(mpi.missing())
    variables = {"LD_LIBRARY_PATH": mpi.libraries} if "impi" in name else {}
    for part in NONBLOCKING:
        done = run(mpi, compiled, 3, part, 5, **ASKED, **variables)
        is_served = name in ("mpich-4.3", "openmpi-4.1")
        assert bool(left(done)) != is_served
