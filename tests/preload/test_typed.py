"""MPI_Alltoallw under the preload, on every MPI: served as asked for, tried, verified, recorded and reported."""

import pytest

import mpis
from mpis import left, served

EVERY = [*mpis.WHEELS, *mpis.OTHERS, mpis.INTEL, mpis.STANDARD]


@pytest.fixture(params=EVERY, ids=lambda mpi: mpi.name, scope="module")
def every_mpi(request):
    if request.param.missing():
        pytest.skip(request.param.missing())
    return request.param


def run(mpi, ranks, program, times=1, **settings):
    if "impi" in mpi.name:  # programs for it were linked to MPICH
        settings["LD_LIBRARY_PATH"] = mpi.libraries
    done = mpi.run(ranks, [program, times], **settings)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "faults: 0", done.stdout + done.stderr
    return done


@pytest.mark.parametrize("spec", ["tuna:radix=2", "shared", "pairwise"])
def test_is_served_as_asked_for(every_mpi, compiled, spec):
    program = compiled(every_mpi, "typed.c", "-ldl")
    done = run(every_mpi, 4, program, SHOAL_ALLTOALLW=spec, SHOAL_VERIFY=1, SHOAL_REPORT=1)
    wide = int("wide" in done.stdout)
    assert served(done) == {("alltoallw", spec): 3 + wide}
    assert left(done) == {"alltoallw": 1}


def test_is_right_without_shoal(every_mpi, compiled):
    program = compiled(every_mpi, "typed.c", "-ldl")
    settings = {"LD_LIBRARY_PATH": every_mpi.libraries} if "impi" in every_mpi.name else {}
    done = every_mpi.run(4, [program, 1], preload=False, **settings)
    assert done.returncode == 0, done.stdout + done.stderr


def test_first_calls_are_the_mpis_own(mpi, compiled):
    done = run(mpi, 2, compiled(mpi, "typed.c", "-ldl"), SHOAL_REPORT=1)
    assert set(served(done)) == {("alltoallw", "native")}


def test_others_are_asked_for_apart(mpi, compiled):
    done = run(mpi, 2, compiled(mpi, "typed.c", "-ldl"), SHOAL_ALLTOALL="tuna", SHOAL_ALLTOALLV="tuna", SHOAL_REPORT=1)
    assert set(served(done)) == {("alltoallw", "native")}


def test_many_are_right_whoever_serves(mpi, compiled):
    done = run(mpi, 2, compiled(mpi, "typed.c", "-ldl"), times=2000, SHOAL_REPORT=1)
    assert ("alltoallw", "native") in served(done) and set(served(done)) <= {
        ("alltoallw", by) for by in ("native", "shared")
    }


def test_who_wants_a_report_changes_nothing(mpi, compiled):
    """Even if one rank alone wants a report, all ranks learn the same in the same calls."""
    command = [compiled(mpi, "typed.c", "-ldl"), 4000]
    done = mpi.launch(mpi.ranks(1, command, SHOAL_REPORT=1), mpi.ranks(1, command))
    assert done.returncode == 0 and "faults: 0" in done.stdout, done.stdout + done.stderr


def test_is_recorded(mpi, compiled, tmp_path):
    record = tmp_path / "traffic.mtx"
    run(mpi, 2, compiled(mpi, "typed.c", "-ldl"), SHOAL_RECORD=record)
    calls = record.read_text().splitlines()[1]
    assert "on average over" in calls and len(record.read_text().splitlines()) == 3 + 4


@pytest.mark.parametrize("binding", ["MPIFH", "MPI", "F08"])
def test_fortran(fortran_mpi, compiled, binding):
    program = compiled(fortran_mpi, "family.F90", f"-DBINDING_{binding}", "-fallow-argument-mismatch")
    done = fortran_mpi.run(2, [program], SHOAL_ALLTOALLW="tuna:radix=2", SHOAL_REPORT=1)
    assert done.stdout.split() == ["faults:", "0"], done.stdout + done.stderr
    among_neighbours = {(f"neighbor_{what}", "native"): 1 for what in ("alltoall", "alltoallv", "alltoallw")}
    assert served(done) == {("alltoallw", "tuna:radix=2"): 2, **among_neighbours}
