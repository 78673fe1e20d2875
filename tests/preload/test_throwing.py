"""Error handlers that throw, as those of C++ programs do."""

import pytest

import mpis


@pytest.mark.parametrize("algorithm", ["auto", "tuna:radix=2", "shared", "native"])
@pytest.mark.parametrize("mpi", [pytest.param(mpi, id=mpi.name) for mpi in mpis.WHEELS])
def test_program_gets_what_its_handler_throws(mpi, algorithm, tmp_path):
    program = mpi.compile(mpis.ROOT / "tests/preload/throwing.cpp", tmp_path / "throwing", "-lstdc++")
    served = ["too short"] if algorithm in ("tuna:radix=2", "shared") else []
    run = mpi.run(3, [program, *served], SHOAL_ALLTOALLV=algorithm, SHOAL_REPORT=1)
    assert run.stdout.strip().endswith("0 wrong"), run.stdout[-3000:] + run.stderr[-3000:]
    assert "while attributes are deleted" not in run.stderr, run.stderr
    untold = mpi.run(3, [program, *served], SHOAL_ALLTOALLV=algorithm)  # then Shoal does not look at most calls
    assert untold.stdout.strip().endswith("0 wrong"), untold.stdout[-3000:] + untold.stderr[-3000:]


@pytest.mark.parametrize("mpi", [pytest.param(mpi, id=mpi.name) for mpi in mpis.WHEELS])
def test_program_that_calls_shoal_gets_it_too(mpi, tmp_path):
    flags = [f"-I{mpis.ROOT}/include", f"-L{mpi.build}", "-lshoal", f"-Wl,-rpath,{mpi.build}", "-lstdc++"]
    program = mpi.compile(mpis.ROOT / "tests/preload/throwing_linked.cpp", tmp_path / "throwing_linked", *flags)
    run = mpi.run(2, [program], preload=False)
    assert (run.returncode, run.stdout) == (0, "0 wrong\n"), run.stdout + run.stderr[-3000:]
