"""shoal tune: measures what to choose and writes a profile."""

import json
import os
import statistics
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table as RichTable

import shoal
from shoal import mpi_tuning, tuning
from shoal.commands.bench import choose_mpi
from shoal.commands.bench import measure as measure_lines
from shoal.commands.given import refuse_twice
from shoal.console import err, out
from shoal.errors import UserError
from shoal.measurements import readable_bytes, readable_seconds
from shoal.mpi import Mpi, launch_command

# How each kind of call is measured: the driver's distribution, and its size as a multiple of the block in the profile.
MEASURED_WITH = {"alltoall": ("uniform", 1), "alltoallv": ("random", 2), "sparse": ("pairs", 1)}
FEWEST_SPARSE = 4  # with fewer ranks, no rank has a partner
FEWEST_SIZES = 2  # between which a job that has the profile draws a line
SPARSE = 0.9  # the share of blocks that are then empty


def tune(
    context: typer.Context,
    ranks: Annotated[int, typer.Option("--ranks", "-n", help="Number of ranks.", min=2)],
    mpi: Annotated[
        str, typer.Option(help="mpich or openmpi, also with a version as in mpich5; default: the first found.")
    ] = "",
    seconds: Annotated[float, typer.Option(help="Measure for at most so many seconds.", min=1)] = 180,
    output: Annotated[Path, typer.Option("--output", "-o", help="The profile to write.")] = Path("shoal-profile.toml"),
    export: Annotated[
        Path | None, typer.Option(help="Measure the MPI's own algorithms instead, and write the MPI's own tuning file.")
    ] = None,
) -> None:
    """Measure which algorithm is the fastest at each block size, and write a profile from which jobs choose.

    Example: [bold]shoal tune -n 8 -o eight.toml[/bold]; then run jobs with SHOAL_PROFILE=eight.toml

    The algorithms take turns: first at a few sizes, with equal, random and mostly empty blocks, then between sizes that
    have different winners, and again where two are too close to call. The command ends when nothing changes any
    more, or when its time is up. The profile is for this machine and this number of ranks.

    For programs that run without Shoal: [bold]shoal tune -n 8 --mpi openmpi --export rules.txt[/bold] measures the
    MPI's own algorithms and writes a tuning file that the MPI reads by itself. Open MPI and MPICH have such files.
    """
    refuse_twice(context, "export", ["output"])
    for option, path in (("-o", output), ("--export", export)):
        if path:
            check_writable(option, path)
    chosen = choose_mpi(mpi)
    if export:
        tune_mpi(chosen, ranks, seconds, export)
    else:
        tune_shoal(chosen, ranks, seconds, output)


def check_writable(option: str, path: Path) -> None:
    """Checks the path before anything is measured."""
    if not path.parent.is_dir():
        raise UserError(f"{option} {path}: there is no folder {path.parent}")
    if path.is_dir():
        raise UserError(f"{option} {path} is a folder; name a file")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UserError(f"{option} {path} cannot be written")


def tune_shoal(chosen: Mpi, ranks: int, seconds: float, output: Path) -> None:
    runner = Runner(chosen, ranks)
    asking = runner.prepare()
    tables = {
        kind: tuning.Table(tuning.candidates(ranks, runner.job["layout"], uniform=kind == "alltoall"))
        for kind in MEASURED_WITH
        if kind != "sparse" or ranks >= FEWEST_SPARSE
    }
    fill(tables, runner.measure, chosen, ranks, seconds)
    profile = make_profile(ranks, tables, asking, runner.job)
    output.write_text(str(profile))
    out.print(overview(profile))
    out.print(f"SHOAL_PROFILE={output}", soft_wrap=True)


def make_profile(ranks: int, tables: dict[str, tuning.Table], asking: float, job: dict[str, str]) -> shoal.Profile:
    """The profile of what was measured, by kind. `job` has what a profile says of a job."""
    rows = {kind: table.rows() for kind, table in tables.items()}
    sparse = rows.pop("sparse", [])
    for kind, of_kind in rows.items():
        if len(of_kind) < FEWEST_SIZES:
            raise UserError(
                f"{kind}: ranks started together for {len(of_kind)} of the sizes, and a profile needs {FEWEST_SIZES}; "
                "is too much else running on this machine?"
            )
    if sparse:
        rows["alltoallv"], sparse = tuning.of_same_specs(rows["alltoallv"], sparse)
    return shoal.Profile(ranks=ranks, shoal=shoal.__version__, kinds=rows, sparse=sparse, asking=asking, **job)


def fill(tables: dict[str, tuning.Table], measure: tuning.Measure, mpi: Mpi, ranks: int, seconds: float) -> None:
    """Fills the tables by measuring, and shows how far that is."""
    bar = Progress(TextColumn("{task.description}"), BarColumn(), console=err, transient=True)
    with bar:
        task = bar.add_task(f"{mpi.kind} {mpi.version}, {ranks} ranks", total=seconds)

        def tell(state: tuning.Progress) -> None:
            text = f"{state.sizes} sizes measured, {state.doubts} in doubt, at most {max(0, state.left):.0f} s left"
            bar.update(task, completed=seconds - state.left, description=text)

        tuning.tune(measure, tables, tuning.coarse_sizes(ranks), seconds, tell)


def tune_mpi(mpi: Mpi, ranks: int, seconds: float, path: Path) -> None:
    """Measures the MPI's own algorithms, and writes its own file. Variables force an algorithm, so each algorithm needs
    a launch of its own."""
    own = mpi_tuning.FORCED.get(mpi.kind)
    if own is None:
        raise UserError(
            f"--export: {mpi.kind} reads no file that Shoal can write; {' and '.join(mpi_tuning.FORCED)} do"
        )
    runner = Runner(mpi, ranks)

    def measure(kind: str, sizes: list[int], algorithms: list[str], seconds: float) -> tuning.Times:
        times: tuning.Times = {}
        for name in algorithms:
            runner.variables = own[kind].get(name, {})
            for size, found in runner.measure(kind, sizes, [mpi_tuning.DEFAULT], seconds).items():
                times.setdefault(size, {})[name] = found[mpi_tuning.DEFAULT]
        return times

    tables = {kind: tuning.Table([mpi_tuning.DEFAULT, *algorithms]) for kind, algorithms in own.items()}
    fill(tables, measure, mpi, ranks, seconds)
    if not all(table.times for table in tables.values()):
        raise UserError(f"{ranks} ranks never started together; is too much else running on this machine?")
    found = {
        kind: mpi_tuning.steps(table) if kind == "alltoall" else mpi_tuning.for_all_sizes(table)
        for kind, table in tables.items()
    }
    path.write_text(mpi_tuning.write(mpi.kind, mpi.library, ranks, found))
    out.print(mpi_overview(tables))
    for kind in ("alltoall", "alltoallv"):
        out.print(f"{kind}: {described(found.get(kind, []))}", soft_wrap=True)
    out.print(mpi_tuning.READ_BY[mpi.kind].format(path=path.absolute()), soft_wrap=True)
    out.print("Two launches of one program differ: run yours with and without the file, several times.", soft_wrap=True)


def mpi_overview(tables: dict[str, tuning.Table]) -> RichTable:
    rows = RichTable("call", "block", "fastest first")
    for kind, table in tables.items():
        for size in sorted(table.times):
            order = sorted(table.medians(size).items(), key=lambda entry: entry[1])
            times = ", ".join(f"{named(name)} {readable_seconds(time)}" for name, time in order)
            rows.add_row(kind, readable_bytes(size), times)
        rows.add_section()
    return rows


def described(found: list[mpi_tuning.Step]) -> str:
    if not found:
        return "this MPI has one algorithm for it, so there is nothing to choose"
    texts = [f"up to {readable_bytes(int(step.most))} {named(step.algorithm)}" for step in found[:-1]]
    return ", ".join([*texts, f"{'above' if texts else 'all blocks'} {named(found[-1].algorithm)}"])


def named(algorithm: str) -> str:
    return "the MPI's choice" if algorithm == mpi_tuning.DEFAULT else algorithm


class Runner:
    """Launches the benchmark driver."""

    def __init__(self, mpi: Mpi, ranks: int) -> None:
        self.mpi, self.ranks = mpi, ranks
        self.job: dict[str, str] = {}
        self.variables: dict[str, str] = {}  # set for the ranks

    def prepare(self) -> float:
        """Learns what job this is, and how long ranks take to agree on sizes."""
        times = self.measure("alltoallv", [tuning.SMALLEST], ["ask"], 0.1)
        if not times:
            raise UserError(f"{self.ranks} ranks never started together; is too much else running on this machine?")
        return statistics.median(times[tuning.SMALLEST]["ask"])

    def measure(self, kind: str, sizes: list[int], specs: list[str], seconds: float) -> tuning.Times:
        distribution, scale = MEASURED_WITH[kind]
        arguments = ["--variants", ";".join(specs), "--sizes", ",".join(str(scale * size) for size in sizes)]
        arguments += ["--distributions", distribution, "--seconds", f"{seconds:.3g}"]
        times: tuning.Times = {}
        for line in measure_lines(self.mpi, self.ranks, arguments, self.launch):
            record: dict[str, Any] = json.loads(line)
            if "provenance" in record:
                self.job = record["provenance"]["job"]
            elif record["seconds"]:
                times.setdefault(record["size"] // scale, {})[record["variant"]] = record["seconds"]
        return times

    def launch(self, mpi: Mpi, ranks: int, program: list[str], own: dict[str, str]) -> list[str]:
        return launch_command(mpi, ranks, program, own | self.variables)


def overview(profile: shoal.Profile) -> RichTable:
    """What jobs with this profile would choose."""
    rows = RichTable("call", "block", "chosen", "takes", "the MPI's own", "next best")
    kinds = [("alltoall", "", 0.0, profile.rows("alltoall")), ("alltoallv", "", 0.0, profile.rows("alltoallv"))]
    kinds.append(("alltoallv", ", most empty", SPARSE, profile.sparse_rows()))
    for kind, remark, empty, measured in kinds:
        for block, seconds in measured:
            choice = profile.choose(kind, block, empty)
            native = readable_seconds(seconds["native"]) if "native" in seconds else "-"
            after = f"{choice.next} {readable_seconds(choice.next_seconds)}"
            rows.add_row(
                kind, readable_bytes(block) + remark, choice.spec, readable_seconds(choice.seconds), native, after
            )
        rows.add_section()
    return rows
