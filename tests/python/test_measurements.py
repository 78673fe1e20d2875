"""What the benchmark driver writes, summarised and compared."""

import json

import pytest

from shoal.measurements import Results, Series, readable_bytes, readable_seconds, short_name
from shoal.plots import latency_plot


def record(variant, seconds, size=8):
    return json.dumps(
        {"ranks": 4, "distribution": "uniform", "size": size, "variant": variant, "ran": variant, "seconds": seconds}
    )


def results():
    read = Results()
    lines = ["noise of an MPI", json.dumps({"provenance": {"mpi": "MPICH Version:      5.0.2"}})]
    for size in (8, 64):
        lines += [record("auto", [1e-6 + i * 1e-9 for i in range(30)], size), record("native", [2e-6] * 30, size)]
    read.add_lines(lines)
    return read


def test_reads_cases_and_skips_other_output():
    read = results()
    assert [(case.mpi, case.ranks, case.size) for case in read.cases] == [("MPICH 5.0.2", 4, 8), ("MPICH 5.0.2", 4, 64)]


def test_says_faster_slower_or_no_difference():
    auto, native = next(iter(results().cases.values())).values()
    assert auto.verdict_against(native) == "faster"
    assert native.verdict_against(auto) == "slower"
    assert auto.verdict_against(auto) == "no difference"
    assert auto.speedup_over(native) == pytest.approx(1.97, abs=0.01)


def test_interval_holds_the_median():
    series = Series("v", "v", tuple(float(i) for i in range(1, 102)))
    low, high = series.interval()
    assert low < series.median < high and (low, high) == (41.0, 61.0)


def test_few_repetitions_have_no_interval():
    """All values of five hold the median with 94 % confidence only."""
    assert Series("v", "v", (1.0, 2.0, 3.0, 4.0, 5.0)).interval() is None
    assert Series("v", "v", (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)).interval() == (1.0, 6.0)


def test_draws_a_picture(tmp_path):
    latency_plot(results(), tmp_path / "latency.png")
    assert (tmp_path / "latency.png").read_bytes().startswith(b"\x89PNG")


def test_readable():
    assert (readable_seconds(0.0129), readable_seconds(56.6e-6), readable_bytes(4096)) == (
        "12.9 ms",
        "56.6 us",
        "4 KiB",
    )
    assert readable_seconds(999.6e-6) == "1 ms"
    assert short_name("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4") == "Open MPI 4.1.4"
