"""Scratch memory: a limit that all ranks keep to, and a rank that runs out of it."""

import re

import pytest

from mpis import served

RANKS, NOBODY = 4, -1
TUNA = {"SHOAL_ALLTOALLV": "tuna:radix=2", "SHOAL_REPORT": 1}


def exchange(mpi, compiled, refusing, **settings):
    return mpi.run(RANKS, [compiled(mpi, "scratch.c"), refusing], **(TUNA | settings))


def limited(run, algorithm, words):
    """Asserts right results by this algorithm, and one warning with these words if there are any."""
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
    """Sending straight needs no scratch memory, so it does not matter that one rank has none."""
    run = exchange(mpi, compiled, refusing, SHOAL_MAX_TEMP="200K")
    limited(run, "spread_out", ["tuna:radix=2 may need", "allows 204800", "using spread_out"])


def test_what_the_limit_forbids_is_not_compared(one_mpi, compiled, tmp_path):
    """Though wisdom says that it is fast. The times of what serves instead do not count as its times."""
    job = {"SHOAL_LAYOUT": "1,1,1,1", "SHOAL_WISDOM": tmp_path / "wisdom", "SHOAL_REPORT": 1}
    one_mpi.run(RANKS, [compiled(one_mpi, "limited.c")], **job)
    learnt = 'nodes = 4, \\1, calls = 90000, microseconds = { "native" = [900000, 9], "tuna:radix=2" = [1, 9] }'
    known = re.sub(r"nodes = \d+, (.*), calls = \d+, microseconds = {[^}]*}", learnt, job["SHOAL_WISDOM"].read_text())
    job["SHOAL_WISDOM"].write_text(known)
    run = one_mpi.run(RANKS, [compiled(one_mpi, "limited.c")], SHOAL_MAX_TEMP="1000", **job)
    tried = [line for line in run.stderr.splitlines() if line.startswith("shoal: tried for")]
    assert (run.returncode, run.stdout) == (0, "faults: 0\n") and len(tried) == 2, run.stderr
    assert all("tuna:radix=2 1.0 us in 2 timed calls" in line for line in tried), run.stderr
    assert "SHOAL_MAX_TEMP allows 1000" in run.stderr


@pytest.mark.parametrize("refusing", [0, RANKS - 1])
def test_memory_exhausted_on_one_rank_ends_the_job(mpi, compiled, refusing, tmp_path):
    """Although the program wants errors returned, because the others wait for that rank's blocks.

    What ranks say goes to a file: MPICH's launcher may end before it has passed on an aborting rank's words.
    """
    said = tmp_path / "said"
    into_file = f'exec "$0" "$@" 2>>{said}'
    run = mpi.run(RANKS, ["sh", "-c", into_file, compiled(mpi, "scratch.c"), refusing], **TUNA)
    assert run.returncode not in (0, 124, 137), run.stdout + run.stderr
    assert "out of memory" in said.read_text() and "SHOAL_MAX_TEMP" in said.read_text()
