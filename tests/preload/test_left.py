"""The report lists every all-to-all call that Shoal leaves to the MPI, on every MPI from MPI 3.1 on."""

import json
import sys
from collections import Counter

import pytest

import mpis
from mpis import NOTHING, left, served

EVERY = [*mpis.WHEELS, *mpis.OTHERS, mpis.INTEL]
BETWEEN_GROUPS = Counter({"alltoall": 1})
AMONG_NEIGHBORS = ("neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw")  # few: the MPI's serve


@pytest.fixture(params=EVERY, ids=lambda mpi: mpi.name, scope="module")
def every_mpi(request):
    if request.param.missing():
        pytest.skip(request.param.missing())
    return request.param


def run(mpi, command, ranks=2, **variables):
    if "impi" in mpi.name:  # programs for it were linked to MPICH
        variables["LD_LIBRARY_PATH"] = mpi.libraries
    done = mpi.run(ranks, command, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def family(done):
    """The names of the calls that the program found and made."""
    *names, faults = done.stdout.splitlines()
    assert faults == "faults: 0"
    return names


@pytest.mark.parametrize("how", [{}, {"LD_BIND_NOW": 1}], ids=["lazily", "at once"])
def test_every_call_is_told_of(every_mpi, compiled, how):
    """And the program finds no call that the MPI lacks."""
    program = compiled(every_mpi, "family.c", "-ldl")
    there = family(run(every_mpi, [program], preload=False, **how))
    done = run(every_mpi, [program], SHOAL_REPORT=1, **how)
    assert family(done) == there and len(there) >= 9
    called = Counter(name.lower().removesuffix("_c") for name in there)
    assert served(done) == {(name, "native"): called.pop(name) for name in AMONG_NEIGHBORS}
    assert left(done) == called + BETWEEN_GROUPS
    assert ("to let Shoal serve it" in done.stderr) != ("this MPI cannot move Shoal's exchanges" in done.stderr)


def test_ranks_that_are_ahead_wait_for_nobody(compiled):
    """Shoal serves the other ranks once they have caught up, however many votes they came too late for."""
    mpich = mpis.WHEELS[0]
    if mpich.missing():
        pytest.skip(mpich.missing())
    done = mpich.run(3, [compiled(mpich, "ahead.c"), 400], SHOAL_REPORT=1)
    assert done.returncode == 0, done.stderr
    assert left(done) == Counter()


# On Intel MPI no rank gets ahead, and on Open MPI the ranks wait for each other when they disconnect.
MPICHS = [mpi for mpi in EVERY if "mpich" in mpi.name]


@pytest.mark.parametrize("mpich", MPICHS, ids=lambda mpi: mpi.name)
def test_ranks_that_are_ahead_disconnect(mpich, compiled):
    """Before the others have begun the first round of a vote (after 96 calls), both rounds, or several votes."""
    if mpich.missing():
        pytest.skip(mpich.missing())
    run(mpich, [compiled(mpich, "ahead.c"), 120, 96, 97, 120, 400], timeout=60)


@pytest.mark.parametrize("mpich", MPICHS, ids=lambda mpi: mpi.name)
def test_ranks_that_stay_behind(mpich, compiled):
    """No rank waits in a vote for one that stays behind: on these ten communicators that took more than 60 s. And none
    begins a vote that others never join: it would meet the program's nonblocking collective."""
    if mpich.missing():
        pytest.skip(mpich.missing())
    run(mpich, [compiled(mpich, "lagging.c"), 10, 1200, 130, 200], ranks=3, timeout=60)


def test_file_for_programs(one_mpi, compiled, tmp_path):
    report = tmp_path / "report.json"
    done = run(one_mpi, [compiled(one_mpi, "family.c", "-ldl")], SHOAL_REPORT=report)
    told = json.loads(report.read_text())
    rows = {row["call"]: row for row in told["left"]}
    assert {row["call"] for row in told["calls"]} == set(AMONG_NEIGHBORS)
    assert sum(row["calls"] for row in [*told["left"], *told["calls"]]) == len(family(done)) + 1
    assert rows["ialltoallw"]["reason"] == "nonblocking; set SHOAL_ALLTOALLW=SPEC to let Shoal serve it"
    assert rows["ineighbor_alltoallv"]["reason"].startswith("nonblocking; set SHOAL_NEIGHBOR_ALLTOALLV=SPEC to let")
    assert rows["alltoall_init"]["reason"].startswith("persistent; its starts are not counted; set SHOAL_ALLTOALL=SPEC")
    assert rows["ialltoallw"]["seconds"] > 0


def test_nothing_is_said_unasked(one_mpi, compiled):
    assert run(one_mpi, [compiled(one_mpi, "family.c", "-ldl")]).stderr == ""


def test_none_is_told_of(every_mpi, compiled):
    done = run(every_mpi, [compiled(every_mpi, "family.c", "-ldl"), "none"], SHOAL_REPORT=1)
    assert done.stderr.splitlines()[1:] == [NOTHING]


@pytest.mark.parametrize("binding", ["MPIFH", "MPI", "F08"])
def test_fortran(fortran_mpi, compiled, binding):
    program = compiled(fortran_mpi, "family.F90", f"-DBINDING_{binding}", "-fallow-argument-mismatch")
    done = run(fortran_mpi, [program], SHOAL_REPORT=1)
    assert done.stdout.split() == ["faults:", "0"]
    assert {name for name, _ in served(done)} >= set(AMONG_NEIGHBORS)
    assert left(done) == Counter(
        ialltoall=2,
        ialltoallv=1,
        ineighbor_alltoall=1,
        ineighbor_alltoallv=1,
        ineighbor_alltoallw=1,
    )


@pytest.mark.parametrize("mpi", mpis.WHEELS, ids=lambda mpi: mpi.name)
def test_mpi4py(mpi, tmp_path):
    """mpi4py loads the MPI itself, and then looks up the newer functions by name."""
    if mpi.missing():
        pytest.skip(mpi.missing())
    program = tmp_path / "program.py"
    program.write_text(
        "from mpi4py import MPI\n"
        "import numpy\n"
        "all = MPI.COMM_WORLD\n"
        "sent, got = numpy.arange(all.size), numpy.zeros(all.size, int)\n"
        "all.Ialltoall(sent, got).Wait()\n"
        "all.Ialltoallv(sent, got).Wait()\n"
        "request = all.Alltoall_init(sent, got)\n"
        "request.Start(); request.Wait(); request.Free()\n"
        "assert (got == all.rank).all()\n"
    )
    done = run(mpi, [sys.executable, program], SHOAL_REPORT=1, MPI4PY_LIBMPI=mpi.libraries)
    assert left(done) == Counter(ialltoall=1, ialltoallv=1, alltoall_init=1)
    program.write_text("from mpi4py import MPI\nMPI.COMM_WORLD.Barrier()\n")
    done = run(mpi, [sys.executable, program], SHOAL_REPORT=1, MPI4PY_LIBMPI=mpi.libraries)
    assert done.stderr.splitlines()[1:] == [NOTHING]
