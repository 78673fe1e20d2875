"""Programs under the preload: compiled once per MPI, started by tests as processes of their own."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import mpis  # noqa: E402

SOURCES = Path(__file__).resolve().parent


def available(candidates):
    return [
        pytest.param(one, id=one.name, marks=[pytest.mark.skip(reason=one.missing())] if one.missing() else [])
        for one in candidates
    ]


@pytest.fixture(params=available(mpis.WHEELS), scope="session")
def mpi(request):
    return request.param


@pytest.fixture(params=available(mpis.DEBIAN), scope="session")
def fortran_mpi(request):
    """An MPI with Fortran; the wheels have none."""
    return request.param


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """compiled(mpi, "x.c", *flags): the program, compiled once a session."""
    built = {}

    def compiled(mpi, name, *flags):
        key = (mpi.name, name, flags)
        if key not in built:
            output = tmp_path_factory.mktemp(mpi.name) / Path(name).stem
            built[key] = mpi.compile(SOURCES / name, output, *flags)
        return built[key]

    return compiled


class Rows:
    """What SHOAL_REPORT=1 printed: calls by collective and algorithm."""

    def __init__(self, text):
        self.calls = {}
        for line in text.splitlines():
            words = line.split()
            if line.startswith("shoal: alltoall") and len(words) >= 11:
                key = words[1], words[-1]
                self.calls[key] = self.calls.get(key, 0) + int(words[3])

    def total(self, collective):
        return sum(calls for (name, _), calls in self.calls.items() if name == collective)


@pytest.fixture
def report():
    return Rows


def warnings(run):
    """Lines Shoal wrote that are not its report."""
    return [line for line in run.stderr.splitlines() if line.startswith("shoal: ") and "using the MPI library" in line]
