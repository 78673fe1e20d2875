"""No exception leaves a function that the drop-in library exports, whenever its memory runs out."""

import subprocess

import pytest

import mpis

EVERY = [*mpis.WHEELS, mpis.STANDARD, *(mpi for mpi in mpis.OTHERS if mpi.name == "mpich-3.4.3")]
ENDS_MPICH = "MPIX_Stream_comm_create_multiplex"  # 5.0.2, also without Shoal
FORMS = ("", "V", "W")
ASKED = {
    f"SHOAL_{among}ALLTOALL{form}": by
    for among, by in (("", "tuna:radix=2"), ("NEIGHBOR_", "direct"))
    for form in FORMS
}


def functions(mpi):
    """What the library has besides the functions of shoal.h, for which mpi_tests has such a test."""
    library = mpi.preload.with_name("libshoal-drop-in.so")
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    names = sorted({line.split()[-1] for line in listed.splitlines()} - {ENDS_MPICH})
    return [name for name in names if name.startswith("shoal_preload_") or not name.startswith("shoal_")]


@pytest.mark.parametrize(
    "settings",
    [{}, {"SHOAL_REPORT": 1}, ASKED, ASKED | {"SHOAL_REPORT": 1, "SHOAL_VERIFY": 1}],
    ids=["unasked", "reported", "asked", "verified"],
)
@pytest.mark.parametrize("mpi", EVERY, ids=lambda mpi: mpi.name)
def test_every_function_returns(mpi, compiled, settings):
    """Except those that the MPI lacks: programs do not find them."""
    if mpi.missing():
        pytest.skip(mpi.missing())
    names = functions(mpi)
    done = mpi.run(1, [compiled(mpi, "scarce.cpp", "-lstdc++"), 0, *names], **settings)
    lines = done.stdout.splitlines()
    assert (done.returncode, lines[-1]) == (0, "faults: 0"), done.stdout[-2000:] + done.stderr[-2000:]
    outcomes = {name: outcome for outcome, name in (line.split(": ") for line in lines[:-1])}
    assert list(outcomes) == names and "unknown" not in outcomes.values()
    if mpi == mpis.WHEELS[0]:
        assert set(outcomes.values()) == {"returned"}


@pytest.mark.parametrize(
    ("name", "allocations"), [("MPI_Ialltoallw", 9), ("MPI_Alltoallv_init", 2), ("MPI_Start", 0), ("MPI_Startall", 5)]
)
def test_the_job_ends_where_others_wait(mpi, compiled, name, allocations):
    """By MPI_Abort, and not by an exception that nobody catches. A request of Shoal's has several ranks."""
    done = mpi.run(2, [compiled(mpi, "scarce.cpp", "-lstdc++"), allocations, name], **ASKED)
    no_memory = {"mpich": 34, "openmpi": 39}[mpi.name]  # MPI_ERR_NO_MEM
    assert done.returncode == no_memory and "terminate called" not in done.stderr, done.stdout + done.stderr


def test_a_request_is_freed_without_memory(mpi, compiled):
    done = mpi.run(2, [compiled(mpi, "scarce.cpp", "-lstdc++"), 0, "MPI_Request_free"], **ASKED, SHOAL_REPORT=1)
    assert done.stdout == "returned: MPI_Request_free\nfaults: 0\n", done.stdout + done.stderr
