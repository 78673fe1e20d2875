"""The memory that ranks of a node share: killed ranks leave none behind, and without it blocks travel as messages."""

import errno
import os
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
    """The job ends. The memory has no name, so it goes with the processes."""
    before = set(Path("/dev/shm").iterdir())
    run = mpi.run(4, [compiled(mpi, "killed.c")], **SHARED)
    assert run.returncode not in (0, 124), run.stderr  # neither by itself nor by `timeout`
    processes = [int(line.split()[1]) for line in run.stdout.splitlines() if line.startswith("process")]
    assert len(processes) == 4
    end = time.monotonic() + 30
    while any(map(is_running, processes)) and time.monotonic() < end:
        pass
    assert not any(map(is_running, processes))
    assert not [path for path in set(Path("/dev/shm").iterdir()) - before if "shoal" in path.name]


def run_hindered(mpi, compiled, place, flags, what, **also):
    """Exchanges between four ranks. For the one at `place` the system refuses what `flags` say (no_memory.c)."""
    hindered = compiled(mpi, "no_memory.c", "-shared", "-fPIC", *flags)
    program = [compiled(mpi, "exchange.c"), what]
    parts = [mpi.ranks(1, program, before=[hindered] if rank == place else [], **SHARED, **also) for rank in range(4)]
    run = mpi.launch(*parts)
    assert (run.returncode, run.stdout.splitlines()[-1]) == (0, "faults: 0"), run.stderr  # UCX complains first
    assert served(run) == {("alltoall", "shared"): 3, ("alltoallv", "hierarchical:local=shared"): 2}
    return run


@pytest.mark.parametrize("place, flags", [(0, ["-DMAKING"]), (3, [])], ids=["cannot be made", "cannot be opened"])
def test_memory_that_one_rank_cannot_have(mpi, compiled, place, flags):
    """Then no rank has any, and there is one warning."""
    run = run_hindered(mpi, compiled, place, flags, "world")
    said = [line for line in run.stderr.splitlines() if "cannot share memory" in line]
    assert len(said) == 1 and said[0].endswith("blocks travel as messages"), run.stderr


def test_larger_memory_that_cannot_be_made(mpi, compiled):
    """Ranks do not ask for it again. Whether they ask at all depends on what they measure."""
    run = mpi.run(4, [compiled(mpi, "growing.c", "-rdynamic")])
    assert run.stdout in ("faults: 0, refused: 0\n", "faults: 0, refused: 1\n"), run.stdout + run.stderr


def test_memory_that_one_rank_may_not_read(mpi, compiled):
    """Then long blocks are copied through the shared memory like others, on every rank."""
    run = run_hindered(mpi, compiled, 3, ["-DREADING"], "large", MPIR_CVAR_CH4_CMA_ENABLE=0)  # else MPICH itself ends
    assert "cannot share memory" not in run.stderr, run.stderr


@pytest.mark.parametrize("error", [errno.EFAULT, errno.EPERM, errno.ESRCH], ids=errno.errorcode.get)
def test_memory_of_others_that_cannot_be_read(mpi, compiled, error):
    """Blocks that the kernel does not read travel in pieces. If their process is gone, an error says so."""
    run = mpi.run(3, [compiled(mpi, "unreadable.c", "-rdynamic"), error], **SHARED)
    failed = (
        "none"
        if error != errno.ESRCH
        else f"shoal: cannot read a block from the memory of the rank that sent it: {os.strerror(error)}"
    )
    assert (run.returncode, run.stdout) == (0, f"wrong: 0, refused: some, failed: {failed}\n" * 3), run.stderr
