"""Scratch memory: a limit that all ranks keep to, and its end on one rank."""

import pytest

from mpis import served

RANKS, NOBODY = 4, -1
TUNA = {"SHOAL_ALLTOALLV": "tuna:radix=2", "SHOAL_REPORT": 1}


def exchange(mpi, compiled, refusing, **settings):
    return mpi.run(RANKS, [compiled(mpi, "scratch.c"), refusing], **(TUNA | settings))


def limited(run, algorithm, words):
    """The results are right, by this algorithm, with one line of warning."""
    assert (run.returncode, run.stdout) == (0, "code 0 wrong 0\n"), run.stderr
    assert served(run) == {("alltoallv", algorithm): 1}
    warned = [line for line in run.stderr.splitlines() if "SHOAL_MAX_TEMP" in line]
    assert len(warned) == bool(words) and all(word in line for word in words for line in warned), run.stderr


def test_without_a_limit(mpi, compiled):
    limited(exchange(mpi, compiled, NOBODY), "tuna:radix=2", [])


def test_within_the_limit(mpi, compiled):
    limited(exchange(mpi, compiled, NOBODY, SHOAL_MAX_TEMP="2M"), "tuna:radix=2", [])


@pytest.mark.parametrize("refusing", range(RANKS))
def test_beyond_the_limit_all_ranks_send_straight(mpi, compiled, refusing):
    """Which needs no memory, so it does not matter that one rank has none."""
    run = exchange(mpi, compiled, refusing, SHOAL_MAX_TEMP="200K")
    limited(run, "spread_out", ["tuna:radix=2 may need", "allows 204800", "using spread_out"])


@pytest.mark.parametrize("refusing", [0, RANKS - 1])
def test_memory_exhausted_on_one_rank_ends_the_job(mpi, compiled, refusing, tmp_path):
    """Although the program wants errors returned: the others wait for that rank's blocks.

    What ranks say goes to a file: MPICH's launcher may end before it has passed on an aborting rank's words.
    """
    said = tmp_path / "said"
    into_file = f'exec "$0" "$@" 2>>{said}'
    run = mpi.run(RANKS, ["sh", "-c", into_file, compiled(mpi, "scratch.c"), refusing], **TUNA)
    assert run.returncode not in (0, 124, 137), run.stdout + run.stderr
    assert "out of memory" in said.read_text() and "SHOAL_MAX_TEMP" in said.read_text()
