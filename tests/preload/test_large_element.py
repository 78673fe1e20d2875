"""Elements of more than 2 GiB. They take several GiB of memory, so this runs only with SHOAL_EXHAUSTIVE=1."""

import os

import pytest

from mpis import left, served


@pytest.mark.skipif(os.environ.get("SHOAL_EXHAUSTIVE") != "1", reason="takes several GiB of memory")
@pytest.mark.parametrize("algorithm", ["tuna:radix=2", "shared"])
def test_elements_arrive(mpi, compiled, algorithm):
    done = mpi.run(2, [compiled(mpi, "large_element.c")], SHOAL_ALLTOALLV=algorithm, SHOAL_REPORT=1)
    assert (done.returncode, done.stdout) == (0, "faults: 0\n"), done.stdout + done.stderr
    assert served(done) == {("alltoallv", algorithm): 4} and not left(done)
