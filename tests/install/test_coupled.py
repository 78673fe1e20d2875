"""The two coupled programs of the examples, started together."""

import pytest

import mpis

EXAMPLE = mpis.ROOT / "examples/coupled"


@pytest.fixture(scope="module", params=[pytest.param(mpi, id=mpi.name) for mpi in mpis.WHEELS])
def coupled(request, tmp_path_factory):
    """(MPI, the directory of the programs)"""
    mpi = request.param
    if mpi.missing():
        pytest.skip(mpi.missing())
    where = tmp_path_factory.mktemp(mpi.name)
    library = [f"-I{mpis.ROOT}/include", f"-L{mpi.build}", "-lshoal", f"-Wl,-rpath,{mpi.build}"]
    for program in ("producer", "consumer"):
        mpi.compile(EXAMPLE / f"{program}.c", where / program, "-Wall", "-Wextra", "-Werror", *library)
    return mpi, where


@pytest.mark.parametrize("producers, consumers", [(1, 1), (3, 2), (2, 5)])
def test_started_together(coupled, producers, consumers):
    mpi, where = coupled
    parts = [mpi.ranks(producers, [where / "producer"], preload=False)]
    run = mpi.launch(*parts, mpi.ranks(consumers, [where / "consumer"], preload=False))
    assert run.returncode == 0, run.stderr
    assert "; 0 wrong" in run.stdout, run.stdout
