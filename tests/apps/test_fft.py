"""The parallel Fourier transform equals a serial one with every way to exchange, also if ranks have uneven parts."""

import pytest

import mpis


@pytest.fixture(params=mpis.WHEELS, ids=lambda mpi: mpi.name)
def program(request):
    mpi = request.param
    if mpi.missing() or not (mpi.build / "fft").exists():
        pytest.skip(mpi.missing() or "built without FFTW (Debian: libfftw3-dev)")
    return lambda ranks, *args, **settings: mpi.run(ranks, [mpi.build / "fft", *args], preload=False, **settings)


@pytest.mark.parametrize(
    ("shape", "ranks", "spec"),
    [("30x42", 4, "auto"), ("7x5", 8, "tuna:radix=3"), ("64x64", 3, "native"), ("1x9", 1, "auto")],
)
def test_fft(program, shape, ranks, spec):
    run = program(ranks, shape, "--check", SHOAL_ALLTOALLV=spec)
    assert run.returncode == 0 and "equal to one transform on one rank" in run.stdout, run.stdout + run.stderr


def test_wrong_shape(program):
    run = program(2, "0x9")
    assert run.returncode == 2 and run.stderr.count("usage: fft ROWSxCOLUMNS") == 1
    run = program(2, "65536x65536")
    assert run.returncode == 2 and run.stderr.count("65536x65536 are too many points") == 1
