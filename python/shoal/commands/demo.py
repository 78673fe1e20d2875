"""shoal demo: what Shoal does, in a few minutes, on this machine."""

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

import shoal
from shoal.commands.bench import COLOURS, driver, measure
from shoal.commands.run import shoals_preload
from shoal.console import err, out
from shoal.errors import UserError
from shoal.measurements import Case, Results, Series, Verdict, readable_bytes, readable_seconds
from shoal.mpi import Mpi, find_all, launch_command, launch_environment

CHECKED_RANKS = range(1, 25)
SIZES = "16,256,2048,16384"
UNVERIFIED = ("native", "?")  # no algorithm of Shoal's ran
ONCE = 1.1  # times as fast: less tells nothing after one run of each
FOREIGN_SIZES = (8, 64, 512, 4096)  # of the foreign program's blocks


@dataclass(frozen=True)
class Row:
    what: str
    native: float
    shoal: float
    ran: str
    verified: str
    verdict: Verdict


def demo(
    ranks: Annotated[int, typer.Option("--ranks", "-n", help="Number of ranks.", min=2)] = 8,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the picture.")] = Path("demo"),
) -> None:
    """Show what Shoal does: check schedules, then time exchanges and an unmodified program, without Shoal and with it.

    Example: [bold]shoal demo --ranks 8[/bold]
    """
    output.mkdir(parents=True, exist_ok=True)
    mpis = newest_built()
    if busy := busy_line(Path("/proc/loadavg").read_text(), os.cpu_count() or 1):
        out.print(busy)
    out.print("[bold]1. Schedules[/bold]: every block arrives once, in its place, and nothing deadlocks")
    out.print(f"   {check_schedules()}")
    rows: list[Row] = []
    results = Results()
    for mpi in mpis.values():
        out.print(f"[bold]2. A non-uniform exchange[/bold] (random blocks, up to the size shown): {mpi}, {ranks} ranks")
        rows += run_exchange(mpi, ranks, results)
    program = foreign_program()
    if program and "mpich" in mpis and mpis["mpich"].soname == "libmpi.so.12":  # what it is linked to
        out.print(
            f"[bold]3. A program nobody here wrote[/bold]: {program.name} of Intel, unmodified, on {mpis['mpich']}"
        )
        rows += run_foreign(mpis["mpich"], ranks, program)
    out.print(table(rows))
    from shoal.plots import latency_plot  # takes most of a second to load

    picture = output / "exchange.png"
    latency_plot(results, picture)
    (output / "results.json").write_text(json.dumps([row.__dict__ for row in rows], indent=2))
    out.print(
        f"Picture: {picture}. Next: [bold]shoal run -n 8 --report -- your_program[/bold], shoal bench, shoal list"
    )


def busy_line(load: str, cores: int) -> str | None:
    """What to say if more threads want a core now than there are cores. The averages in `load`, of /proc/loadavg, count
    what has just been built too."""
    others = int(load.split()[3].partition("/")[0]) - 1
    if others < cores:
        return None
    return f"This machine is busy: {others} other threads want its {cores} cores. So the times below say little."


def newest_built() -> dict[str, Mpi]:
    """The newest MPICH and Open MPI that have a benchmark driver: the set-up's own, if nothing newer is installed."""
    newest: dict[str, Mpi] = {}
    for mpi in find_all():
        if mpi.kind in ("mpich", "openmpi") and driver(mpi).is_file():
            newest[mpi.kind] = max(newest.get(mpi.kind, mpi), mpi, key=version_of)
    if not newest:
        raise UserError("no MPI with a benchmark driver was found; make build makes one, shoal doctor lists MPIs")
    return newest


def version_of(mpi: Mpi) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", mpi.version)]


def check_schedules() -> str:
    """Runs the schedules of all ranks of all algorithms symbolically."""
    programs = 0
    with err.status("checking"):
        for number in CHECKED_RANKS:
            for algorithm in shoal.algorithms():
                if algorithm.has_schedule and algorithm.collective == "alltoall":
                    programs += check(shoal.parse(algorithm.name), number)
    return f"{programs} programs of 1 to {CHECKED_RANKS[-1]} ranks checked, no fault"


def check(selection: shoal.Selection, ranks: int) -> int:
    try:
        fault = shoal.check_all_ranks(selection, shoal.Problem(ranks))
    except ValueError:  # the algorithm cannot serve this number of ranks
        return 0
    if fault is not None:
        raise UserError(f"{selection} on {ranks} ranks: {fault.kind}: {fault.text}; please report this")
    return ranks


def run_exchange(mpi: Mpi, ranks: int, results: Results) -> list[Row]:
    arguments = ["--variants", "auto;native", "--sizes", SIZES, "--distributions", "random", "--seconds", "0.5"]
    before = set(results.cases)
    with err.status("measuring"):
        results.add_lines(measure(mpi, ranks, arguments))
    measured = {case: series for case, series in results.cases.items() if case not in before}
    return rows_of(mpi, measured)


def rows_of(mpi: Mpi, measured: dict[Case, dict[str, Series]]) -> list[Row]:
    """The rows of the table, without cases in which the ranks of a variant never started in time."""
    rows = []
    found = {case.size: series for case, series in measured.items()}
    for size in map(int, SIZES.split(",")):
        what, series = f"exchange, {mpi.kind}, 0 to {readable_bytes(size)}", found.get(size, {})
        if {"auto", "native"} <= series.keys():
            auto, native = series["auto"], series["native"]
            ran, verdict = auto.ran.partition(": ")[0], auto.verdict_against(native)
            rows.append(Row(what, native.median, auto.median, ran, "every byte", verdict))
        else:
            say_unmeasured(what)
    return rows


def say_unmeasured(what: str) -> None:
    out.print(f"   {what}: not measured, the machine is busy")


def foreign_program() -> Path | None:
    """Intel's MPI benchmarks, from a wheel that the set-up installed; they run on MPICH as they are."""
    program = Path(sys.prefix).parent / ".mpi" / "impi" / "bin" / "IMB-MPI1"
    return program if program.is_file() else None


def run_foreign(mpi: Mpi, ranks: int, program: Path) -> list[Row]:
    with tempfile.NamedTemporaryFile("w+", suffix=".txt") as sizes, err.status("running it three times"):
        sizes.write("\n".join(map(str, FOREIGN_SIZES)))
        sizes.flush()
        # Without the barrier between repetitions: ranks spin in it, and with more ranks than cores one sees only that.
        command = [str(program), "Alltoallv", "-npmin", str(ranks), "-msglen", sizes.name, "-sync", "off"]
        preload = {"LD_PRELOAD": shoals_preload(mpi)}
        measured = [*command, "-iter", "2000", "-time", "4"]
        native = times(run_program(mpi, ranks, measured, {}))
        with_shoal = run_program(mpi, ranks, measured, preload | {"SHOAL_REPORT": "1"})
        ran = main_algorithm(with_shoal)
        proof = "-" if ran in UNVERIFIED else verified(
            run_program(mpi, ranks, [*command, "-iter", "20"],
                        preload | {"SHOAL_ALLTOALLV": ran, "SHOAL_REPORT": "1", "SHOAL_VERIFY": "1"})
        )  # fmt: skip
    return foreign_rows(native, times(with_shoal), ran, proof)


def foreign_rows(native: dict[int, float], ours: dict[int, float], ran: str, proof: str) -> list[Row]:
    rows = []
    for size in FOREIGN_SIZES:
        what = f"IMB Alltoallv, {readable_bytes(size)}"
        if size in native and size in ours:
            verdict = compared_once(native[size], ours[size])
            rows.append(Row(what, native[size], ours[size], ran, proof, verdict))
        else:
            say_unmeasured(what)
    return rows


def compared_once(native: float, ours: float) -> Verdict:
    """The verdict after one run of each, when nobody knows how much runs differ."""
    if 1 / ONCE < native / ours < ONCE:
        return "no difference"
    return "faster" if ours < native else "slower"


def run_program(mpi: Mpi, ranks: int, command: list[str], variables: dict[str, str]) -> str:
    variables = variables | {"LD_LIBRARY_PATH": str(mpi.library.parent)}
    launched = subprocess.run(
        launch_command(mpi, ranks, command, variables), capture_output=True, text=True, stdin=subprocess.DEVNULL,
        env=launch_environment(), timeout=120, check=False,
    )  # fmt: skip
    if launched.returncode != 0:
        raise UserError(f"{command[0]} ended with status {launched.returncode}: {launched.stderr[-300:]}")
    return launched.stdout + launched.stderr


def times(text: str) -> dict[int, float]:
    """Seconds by block size, from the program's table: bytes, repetitions, least, most and average microseconds."""
    rows = re.findall(r"^ +(\d+) +\d+ +[\d.]+ +[\d.]+ +([\d.]+) *$", text, re.MULTILINE)
    return {int(size): float(average) * 1e-6 for size, average in rows if int(size) > 0}


def verified(text: str) -> str:
    match = re.search(r"verified (\d+) exchanges.*every byte equal", text)
    if match is None:
        raise UserError("the verified run said nothing of verification; please report this")
    return f"every byte, {match.group(1)} exchanges"


def main_algorithm(text: str) -> str:
    """The algorithm in the first row of Shoal's report, which is the row with the most time."""
    match = re.search(r"^shoal: alltoallv .* us  (\S+)$", text, re.MULTILINE)
    return match.group(1) if match else "?"


def table(rows: list[Row]) -> Table:
    columns = Table("what ran", "the MPI's own", "Shoal", "gain", "algorithm chosen", "verified")
    for row in rows:
        gain = "no difference" if row.verdict == "no difference" else f"{row.native / row.shoal:.2f}x"
        times = (readable_seconds(row.native), readable_seconds(row.shoal))
        columns.add_row(row.what, *times, f"[{COLOURS[row.verdict]}]{gain}[/]", row.ran, row.verified)
    return columns
