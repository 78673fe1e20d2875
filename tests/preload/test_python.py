"""shoal.alltoallv() and its like, on mpi4py's communicators and buffers, without the preload and under it."""

import sys

import pytest

from mpis import ROOT, served

EXCHANGES = ROOT / "tests/preload/exchanges.py"


def run(mpi, ranks, program, *arguments, **how):
    pytest.importorskip("mpi4py")
    command = [sys.executable, program, *arguments]
    done = mpi.run(ranks, command, MPI4PY_LIBMPI=mpi.libraries, **how)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.mark.parametrize("ranks", [1, 2, 5])
@pytest.mark.parametrize("preload", [False, True])
def test_as_mpi4pys_own(mpi, ranks, preload):
    assert run(mpi, ranks, EXCHANGES, preload=preload).stdout == "faults: 0\n"


def test_one_library_serves_both(mpi):
    """The program's calls through MPI's names and through Shoal's are in one report."""
    done = run(mpi, 2, EXCHANGES, SHOAL_REPORT=1, SHOAL_ALLTOALL="tuna:radix=2")
    assert done.stderr.count("exchanges as rank 0 saw them") == 1
    assert served(done)["alltoall", "tuna:radix=2"] >= 11


def test_examples(mpi):
    done = run(mpi, 3, ROOT / "examples/python/exchange.py", "tuna:radix=2", preload=False)
    assert done.stdout == "0 wrong items; exchanged by tuna:radix=2: asked for\n"
    done = run(mpi, 3, ROOT / "examples/python/exchange.py", preload=False)
    assert done.stdout == "0 wrong items; exchanged by native: after 1 call, nothing timed yet\n"
    done = run(mpi, 3, ROOT / "examples/python/particles.py", preload=False)
    assert done.stdout == "3000 particles of 3000 are where they belong\n"
    done = run(mpi, 3, ROOT / "examples/python/smoothing.py", preload=False, SHOAL_NEIGHBOR_ALLTOALL="gathered")
    assert done.stdout == "0 of 300 numbers are wrong\n"
