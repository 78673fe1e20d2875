"""shoal model: the prices from which the times of schedules are predicted."""

import statistics
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

import shoal
from shoal import machine, tuning
from shoal.commands.bench import choose_mpi
from shoal.commands.tune import Runner
from shoal.console import err, out
from shoal.machine import Machine, Sample
from shoal.measurements import readable_bytes, readable_seconds

SIZES = [8, 128, 1024, 8192, 65536]
app = typer.Typer(help="The model that predicts what exchanges take.", no_args_is_help=True)


@app.callback()
def model() -> None:
    """The model that predicts what exchanges take."""


@app.command()
def fit(
    ranks: Annotated[int, typer.Option("--ranks", "-n", help="Number of ranks.", min=2)],
    mpi: Annotated[
        str, typer.Option(help="mpich or openmpi, also with a version as in mpich5; default: the first found.")
    ] = "",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The file to write.")] = None,
) -> None:
    """Measure exchanges for less than a minute, and find the prices that explain them.

    Example: [bold]shoal model fit -n 8 -o machine.toml[/bold]; then shoal explain --model machine.toml ...

    There is a price for each wait, message and byte (through a node's memory, inside a node, between nodes), and for
    each byte copied. The command shows two errors: how far these prices are off, and how far predictions are off for
    algorithms that the fit left out.
    """
    chosen = choose_mpi(mpi)
    runner = Runner(chosen, ranks)
    with err.status(f"measuring with {chosen.kind} {chosen.version}"):
        runner.prepare()
        problem = shoal.Problem(ranks, layout=runner.job["layout"])
        specs = [s for s in tuning.candidates(ranks, runner.job["layout"], uniform=False) if s != "native"]
        seconds = min(0.2, 30 / len(SIZES) / len(specs))
        times = runner.measure("alltoallv", SIZES, specs, seconds)
    loads = {spec: shoal.load_of(shoal.parse(spec), problem) for spec in specs}
    samples = [
        Sample(spec, size, loads[spec], statistics.median(seconds))
        for size, of_specs in times.items()
        for spec, seconds in of_specs.items()
    ]
    found = machine.fit(samples, f"{chosen.kind} {chosen.version}, {ranks} ranks as {runner.job['layout']}")
    out.print(price_table(found))
    out.print(sample_table(found, samples))
    fitted, unseen = machine.errors(found, samples), machine.errors_unseen(samples)
    out.print(
        f"Error: mean {statistics.mean(fitted):.0%}, largest {max(fitted):.0%}; "
        f"of algorithms left out: mean {statistics.mean(unseen):.0%}, median {statistics.median(unseen):.0%}"
    )
    if output:
        output.write_text(machine.to_toml(found))
        out.print(f"Written: {output}", soft_wrap=True)


def price_table(found: Machine) -> Table:
    rows = Table("level", "a wait", "a message", "a KiB")
    for level in machine.LEVELS:
        of = getattr(found, level)
        a_kib = readable_seconds(1024 * of.per_byte)
        rows.add_row(level, readable_seconds(of.latency), readable_seconds(of.per_message), a_kib)
    rows.add_row("copy", "", "", readable_seconds(1024 * found.copy))
    return rows


def sample_table(found: Machine, samples: list[Sample]) -> Table:
    sizes = sorted({sample.block for sample in samples})
    rows = Table("measured, predicted", *(readable_bytes(size) for size in sizes))
    cells: dict[str, dict[int, str]] = {}
    for s in samples:
        predicted = readable_seconds(found.seconds(s.load, s.block))
        cells.setdefault(s.spec, {})[s.block] = f"{readable_seconds(s.seconds)}, {predicted}"
    for spec, of_sizes in cells.items():
        rows.add_row(spec, *(of_sizes.get(size, "-") for size in sizes))
    return rows
