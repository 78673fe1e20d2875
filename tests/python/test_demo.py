"""shoal demo: its table. `make demo` runs the whole."""

from types import SimpleNamespace

from shoal.commands.demo import rows_of
from shoal.measurements import Case, Series


def test_cases_that_a_busy_machine_left_out(capsys):
    series = {name: Series(name, "shared: measured", (1e-5,) * 20) for name in ("auto", "native")}
    cases = {Case("MPICH 5", 8, "random", 16): series, Case("MPICH 5", 8, "random", 256): {"auto": series["auto"]}}
    (row,) = rows_of(SimpleNamespace(kind="mpich"), cases)
    assert (row.what, row.ran, row.verdict) == ("exchange, mpich, 0 to 16 B", "shared", "no difference")
    assert "0 to 256 B: not measured, the machine is busy" in capsys.readouterr().out
