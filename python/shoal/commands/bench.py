"""shoal bench: variants of an exchange, measured side by side."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import shoal
from shoal import suites
from shoal.children import child
from shoal.commands.given import refuse_others, refuse_twice, refuse_unused, variant_names
from shoal.console import err, out
from shoal.emulation import Emulation, scheduling_note
from shoal.errors import UserError, unknown
from shoal.measurements import Case, Results, Series, blocks_of, readable_bytes, readable_seconds
from shoal.mpi import Mpi, find_all, launch_command, launch_environment
from shoal.networks import GROUPS, HELP, least_seconds, read_network
from shoal.resume import Earlier, Kept, label_of
from shoal.routine import compile_routine
from shoal.suites import SUITES, Suite

# Makes a command from an MPI, a number of ranks, a program and its variables.
Launch = Callable[[Mpi, int, list[str], dict[str, str]], list[str]]

NOT_SPECS = (
    "auto", "choose", "ask", "native", "native_nonblocking", "native_persistent", "preloaded", "hand", "memcpy",
)  # fmt: skip
# The variants of shoal_exchange(); two of them are written by hand.
OF_EXCHANGE = ("auto", "native", "nbx", "crystal")
# For collectives other than all-to-alls: the variants that are not specs, and how the others are parsed.
OTHER_NOT_SPECS = {"allgather": ("auto", "native"), "neighbor_alltoallv": ("auto", "native", "hand")}
PARSED_AS = {"allgather": "allgather", "neighbor_alltoallv": "neighbor_alltoall"}
# The distributions if no option gives any.
DISTRIBUTIONS = {
    "alltoall": "uniform,random", "alltoallw": "strips", "exchange": "partners:8", "neighbor_alltoallv": "partners:8",
}  # fmt: skip
COLOURS = {"faster": "green", "slower": "red", "no difference": "dim"}


# Options that an option sets as well, so that nobody may give both.
SAID = {
    "suite": (
        "collective",
        "ranks",
        "sizes",
        "distributions",
        "variants",
        "seconds",
        "emulate",
        "rate",
        "senders",
        "quick",
    ),
    "quick": ("ranks", "sizes", "distributions"),
    "senders": ("distributions", "collective"),
}


# Options whose help fills a line.
Mpis = Annotated[
    str, typer.Option(help="mpich, openmpi or impi, also with a version as in mpich5; or several, as in mpich5,impi.")
]
Distributions = Annotated[str, typer.Option(help="Distributions of block sizes, separated by commas, see above.")]
Collective = Annotated[
    str,
    typer.Option(help="alltoall (-v where blocks differ), alltoallw, exchange or neighbor_alltoallv, see above."),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Keep the complete cases of an interrupted run; measure the others.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Take a first look in less than a minute: 4 ranks, three sizes.")]
ListSuites = Annotated[
    bool, typer.Option("--list-suites", help="List every experiment of the papers with its command.")
]
Senders = Annotated[
    str, typer.Option(help="For allgathers between two groups: numbers of ranks that send to all others, as in 4,2,6.")
]
Phases = Annotated[
    bool, typer.Option("--phases", help="Record where the time of Shoal's exchanges goes, for shoal report.")
]


def bench(
    context: typer.Context,
    ranks: Annotated[str, typer.Option("--ranks", "-n", help="Numbers of ranks, separated by commas.")] = "2,4,8",
    mpi: Mpis = "",
    variants: Annotated[str, typer.Option(help="Variants to compare, separated by ';', see above.")] = "auto;native",
    sizes: Annotated[str, typer.Option(help="Bytes in a block; if blocks differ, in the largest.")] = (
        "8,64,512,4096,32768"
    ),
    distributions: Distributions = "",
    collective: Collective = "alltoall",
    seconds: Annotated[float, typer.Option(help="Seconds for each variant at each size.", min=0.01)] = 0.3,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for results.jsonl and latency.png.")] = Path(
        "shoal-bench"
    ),
    resume: Resume = False,
    quick: Quick = False,
    suite: Annotated[str, typer.Option(help="Run one of the papers' experiments, see --list-suites.")] = "",
    list_suites: ListSuites = False,
    senders: Senders = "",
    emulate: Annotated[str, typer.Option(help=f"Measure on an emulated cluster. {HELP}")] = "",
    rate: Annotated[str, typer.Option(help="Speed of the slowest emulated link, as in 100M.")] = "",
    phases: Phases = False,
) -> None:
    """Measure Shoal's exchanges against the MPI's own, on this machine, with verified data.

    Example: [bold]shoal bench --ranks 8 --variants "auto;native;tuna:radix=2"[/bold]

    Variants are algorithms as shoal list prints them, and auto (Shoal chooses), native (the MPI's own), hand (a loop of
    MPI_Isend and MPI_Irecv), memcpy (a copy of as many bytes).

    Distributions: uniform, all blocks are equal; random, from 0 to the size; normal; power, a few are large; sparse and
    pairs, nine of ten are empty; hot, one rank sends large blocks and the others 8 bytes; fft1 and fft2, as in two
    Fourier transforms; experts, every rank sends most to the same few; matrix:FILE, a CSV or Matrix Market file of what
    each rank sends to each other, scaled to the size, or unchanged with --sizes 0.

    With --collective alltoallw blocks are strips of a matrix, as in Fourier transforms of mpi4py-fft. With --collective
    exchange every rank sends to some ranks that do not know of it. Distributions are then partners:8 and the like;
    variants are auto (shoal_exchange), native (an alltoall of counts, then an alltoallv), nbx and crystal (written by
    hand).
    With --collective neighbor_alltoallv blocks go to partners:8 (random ones) or along grid:4x2 or torus:4x2.

    Variants take turns in random order. All ranks start a repetition at an agreed time, and it lasts from the first
    start to the last end. The table shows median times, and on an emulated cluster also how much of the links' speed
    was used. It calls two variants different only if a statistical test does (a rank test, p < 0.01).
    """
    if list_suites:
        refuse_others(context, "list_suites")
        out.print(suite_table())
        return
    refuse_dropped(context, emulate, collective)
    kinds = distributions or usual_blocks(collective)
    what = Suite("", ranks, sizes, kinds, variants, seconds, emulate, rate, senders, phases, collective)
    if quick:
        what = replace(what, ranks="4", sizes="8,1024,32768")
        out.print(f"quick: --ranks {what.ranks} --sizes {what.sizes}{described(what)}")
    if suite:
        what = replace(find_suite(suite), phases=phases or SUITES[suite].phases)
        out.print(f"{suite}: {what.shows}")
    results = measure_suite(what, choose_mpis(mpi), output, resume)
    show(results, what, output)


def refuse_dropped(context: typer.Context, emulate: str, collective: str) -> None:
    for option, said in SAID.items():
        refuse_twice(context, option, said)
    if not emulate:
        refuse_unused(context, ["rate"], "without --emulate")
    if collective == "exchange":
        refuse_unused(context, ["phases"], "with --collective exchange, which has no schedule")
    if collective == "alltoallw":
        refuse_unused(context, ["distributions"], "with --collective alltoallw, which has strips")


def described(what: Suite) -> str:
    """The distributions as an option; empty if there is no choice: between two groups, and in alltoallw."""
    return "" if what.senders or what.collective == "alltoallw" else f" --distributions {what.distributions}"


def usual_blocks(collective: str) -> str:
    if collective not in DISTRIBUTIONS:
        raise unknown(f"--collective {collective}", DISTRIBUTIONS)
    return DISTRIBUTIONS[collective]


def show(results: Results, what: Suite, output: Path) -> None:
    if not results.cases:
        raise UserError("in every repetition a rank started late: the machine is busy; wait, or give more --seconds")
    for one in tables(results, [name.strip() for name in what.variants.split(";")]):
        out.print(one)
    if what.emulate and (note := scheduling_note()):
        out.print(note)
    from shoal.plots import latency_plot  # takes most of a second to load

    latency_plot(results, output / "latency.png")
    out.print(f"All repetitions: {output / 'results.jsonl'}; picture: {output / 'latency.png'}")


def measure_suite(what: Suite, mpis: list[Mpi], output: Path, resume: bool) -> Results:
    names = check_variants(what.variants, "allgather" if what.senders else what.collective)
    network = read_network(what.emulate, what.rate) if what.emulate else None
    cluster = Cluster(network, f"{what.emulate} {what.rate}".strip()) if network else None
    check_numbers(what)
    every = numbers("--ranks", what.ranks, 1)
    runs = [Run(mpi, ranks, what.seconds, cluster, what.phases, what.collective) for mpi in mpis for ranks in every]
    path = output / "results.jsonl"
    earlier = Earlier.read(path) if resume else Earlier()
    todo = [(run, earlier.keep(run.label, run.cases(what), names)) for run in runs]
    others = earlier.without({(run.label, *case) for run, kept in todo for case in kept.missing})
    output.mkdir(parents=True, exist_ok=True)
    return measure_all(todo, names, ResultsFile(path, others), cluster)


def numbers(option: str, text: str, least: int) -> list[int]:
    words = text.split(",")
    if not all(re.fullmatch(r"\d{1,18}", word) and int(word) >= least for word in words):
        raise UserError(f"{option} {text}: expected whole numbers from {least} on, as in 2,4,8")
    return [int(word) for word in words]


def senders_of(what: Suite) -> list[int]:
    return numbers("--senders", what.senders, 1) if what.senders else []


def check_numbers(what: Suite) -> None:
    """Checks the numbers in the options before anything is launched."""
    numbers("--sizes", what.sizes, 0)
    fewest = min(numbers("--ranks", what.ranks, 1))
    for senders in senders_of(what):
        if senders >= fewest:
            raise UserError(f"--senders {senders}: of {fewest} ranks at least one must send and one receive")


@dataclass(frozen=True)
class Cluster:
    """An emulated cluster, and the words that asked for it."""

    network: shoal.Network
    name: str


@dataclass(frozen=True)
class Run:
    mpi: Mpi
    ranks: int
    seconds: float
    cluster: Cluster | None
    phases: bool
    collective: str = "alltoall"

    @property
    def label(self) -> str:
        network = self.cluster.name if self.cluster else ""
        mpi = f"{self.mpi.kind} {self.mpi.version}"
        return label_of(mpi, self.ranks, self.seconds, network, self.phases, self.collective)

    @property
    def particulars(self) -> dict[str, str]:
        """What sets the results apart from those of all-to-alls on this machine, for shoal report."""
        network = {"network": f"emulated {self.cluster.name}"} if self.cluster else {}
        return network | ({"collective": self.collective} if self.collective != "alltoall" else {})

    def cases(self, what: Suite) -> list[tuple[str, int]]:
        groups = [f"{p} to {self.ranks - p}" for p in senders_of(what)]
        sizes = numbers("--sizes", what.sizes, 0)
        return [(kind, size) for kind in groups or what.distributions.split(",") for size in sizes]

    def measure(self, kept: Kept, variants: list[str], launch: Launch) -> Iterator[str]:
        """Measures what is missing, and yields the lines."""
        for distributions, sizes in kept.launches():
            asked = ["--variants", ";".join(variants), "--sizes", ",".join(map(str, sizes))]
            asked += ["--seconds", str(self.seconds), "--phases", str(int(self.phases))]
            asked += ["--collective", self.collective]
            kinds = [["--senders", found[1]] for name in distributions if (found := re.fullmatch(GROUPS, name))]
            for kind in kinds or [["--distributions", ",".join(distributions)]]:
                for line in measure(self.mpi, self.ranks, [*asked, *kind], launch):
                    yield self.noted(line)

    def noted(self, line: str) -> str:
        """The line with a note: the provenance with how it was measured, a case with the least time that the links of
        an emulated cluster allow."""
        record = json.loads(line)
        if "provenance" in record:
            record["provenance"] |= {"launch": self.label} | self.particulars
        elif self.cluster and self.ranks == self.cluster.network.ranks:
            record["least"] = least_seconds(self.cluster.network, record["distribution"], record["size"])
        return json.dumps(record) + "\n"


def measure_all(
    todo: list[tuple[Run, Kept]], names: list[str], written: "ResultsFile", asked: Cluster | None
) -> Results:
    """Measures what is missing; its lines go into the file, after those that are kept."""
    results = Results()
    results.add_lines(line for _, kept in todo for line in kept.lines)
    emulation = Emulation(asked.network) if asked else nullcontext()
    with emulation as cluster, progress() as bar:
        task = bar.add_task("measuring", total=len(names) * sum(len(kept.missing) for _, kept in todo))
        for run, kept in todo:
            bar.update(task, description=f"{run.mpi.kind} {run.mpi.version}, {run.ranks} ranks")
            with launching(run, cluster, names) as launch:
                for line in run.measure(kept, names, launch):
                    written.add(line)
                    results.add_lines([line])
                    bar.advance(task, 0 if "provenance" in line else 1)
    return results


@dataclass
class ResultsFile:
    """The file of results. What is in it stays until the first new line comes; then the lines to keep replace it."""

    path: Path
    kept: list[str]
    is_begun: bool = False

    def add(self, line: str) -> None:
        if not self.is_begun:
            write_lines(self.path, self.kept)
            self.is_begun = True
        with self.path.open("a") as file:
            file.write(line)


@contextmanager
def launching(run: Run, cluster: Emulation | None, names: list[str]) -> Iterator[Launch]:
    """How ranks are started. If a variant is `preloaded`, ranks on an emulated cluster preload the routine that is
    generated for the cluster."""
    if cluster is None or run.cluster is None:
        yield launch_command
    elif "preloaded" not in names:
        yield cluster.launch_command
    else:
        with tempfile.TemporaryDirectory() as folder:
            library = str(compile_routine(run.cluster.network, run.mpi, Path(folder)))
            yield lambda mpi, ranks, program, variables: cluster.launch_command(
                mpi, ranks, program, variables | {"LD_PRELOAD": library}
            )


def write_lines(path: Path, lines: list[str]) -> None:
    """Replaces the file in one step, so that nothing is lost if this is interrupted."""
    new = path.with_suffix(".new")
    new.write_text("".join(line + "\n" for line in lines))
    new.replace(path)


def find_suite(name: str) -> Suite:
    if name not in SUITES:
        raise unknown(f"--suite {name}", SUITES)
    return SUITES[name]


def suite_table() -> Table:
    rows = Table("what it shows", "command", title="The papers' experiments, and more", title_justify="left")
    for command, shows in suites.every():
        rows.add_row(shows, command)
    return rows


def check_variants(text: str, collective: str = "alltoall") -> list[str]:
    names = variant_names(text)
    for name in names:
        spec = name.partition(" ")[0]
        if collective == "exchange" and spec not in OF_EXCHANGE:
            raise unknown(f"--variants {name} of --collective exchange", OF_EXCHANGE)
        if spec not in OTHER_NOT_SPECS.get(collective, (*NOT_SPECS, *OF_EXCHANGE)):
            shoal.parse(spec, PARSED_AS.get(collective, "alltoall"))
    return names


def choose_mpis(wanted: str) -> list[Mpi]:
    """Of the MPIs that the benchmark driver was built for, those that are named, or else the first."""
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


def choose_mpi(wanted: str) -> Mpi:
    """As choose_mpis(), for commands that measure one."""
    if "," in wanted:
        raise UserError(f"--mpi {wanted}: name one; this command measures one MPI at a time")
    return choose_mpis(wanted)[0]


def driver(mpi: Mpi) -> Path:
    return mpi.preload.with_name("shoal_bench")


@contextmanager
def library_directory(mpi: Mpi) -> Iterator[str]:
    """The folder in which the driver finds the MPI's library. For Debian's MPICH it has a link, because that library
    lacks the name that all others of its ABI have."""
    if mpi.soname != "libmpich.so.12":
        yield str(mpi.library.parent)
        return
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "libmpi.so.12").symlink_to(mpi.library)
        yield directory


def measure(mpi: Mpi, ranks: int, arguments: list[str], launch: Launch = launch_command) -> Iterator[str]:
    """The JSON lines of one launch, as they come."""
    with library_directory(mpi) as libraries, tempfile.TemporaryFile("w+", errors="replace") as said, child(
        launch(mpi, ranks, [str(driver(mpi)), *arguments], {"LD_LIBRARY_PATH": libraries}),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said, text=True,
        env=launch_environment(), start_new_session=True,
    ) as launched:  # fmt: skip
        assert launched.stdout
        yield from (line for line in launched.stdout if line.startswith("{"))
        launched.wait()
        if launched.returncode != 0:
            said.seek(0)
            shutil.copyfileobj(said, sys.stderr)
            raise UserError(f"the benchmark on {mpi} with {ranks} ranks ended with status {launched.returncode}")


def tables(results: Results, variants: list[str]) -> Iterator[Table]:
    """One for each MPI, number of ranks and distribution: a row for each variant, a column for each size."""
    groups: dict[tuple[str, int, str], list[Case]] = {}
    for case in results.cases:
        groups.setdefault((case.mpi, case.ranks, case.distribution), []).append(case)
    for (mpi, ranks, _), cases in groups.items():
        rows = Table(title=f"{mpi}, {ranks} ranks, {blocks_of(cases)}", title_justify="left")
        rows.add_column("variant", no_wrap=True)
        for case in cases:
            rows.add_column(readable_bytes(case.size))
        for name in variants:
            if any(name in results.cases[case] for case in cases):
                rows.add_row(name, *(cell(results.cases[case], name) for case in cases), end_section=True)
        yield rows


def cell(series: dict[str, Series], name: str) -> str:
    """The median; below it how it compares with the MPI's own and with what the links allow, and what `auto` chose."""
    if name not in series:
        return "-"
    text = readable_seconds(series[name].median)
    if name != "native" and "native" in series:
        verdict = series[name].verdict_against(series["native"])
        ratio = series[name].speedup_over(series["native"])
        text += f"\n[{COLOURS[verdict]}]{ratio:.2f}x {verdict}[/]"
    if series[name].least:
        text += f"\n{series[name].least / series[name].median:.0%} of the links"
    return text + (f"\n{series[name].ran.partition(': ')[0]}" if name == "auto" else "")


def progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=err,
        transient=True,
    )  # fmt: skip
