"""The memory that ranks of a node share, in programs: killed ranks leave nothing, and without it messages do."""

import time
from pathlib import Path

import pytest

from mpis import served

SHARED = {"SHOAL_ALLTOALL": "shared", "SHOAL_ALLTOALLV": "hierarchical:local=shared", "SHOAL_REPORT": 1}


def is_running(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_rank_killed_in_an_exchange(mpi, compiled):
    """The job ends, and with its processes the memory, which has no name."""
    before = set(Path("/dev/shm").iterdir())
    run = mpi.run(4, [compiled(mpi, "killed.c")], timeout=60, **SHARED)
    assert run.returncode not in (0, 124), run.stderr  # neither by itself nor by `timeout`
    processes = [int(line.split()[1]) for line in run.stdout.splitlines() if line.startswith("process")]
    assert len(processes) == 4
    end = time.monotonic() + 30
    while any(map(is_running, processes)) and time.monotonic() < end:
        pass
    assert not any(map(is_running, processes))
    assert not [path for path in set(Path("/dev/shm").iterdir()) - before if "shoal" in path.name]


@pytest.mark.parametrize("place, flags", [(0, ["-DMAKING"]), (3, [])], ids=["cannot be made", "cannot be opened"])
def test_memory_that_one_rank_cannot_have(mpi, compiled, place, flags):
    """No rank has any, after one warning."""
    hindered = compiled(mpi, "no_memory.c", "-shared", "-fPIC", *flags)
    program = [compiled(mpi, "exchange.c")]
    parts = [mpi.ranks(1, program, before=[hindered] if rank == place else [], **SHARED) for rank in range(4)]
    run = mpi.launch(*parts)
    assert (run.returncode, run.stdout.splitlines()[-1]) == (0, "faults: 0"), run.stderr  # UCX complains before
    said = [line for line in run.stderr.splitlines() if "no memory can be shared" in line]
    assert len(said) == 1 and said[0].endswith("blocks travel as messages"), run.stderr
    assert served(run) == {("alltoall", "shared"): 3, ("alltoallv", "hierarchical:local=shared"): 2}
