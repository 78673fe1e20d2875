"""Programs under the preload: compiled once per MPI, started by tests as processes of their own."""

from pathlib import Path

import pytest

import mpis

SOURCES = Path(__file__).resolve().parent


def available(candidates):
    return [
        pytest.param(one, id=one.name, marks=[pytest.mark.skip(reason=one.missing())] if one.missing() else [])
        for one in candidates
    ]


@pytest.fixture(params=available(mpis.WHEELS), scope="session")
def mpi(request):
    return request.param


@pytest.fixture(params=available(mpis.WHEELS[:1]), scope="session")
def one_mpi(request):
    """One MPI, for tests whose result cannot depend on the MPI."""
    return request.param


@pytest.fixture(params=available(mpis.DEBIAN), scope="session")
def fortran_mpi(request):
    """An MPI with Fortran, which the MPIs of the wheels lack."""
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
