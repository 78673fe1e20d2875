"""shoal demo: its table. `make demo` runs the whole."""

from types import SimpleNamespace

from shoal.commands.demo import busy_line, foreign_rows, rows_of
from shoal.measurements import Case, Series


def test_cases_that_a_busy_machine_left_out(capsys):
    series = {name: Series(name, "shared: measured", (1e-5,) * 20) for name in ("auto", "native")}
    cases = {Case("MPICH 5", 8, "random", 16): series, Case("MPICH 5", 8, "random", 256): {"auto": series["auto"]}}
    (row,) = rows_of(SimpleNamespace(kind="mpich"), cases)
    assert (row.what, row.ran, row.verdict) == ("exchange, mpich, 0 to 16 B", "shared", "no difference")
    said = capsys.readouterr().out
    assert [line for line in said.splitlines() if "0 to 16 B" in line] == []
    for size in ("256 B", "2 KiB", "16 KiB"):  # nothing at all was measured of the last two
        assert f"exchange, mpich, 0 to {size}: not measured, the machine is busy" in said


def test_sizes_of_the_foreign_program_that_it_left_out(capsys):
    (row,) = foreign_rows({8: 2e-6, 64: 1e-6}, {8: 1e-6, 512: 1e-6}, "shared", "-")
    assert (row.what, row.verdict) == ("IMB Alltoallv, 8 B", "faster")
    said = capsys.readouterr().out
    for size in ("64 B", "512 B", "4 KiB"):
        assert f"IMB Alltoallv, {size}: not measured, the machine is busy" in said


def test_busy_machine():
    assert busy_line("9.20 4.00 2.00 2/160 4711", cores=2) is None  # what has just been built no longer runs
    assert "15 other threads want its 2 cores" in busy_line("9.20 4.00 2.00 16/160 4711", cores=2)
