"""Calls that only have to be counted: the preload counts them, and passes them to the MPI past the drop-in library."""

PASSED = """\
equal: 7 of 10
growing: 0 of 10
in place: 0 of 10
sized: 7 of 10
refused: 7 of 10
among neighbors: 10 of 10
allgather in one group: 10 of 10
allgather between two groups: 9 of 10
allgatherv between two groups: 9 of 10
refused between two groups: 9 of 10
own type: 0 of 10
own type between two groups: 0 of 10
with error handlers: 0 of 10
allgather with error handlers: 0 of 10
"""  # the first call of ten is not like another, and the last two are timed


def test_calls_that_repeat_go_to_the_mpi(mpi, compiled):
    """Not those whose arguments differ, or might; and none if an error handler might throw."""
    done = mpi.run(3, [compiled(mpi, "passing.c", "-ldl", "-rdynamic")])
    assert (done.returncode, done.stdout) == (0, PASSED), done.stderr


def test_every_call_is_seen_if_somebody_watches(mpi, compiled):
    done = mpi.run(3, [compiled(mpi, "passing.c", "-ldl", "-rdynamic")], SHOAL_REPORT=1)
    assert (done.returncode, done.stdout.count(": 0 of 10")) == (0, 13), done.stdout + done.stderr
