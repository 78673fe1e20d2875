"""shoal bench: variants of an exchange, measured side by side."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import shoal
from shoal.console import err, out
from shoal.emulation import Emulation
from shoal.errors import UserError
from shoal.measurements import Case, Results, Series, readable_bytes, readable_seconds
from shoal.mpi import Mpi, find_all, launch_command, launch_environment
from shoal.networks import HELP, read_network
from shoal.plots import latency_plot
from shoal.resume import Earlier, Kept, label_of, labelled
from shoal.suites import SUITES, Suite

QUICK = {"ranks": "4", "sizes": "8,1024,32768", "distributions": "uniform,random"}
NOT_SPECS = ("auto", "native", "native_nonblocking", "preloaded", "hand", "memcpy")
COLOURS = {"faster": "green", "slower": "red", "no difference": "dim"}


def bench(
    ranks: Annotated[str, typer.Option("--ranks", "-n", help="Numbers of ranks.")] = "2,4,8",
    mpi: Annotated[
        str, typer.Option(help="mpich, openmpi, impi, with a version as in mpich5, or several: mpich5,impi.")
    ] = "",
    variants: Annotated[str, typer.Option(help="Specs, auto, native, hand, memcpy; by ';'.")] = "auto;native",
    sizes: Annotated[str, typer.Option(help="Bytes a block (for all but uniform the largest, see below).")] = (
        "8,64,512,4096,32768"
    ),
    distributions: Annotated[str, typer.Option(help="By ',', see below.")] = "uniform,random",
    seconds: Annotated[float, typer.Option(help="Time for each variant of a case.", min=0.01)] = 0.3,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for results.jsonl and latency.png.")] = Path(
        "shoal-bench"
    ),
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep the complete cases of an interrupted run; measure the others.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A look in less than a minute.")] = False,
    suite: Annotated[str, typer.Option(help=f"One of the papers' experiments: {', '.join(SUITES)}.")] = "",
    emulate: Annotated[str, typer.Option(help=f"Across an emulated cluster: {HELP}")] = "",
    rate: Annotated[str, typer.Option(help="Speed of the slowest emulated link, as in 100M.")] = "",
) -> None:
    """Measure Shoal's exchanges against the MPI's own, on this machine, with verified data.

    Example: [bold]shoal bench --ranks 8 --variants "auto;native;tuna:radix=2"[/bold]

    Block sizes: uniform, all equal; random, between 0 and the size; normal; power, a few large; sparse, nine of ten
    empty; hot, one rank sends large blocks and the others 8 bytes; fft1, fft2, of two Fourier transforms; experts, all
    send most to the same few; matrix:FILE, as in a CSV or Matrix Market file of what each rank sends each other, scaled
    to the size, or as it is there with --sizes 0.

    Every repetition starts at an agreed time and lasts from the
    first start to the last end; variants take turns in random order; a difference is called one when a rank test finds
    it (p < 0.01). Time is per exchange, the median.
    """
    if quick:
        ranks, sizes, distributions = QUICK["ranks"], QUICK["sizes"], QUICK["distributions"]
    if suite:
        what = find_suite(suite)
        ranks, sizes, distributions, variants = what.ranks, what.sizes, what.distributions, what.variants
        seconds, emulate, rate = what.seconds, what.emulate, what.rate
        out.print(f"{suite}: {what.shows}")
    names = check_variants(variants)
    wanted = [(kind, int(size)) for kind in distributions.split(",") for size in sizes.split(",")]
    network = f"{emulate} {rate}".strip()
    runs = [Run(chosen, int(n), seconds, network) for chosen in choose_mpis(mpi) for n in ranks.split(",")]
    path = output / "results.jsonl"
    earlier = Earlier.read(path) if resume else Earlier()
    todo = [(run, earlier.keep(run.label, wanted, names)) for run in runs]
    output.mkdir(parents=True, exist_ok=True)
    results = measure_all(todo, names, path, Emulation(read_network(emulate, rate)) if emulate else None)
    if not results.cases:
        raise UserError("in every repetition a rank started late: the machine is busy; wait, or give more --seconds")
    for one in tables(results, names):
        out.print(one)
    latency_plot(results, output / "latency.png")
    out.print(f"All repetitions: {output / 'results.jsonl'}; picture: {output / 'latency.png'}")


@dataclass(frozen=True)
class Run:
    mpi: Mpi
    ranks: int
    seconds: float
    network: str

    @property
    def label(self) -> str:
        return label_of(f"{self.mpi.kind} {self.mpi.version}", self.ranks, self.seconds, self.network)

    def measure(self, kept: Kept, variants: list[str], launch: Callable[..., list[str]]) -> Iterator[str]:
        """The lines of what is missing."""
        for distributions, sizes in kept.launches():
            arguments = ["--variants", ";".join(variants), "--sizes", ",".join(map(str, sizes))]
            arguments += ["--distributions", ",".join(distributions), "--seconds", str(self.seconds)]
            for line in measure(self.mpi, self.ranks, arguments, launch):
                yield labelled(line, self.label)


def measure_all(
    todo: list[tuple[Run, Kept]], names: list[str], path: Path, network: Emulation | None
) -> Results:  # fmt: skip
    """Into the file, behind what is kept."""
    write_lines(path, [line for _, kept in todo for line in kept.lines])
    results = Results.read([path])
    with network or nullcontext() as cluster, progress() as bar, path.open("a", buffering=1) as file:
        launch = cluster.launch_command if cluster else launch_command
        task = bar.add_task("measuring", total=len(names) * sum(len(kept.missing) for _, kept in todo))
        for run, kept in todo:
            bar.update(task, description=f"{run.mpi.kind} {run.mpi.version}, {run.ranks} ranks")
            for line in run.measure(kept, names, launch):
                file.write(line)
                results.add_lines([line])
                bar.advance(task, 0 if "provenance" in line else 1)
    return results


def write_lines(path: Path, lines: list[str]) -> None:
    """In place of what is there, so that nothing is lost when this is interrupted."""
    new = path.with_suffix(".new")
    new.write_text("".join(line + "\n" for line in lines))
    new.replace(path)


def find_suite(name: str) -> Suite:
    if name not in SUITES:
        raise UserError(f"--suite {name}: there is no such suite; there are {', '.join(SUITES)}")
    return SUITES[name]


def check_variants(text: str) -> list[str]:
    names = [name.strip() for name in text.split(";") if name.strip()]
    for name in names:
        spec = name.partition(" ")[0]
        if spec not in NOT_SPECS:
            shoal.parse(spec)
    return names


def choose_mpis(wanted: str) -> list[Mpi]:
    """Those named, or the first, of the MPIs that the driver was built for."""
    built = [mpi for mpi in find_all() if driver(mpi).is_file()]
    if not built:
        raise UserError("no MPI with a benchmark driver was found; make build makes one, shoal doctor lists MPIs")
    if not wanted:
        return built[:1]
    by_name = {name: mpi for mpi in reversed(built) for name in (mpi.kind, mpi.kind + mpi.version.partition(".")[0])}
    missing = [name for name in wanted.split(",") if name not in by_name]
    if missing:
        raise UserError(f"--mpi {wanted}: no driver for {', '.join(missing)}; there is one for {', '.join(by_name)}")
    return [by_name[name] for name in wanted.split(",")]


def driver(mpi: Mpi) -> Path:
    return mpi.preload.with_name("shoal_bench")


def measure(
    mpi: Mpi, ranks: int, arguments: list[str], launch: Callable[..., list[str]] = launch_command
) -> Iterator[str]:
    """The JSON lines of one launch, as they come."""
    variables = {"LD_LIBRARY_PATH": str(mpi.library.parent)}
    command = launch(mpi, ranks, [str(driver(mpi)), *arguments], variables)
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=launch_environment(), start_new_session=True,
    ) as launched:  # fmt: skip
        assert launched.stdout and launched.stderr
        try:
            yield from (line for line in launched.stdout if line.startswith("{"))
        finally:
            if launched.poll() is None:
                launched.terminate()
        said = launched.stderr.read()
    if launched.returncode != 0:
        sys.stderr.write(said)
        raise UserError(f"the benchmark on {mpi} with {ranks} ranks ended with status {launched.returncode}")


def tables(results: Results, variants: list[str]) -> Iterator[Table]:
    """One for each MPI, number of ranks and distribution: a row for each variant, a column for each size."""
    groups: dict[tuple[str, int, str], list[Case]] = {}
    for case in results.cases:
        groups.setdefault((case.mpi, case.ranks, case.distribution), []).append(case)
    for (mpi, ranks, distribution), cases in groups.items():
        rows = Table(title=f"{mpi}, {ranks} ranks, {distribution} blocks", title_justify="left")
        rows.add_column("variant", no_wrap=True)
        for case in cases:
            rows.add_column(readable_bytes(case.size))
        for name in variants:
            if any(name in results.cases[case] for case in cases):
                rows.add_row(name, *(cell(results.cases[case], name) for case in cases), end_section=True)
        yield rows


def cell(series: dict[str, Series], name: str) -> str:
    """The median; below it how it compares with the MPI's own, and what `auto` took."""
    if name not in series:
        return "-"
    text = readable_seconds(series[name].median)
    if name != "native" and "native" in series:
        verdict = series[name].verdict_against(series["native"])
        ratio = series[name].speedup_over(series["native"])
        text += f"\n[{COLOURS[verdict]}]{ratio:.2f}x {verdict}[/]"
    return text + (f"\n{series[name].ran.partition(': ')[0]}" if name == "auto" else "")


def progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=err,
        transient=True,
    )  # fmt: skip
