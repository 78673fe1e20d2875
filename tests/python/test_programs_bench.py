"""bench/programs: what pairs of times tell, what an interruption leaves, and one launch for real."""

import json
import runpy
import sys
from types import SimpleNamespace

import pytest

import mpis
from programs import turns
from programs.cases import Case, every
from programs.launch import LaunchError, Place, Took, find_mpis, label_of, seconds
from programs.paired import compare, geometric_mean, median_interval, share_of_gain, verdict
from programs.record import Log
from programs.rows import row, totals
from programs.table import cases_table, totals_table
from programs.turns import SECOND, Plan, measure
from shoal.errors import UserError

PLACE = Place(SimpleNamespace(kind="mpich", version="5.0"))
CASE = Case("short", "exchanges", "", 4)
TEN = [1.0 + 0.001 * i for i in range(10)]


def scaled(factor, added=0.0):
    return [factor * seconds + added for seconds in TEN]


def test_slower_is_what_is_sure_and_noticed():
    assert verdict(TEN, scaled(1.03)) == "slower"
    assert verdict(TEN, scaled(1.019)) == "no difference"  # below 2 %
    assert verdict(TEN, scaled(0.99)) == "faster"
    assert verdict(TEN, scaled(1.5)[:5] + scaled(0.9)[5:]) == "no difference"  # by chance
    assert verdict([0.01] * 10, [0.0149] * 10) == "no difference"  # below 5 ms
    assert verdict([0.01] * 10, [0.0151] * 10) == "slower"
    assert verdict(TEN, TEN) == "no difference"


def test_few_pairs_are_never_sure():
    assert verdict(TEN[:7], scaled(2)[:7]) == "no difference"
    assert verdict(TEN[:8], scaled(2)[:8]) == "slower"


def test_comparison_is_the_median_of_pairs():
    found = compare(scaled(2), [*TEN[:-1], 100.0])
    assert found.ratio == 2
    assert (found.low, found.high) == (2, 2)  # one outlier of ten is outside the interval
    assert found.p > 0.05


def test_interval_is_of_order_statistics():
    assert median_interval([5, 1, 4, 2, 3]) == (1, 5)
    assert median_interval(list(range(10))) == (1, 8)


def test_share_of_what_the_best_saves():
    assert share_of_gain(TEN, scaled(0.75), scaled(0.5)) == pytest.approx(0.5)
    assert share_of_gain(TEN, scaled(1.25), scaled(0.5)) == pytest.approx(-0.5)
    assert share_of_gain(TEN, scaled(0.5), TEN) is None


def test_geometric_mean():
    assert geometric_mean([0.5, 2.0]) == pytest.approx(1)


def test_seconds_in_what_a_program_prints():
    assert seconds(r"took ([\d.]+ m?s)", "it took 20 ms") == pytest.approx(0.02)
    assert seconds(r"took ([\d.]+ m?s)", "it took 20 s") == 20
    assert seconds(r"took (.*)s", "it took 1m 5.2s") == pytest.approx(65.2)
    assert seconds(r"took ([\d.]+)", "nothing") is None
    assert seconds("", "SECONDS 1") is None


@pytest.fixture
def launched(monkeypatch):
    """Stands in for launches: `took` has the times, a little longer every time; `order` the ways that were launched."""
    took = {"native": 1.0, "auto": 0.8, "shared": 0.5, "spread_out": 1.1, "tuna:radix=2": 0.9, SECOND: 0.6}
    order = []

    def launch(place, case, way, wisdom=None):
        way = SECOND if wisdom else way
        order.append(way)
        if took[way] is None:
            raise LaunchError("it crashed")
        exchanging = took[way] + 1e-3 * len(order)
        return Took(exchanging + 1, exchanging + 0.5, exchanging)

    monkeypatch.setattr(turns, "launch", launch)
    return SimpleNamespace(took=took, order=order)


def test_case_in_turns(launched, tmp_path):
    log = Log(tmp_path / "programs.jsonl", resume=False)
    found = row(measure(PLACE, CASE, Plan(pairs=10, tries=1, wisdom=True), log))
    assert found.best == "shared"
    in_turn = launched.order[len(CASE.candidates) :]
    assert in_turn[:10] == ["native", "auto", "shared", SECOND, SECOND, SECOND, SECOND, "shared", "auto", "native"]
    assert {what: one.verdict for what, one in found.defaults.items()} == dict.fromkeys(
        ("whole", "own", "exchanging"), "faster"
    )
    assert found.share == pytest.approx(0.4, abs=0.05)
    assert found.second_share == pytest.approx(0.8, abs=0.05)
    assert found.slower is False and found.failed == {}
    assert totals([found])[0].defaults["exchanging"] == pytest.approx(1.25, abs=0.05)
    assert cases_table("mpich5", [found]).row_count == 1 and totals_table(totals([found])).row_count == 3


def test_resumed(launched, tmp_path):
    path, plan = tmp_path / "programs.jsonl", Plan(pairs=3, tries=1, wisdom=False)
    whole = measure(PLACE, CASE, plan, Log(path, resume=False))
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:-1], lines[-1][:20]]))  # the last turn was cut off
    launched.order.clear()
    again = measure(PLACE, CASE, plan, Log(path, resume=True))
    assert launched.order == ["native", "auto", "shared"]
    assert sorted(again.turns) == sorted(whole.turns) == [0, 1, 2]


def test_another_build_is_not_mixed_in(tmp_path):
    path = tmp_path / "programs.jsonl"
    Log(path, resume=False).begin({"preloads": {"a": "1", "b": "2"}})
    Log(path, resume=True).begin({"preloads": {"a": "1", "c": "3"}})
    with pytest.raises(UserError, match="another b"):
        Log(path, resume=True).begin({"preloads": {"b": "4"}})
    Log(path, resume=False).begin({"preloads": {"b": "4"}})


def test_failure_is_told_and_ends_the_case(launched, tmp_path):
    launched.took["auto"] = None
    log = Log(tmp_path / "programs.jsonl", resume=False)
    record = measure(PLACE, CASE, Plan(pairs=10, tries=1, wisdom=False), log)
    assert launched.order.count("auto") == 1
    assert row(record).failed == {"auto": "it crashed"}
    assert totals([row(record)])[0].failed == ["short (mpich5)"]


def test_candidate_that_fails_is_not_chosen(launched, tmp_path):
    launched.took["shared"] = None
    log = Log(tmp_path / "programs.jsonl", resume=False)
    record = measure(PLACE, CASE, Plan(pairs=2, tries=1, wisdom=False), log)
    assert record.best == "tuna:radix=2" and len(record.turns) == 2
    assert record.failed == {"shared": "it crashed"}


def test_cases_have_names_of_their_own():
    names = [case.name for case in every()]
    assert len(set(names)) == len(names)


CLOCK, EXCHANGES = mpis.ROOT / "bench/programs/clock.c", mpis.ROOT / "bench/programs/exchanges.c"
FORTRAN = """
program clocked
  use {module}
  integer :: out(8) = 0, in(8) = 0, ones(8) = 1, places(8) = 0, i, code
  call MPI_Init(code)
  do i = 1, 4
    call MPI_Alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, MPI_COMM_WORLD, code)
    call MPI_Alltoallv(out, ones, places, MPI_INTEGER, in, ones, places, MPI_INTEGER, MPI_COMM_WORLD, code)
  end do
  call MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INTEGER, in, 1, MPI_INTEGER, MPI_COMM_WORLD, code)
  call MPI_Alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, MPI_COMM_SELF, code)
  call MPI_Finalize(code)
end program
"""


def calls_clocked(mpi, program, directory, preload):
    """The calls that the clock counted, by rank."""
    file = directory / f"clock-{preload}"
    clock = mpi.compile(CLOCK, directory / "clock.so", "-shared", "-fPIC", "-ldl")
    run = mpi.run(2, program, preload=preload, before=[clock], PROGRAMS_CLOCK=file)
    assert run.returncode == 0, run.stdout + run.stderr
    return sorted(tuple(map(int, line.split()[:2])) for line in file.read_text().splitlines())


@pytest.mark.parametrize("preload", [False, True])
@pytest.mark.parametrize("mpi", mpis.WHEELS, ids=lambda mpi: mpi.name)
def test_clock_counts_every_call_once(mpi, preload, tmp_path):
    if mpi.missing():
        pytest.skip(mpi.missing())
    program = mpi.compile(EXCHANGES, tmp_path / "exchanges")
    assert calls_clocked(mpi, [program, "pencils", "alltoallv", 9, 64], tmp_path, preload) == [(0, 9), (1, 9)]


@pytest.mark.parametrize("preload", [False, True])
@pytest.mark.parametrize("module", ["mpi", "mpi_f08"])
@pytest.mark.parametrize("mpi", mpis.DEBIAN, ids=lambda mpi: mpi.name)
def test_clock_counts_every_call_of_fortran_once(mpi, module, preload, tmp_path):
    if mpi.missing():
        pytest.skip(mpi.missing())
    (tmp_path / "clocked.F90").write_text(FORTRAN.format(module=module))
    program = mpi.compile(tmp_path / "clocked.F90", tmp_path / "clocked")
    assert calls_clocked(mpi, [program], tmp_path, preload) == [(0, 10), (1, 10)]


@pytest.fixture
def programs(monkeypatch, tmp_path):
    """The command: programs(arguments...) runs it in this process."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["bench/programs", "-o", str(tmp_path), *words])
        monkeypatch.setattr(sys, "path", list(sys.path))
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(mpis.ROOT / "bench/programs"), run_name="__main__")
        return ended.value.code

    return run


@pytest.mark.parametrize("mpi", mpis.WHEELS, ids=lambda mpi: mpi.name)
def test_launched_for_real(programs, mpi, tmp_path, capsys):
    """It says what --quick runs, and the clock has times of every way."""
    if mpi.missing():
        pytest.skip(mpi.missing())
    label = label_of(next(one for one in find_mpis("") if one.library.is_relative_to(mpi.home.resolve())))
    assert programs("--mpi", label, "--quick", "--pairs", "1", "--only", "same alltoall 30 x 64 B") == 0
    said = f"quick: --mpi {label} --pairs 1, cases: 1 (--list names them)\n"
    assert capsys.readouterr().out.startswith(said)
    lines = [json.loads(line) for line in (tmp_path / "programs.jsonl").read_text().splitlines()]
    turns_taken = [line["took"] for line in lines if "turn" in line]
    assert len(turns_taken) == 1 and {"native", "auto"} <= turns_taken[0].keys()
    assert all(None not in times.values() for times in turns_taken[0].values())
    assert (tmp_path / "programs.png").stat().st_size > 0
