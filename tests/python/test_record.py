"""What SHOAL_RECORD writes of a program is what its ranks sent, and the benchmark repeats it."""

import pytest

import mpis


@pytest.fixture(params=mpis.WHEELS, ids=lambda mpi: mpi.name)
def mpi(request):
    if request.param.missing() or not (request.param.build / "fft").exists():
        pytest.skip(request.param.missing() or "built without FFTW (Debian: libfftw3-dev)")
    return request.param


def test_a_transform_is_recorded_and_repeated(mpi, tmp_path):
    rows, columns = (2, 2, 1), (2, 1, 1)  # of a 5 x 4 matrix on 3 ranks; it is transposed back and forth and back
    ran = mpi.run(3, [mpi.build / "fft", "5x4"], preload=False, SHOAL_RECORD=tmp_path / "traffic.mtx")
    assert (ran.returncode, ran.stderr) == (0, "")
    header, comment, size, *entries = (tmp_path / "traffic.mtx").read_text().splitlines()
    assert header == "%%MatrixMarket matrix coordinate real general" and "over 3 exchanges" in comment
    assert size == "3 3 9"
    for line in entries:
        origin, destination, mean = line.split()
        o, d = int(origin) - 1, int(destination) - 1
        assert float(mean) == pytest.approx(16 * (2 * rows[o] * columns[d] + columns[o] * rows[d]) / 3, rel=1e-4)
    arguments = ["--distributions", f"matrix:{tmp_path / 'traffic.mtx'}", "--sizes", 0, "--seconds", 0.01]
    repeated = mpi.run(3, [mpi.build / "shoal_bench", *arguments], preload=False)
    assert repeated.returncode == 0 and repeated.stdout.count('"verified": true') == 2, repeated.stderr


def test_a_file_that_cannot_be_written_costs_a_line(mpi, tmp_path):
    ran = mpi.run(2, [mpi.build / "fft", "4x4"], preload=False, SHOAL_RECORD=tmp_path / "no" / "folder.mtx")
    assert ran.returncode == 0 and ran.stderr.count("folder.mtx cannot be written") == 1
