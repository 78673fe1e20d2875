"""Profiles under the preload: Shoal does what they say, unless a setting names an algorithm."""

import re

from mpis import served

PROFILE = """format = 1
ranks = 4
[alltoall]
microseconds = [{ block = 8, native = 9, "tuna:radix=3" = 3 }, { block = 64, native = 9, "tuna:radix=3" = 3 }]
[alltoallv]
microseconds = [{ block = 0, native = 9, pairwise = 3 }, { block = 64, native = 9, pairwise = 3 }]
"""


def exchanges(mpi, compiled, path, **settings):
    run = mpi.run(4, [compiled(mpi, "exchange.c")], SHOAL_REPORT=1, SHOAL_PROFILE=path, **settings)
    assert (run.returncode, run.stdout.split()) == (0, ["faults:", "0"]), run.stderr
    return run


def test_profile_decides_from_the_first_call(mpi, compiled, tmp_path):
    (tmp_path / "profile.toml").write_text(PROFILE)
    run = exchanges(mpi, compiled, tmp_path / "profile.toml")
    assert served(run) == {("alltoall", "tuna:radix=3"): 3, ("alltoallv", "pairwise"): 2}
    tried = [line for line in run.stderr.splitlines() if line.startswith("shoal: tried for alltoall ")]
    assert len(tried) == 1 and "of 4 ranks, " in tried[0] and "tuna:radix=3 3.0 us in 2 timed calls" in tried[0]
    time = r"(0\.00 us|[1-9][\d.]* [mu]?s)"
    assert re.search(rf"shoal: learning cost {time} and gained {time}: .* of the {time} that", run.stderr)


def test_more_communicators_than_shoal_takes(one_mpi, compiled, tmp_path):
    """A communicator gets one of Shoal's own as soon as the profile's algorithm is compared on it."""
    (tmp_path / "profile.toml").write_text(PROFILE.replace("ranks = 4", "ranks = 2"))
    settings = {"SHOAL_REPORT": 1, "SHOAL_PROFILE": tmp_path / "profile.toml"}
    run = one_mpi.run(2, [compiled(one_mpi, "exchange.c"), "many"], **settings)
    assert (run.returncode, run.stdout.split()) == (0, ["faults:", "0"]), run.stderr
    assert served(run)["alltoall", "tuna:radix=3"] == 3 * 512


def test_what_is_asked_for_comes_first(one_mpi, compiled, tmp_path):
    (tmp_path / "profile.toml").write_text(PROFILE)
    run = exchanges(one_mpi, compiled, tmp_path / "profile.toml", SHOAL_ALLTOALL="bruck")
    assert served(run) == {("alltoall", "bruck"): 3, ("alltoallv", "pairwise"): 2}


def test_algorithm_that_cannot_serve_the_ranks(one_mpi, compiled, tmp_path):
    """Then the whole profile is ignored."""
    (tmp_path / "profile.toml").write_text(PROFILE.replace("tuna:radix=3", "tuna:radices=2"))
    run = exchanges(one_mpi, compiled, tmp_path / "profile.toml")
    assert ("alltoallv", "pairwise") not in served(run)
    (line,) = [line for line in run.stderr.splitlines() if "it is not used" in line]
    assert "profile.toml" in line and "tuna:radices=2" in line
