"""shoal simulate: exchanges among thousands of ranks on a modelled cluster, by SimGrid's SMPI."""

import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import shoal
from shoal.children import child
from shoal.commands.given import given, refuse_twice, refuse_unused, variant_names
from shoal.console import err, out
from shoal.cost_model import Cluster, closed_forms, has_closed_form, predict
from shoal.errors import UserError, unknown
from shoal.machine import Machine
from shoal.measurements import Case, Results, Series, readable_bytes, readable_seconds
from shoal.platforms import KINDS, make_platform
from shoal.simulated_program import simulate_program
from shoal.simulation import Simulation, in_memory, made, version
from shoal.suites import SIMULATED, Simulated

DRIVER = "libshoal_simulated.so"
SELECTORS = ("mpich", "ompi", "mvapich2", "impi")
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}

# Options that a program has no use for, and options that --suite sets.
OF_EXCHANGES = ("variants", "sizes", "distribution", "senders", "model", "events")
SAID = ("platform", "nodes", "ppn", "selector", "variants", "sizes", "distribution", "senders")

# The mean block, as a share of the size given.
MEANS = {"uniform": 1.0, "random": 0.5}
# Contents are verified up to this much memory; above it, all simulated ranks share one buffer.
MOST_VERIFIED_BYTES = 2 << 30
# If there is no closed form, the schedules of at most so many ranks are counted one by one.
MOST_COUNTED = 512


@dataclass(frozen=True)
class Launch:
    """What one process simulates. For the MPI's own exchanges it makes the choices of one selector."""

    selector: str
    variants: list[str]
    label: str = ""  # the name of the MPI's own exchange in results; empty for Shoal's


def command_for(at: Simulation, platform: str, hosts: str, launch: Launch, arguments: list[str]) -> list[str]:
    """The command that simulates. Spaces in the layout become slashes, because smpirun cuts words at spaces."""
    configured = [f"smpi/coll-selector:{launch.selector}", *at.costs(launch.variants)]
    return [
        *at.smpirun(platform, hosts, configured), "-no-privatize", str(made(DRIVER)),
        "--layout", at.placed.replace(" ", "/"), "--variants", ";".join(launch.variants), *arguments,
    ]  # fmt: skip


@dataclass(frozen=True)
class Blocks:
    sizes: list[int]
    distribution: str
    senders: int

    @property
    def collective(self) -> str:
        if self.partners is not None:
            return "neighbor_alltoall"
        return "allgather" if self.senders else "alltoall"

    @property
    def partners(self) -> int | None:
        """To how many neighbours each rank sends, among neighbours."""
        found = re.fullmatch(r"partners:(\d+)", self.distribution)
        return int(found[1]) if found else None

    def memory(self, ranks: int) -> int:
        """The bytes that all ranks together need for the largest blocks."""
        if self.partners is not None:
            return max(self.sizes) * 2 * ranks * self.partners
        blocks = self.senders * (ranks - self.senders + 1) if self.senders else 2 * ranks * ranks
        return max(self.sizes) * blocks

    def mean(self, size: int) -> float:
        if self.collective != "alltoall":
            return size  # all are equal
        if self.distribution not in MEANS:
            raise UserError(
                f"--model and --events know {' and '.join(MEANS)} blocks, not {self.distribution}; leave them out to "
                "use SimGrid"
            )
        return MEANS[self.distribution] * size

    def problem(self, layout: str) -> shoal.Problem:
        ranks = shoal.Problem(layout=layout).ranks
        if self.senders:
            return shoal.Problem(ranks, senders=self.senders)
        neighbors = None if self.partners is None else shoal.random_neighbors(ranks, self.partners)
        return shoal.Problem(layout=layout, neighbors=neighbors)


# Options whose help fills a line.
Variants = Annotated[
    str | None,
    typer.Option(help="Variants to compare, separated by ';'; default: the usual ones for what is exchanged."),
]
# By collective.
USUAL_ALGORITHMS = {
    "alltoall": "tuna:radix=2;tuna;hierarchical",
    "neighbor_alltoall": "direct;gathered",
    "allgather": "root_gathering;full",
}
Distribution = Annotated[
    str,
    typer.Option(help="Distribution of block sizes, as in shoal bench; or partners:12, equal blocks among neighbours."),
]
MessageCost = Annotated[str, typer.Option(help="Time a rank needs to send a message, and again to receive one.")]
Layout = Annotated[
    str, typer.Option(help="Levels of the ranks, as in 'group:2 node:8 core:16'; platform: the platform's own.")
]
Output = Annotated[Path, typer.Option("--output", "-o", help="Folder for results.jsonl and a picture.")]
Events = Annotated[
    bool, typer.Option("--events", help="Simulate without SimGrid, by events; blocks are all as long as the mean.")
]
Computing = Annotated[
    bool, typer.Option("--computing", help="Count the program's own computing too, at this machine's speed.")
]
Program = Annotated[
    list[str] | None, typer.Argument(help="After --: a program that smpicc or smpicxx built, and its arguments.")
]


def simulate(
    context: typer.Context,
    platform: Annotated[
        str, typer.Option(help=f"{', '.join(KINDS)}, torus:8x8 (torus:64, a ring), a file of SimGrid's; or several.")
    ] = "dragonfly",
    nodes: Annotated[int, typer.Option(help="Number of nodes.", min=1)] = 16,
    ppn: Annotated[int, typer.Option(help="Ranks on each node.", min=1)] = 16,
    variants: Variants = None,
    sizes: Annotated[str, typer.Option(help="Bytes in a block; if blocks differ, in the largest.")] = "16,64,1024",
    distribution: Distribution = "random",
    message_cost: MessageCost = "0.4us",
    selector: Annotated[
        str, typer.Option(help=f"Whose choice of algorithms native stands for: {', '.join(SELECTORS)}, or several.")
    ] = "mpich",
    senders: Annotated[
        int, typer.Option(help="For an allgather between two groups: number of ranks that send to all others.", min=0)
    ] = 0,
    layout: Layout = "",
    suite: Annotated[str, typer.Option(help=f"Run an experiment by name: {', '.join(SIMULATED)}.")] = "",
    model: Annotated[
        bool, typer.Option("--model", help="Predict from schedules' counts, for up to a million ranks.")
    ] = False,
    events: Events = False,
    output: Output = Path("shoal-simulated"),
    computing: Computing = False,
    program: Program = None,
) -> None:
    """Run Shoal's exchanges on a simulated cluster: thousands of ranks, in one process, by a simulated clock.

    Example: [bold]shoal simulate --platform torus --nodes 16 --ppn 32 --variants "native;tuna:radix=2"[/bold]

    Or a whole program, without Shoal and with it: [bold]shoal simulate --nodes 8 --ppn 8 -- ./program 100[/bold]

    Shoal's own schedules and executor run on SimGrid's SMPI. Times follow from the links and the cost of a message,
    which are printed. Each time has the prediction of the cost model (--model) beside it; the last line says how far
    these are off. With --events, Shoal simulates up to 16,384 ranks without SimGrid; messages then queue at links.
    """
    instead = "--model" if model else "--events" if events else ""
    variants = variants_or_usual(variants, Blocks([], distribution, senders).collective, instead)
    refuse_dropped(context, program, variants, instead)
    if suite:
        what = find_suite(suite)
        refuse_twice(context, "suite", ["message_cost"] if what.message_cost else [])
        platform, nodes, ppn, senders = what.platform, what.nodes, what.ppn, what.senders
        sizes, distribution, variants, selector = what.sizes, what.distribution, what.variants, what.selector
        events, message_cost = events or what.events, what.message_cost or message_cost
        out.print(f"{suite}: {what.shows}")
    clusters = [
        cluster(name, nodes, ppn, message_cost, layout, everyone_sends=not (senders or model or events or program))
        for name in platform.split(",")
    ]
    selectors = check_selectors(selector)
    if program:
        simulate_program(clusters, selectors, program, computing=computing, output=output)
        return
    if senders >= nodes * ppn:
        raise UserError(f"--senders {senders}: of {nodes * ppn} ranks at least one must receive")
    wanted = Blocks(check_sizes(sizes), distribution, senders)
    launches = plan_launches(check_variants(variants, wanted.collective), selectors)
    simulate_exchanges(clusters, launches, wanted, output, BY_MODEL if model else BY_EVENTS if events else None)


def variants_or_usual(variants: str | None, collective: str, instead: str) -> str:
    """Usual is the MPI's own too, where SimGrid runs: SMPI has one for all but exchanges between two groups."""
    if variants is not None:
        return variants
    native = "" if instead or collective == "allgather" else "native;"
    return native + USUAL_ALGORITHMS[collective]


def refuse_dropped(context: typer.Context, program: list[str] | None, variants: str, instead: str) -> None:
    refuse_twice(context, "suite", SAID)
    refuse_twice(context, "senders", ["distribution"])
    if given(context, "senders"):
        refuse_unused(context, ["layout"], "with --senders: between two groups no schedule looks at nodes")
    if program:
        refuse_unused(context, ["suite", *OF_EXCHANGES], "for a program, which says what it exchanges")
    else:
        refuse_unused(context, ["computing"], "without a program")
    if instead == "--model":
        refuse_unused(context, ["events"], "with --model: they are two ways to a time")
    if instead:
        refuse_unused(context, ["selector"], f"with {instead}, which does not know the MPI's own")
    elif not program and "native" not in variant_names(variants):
        refuse_unused(context, ["selector"], "without the variant native, which alone differs by it")


def simulate_exchanges(
    clusters: list[Simulation], launches: list[Launch], wanted: Blocks, output: Path, foreseen: "Foreseen | None"
) -> None:
    if not foreseen:
        made(DRIVER), version()  # say what is missing before anything is shown or written
    verified = not foreseen and wanted.memory(clusters[0].ranks) <= MOST_VERIFIED_BYTES
    names = [name for launch in launches for name in launch.variants]
    lines = [
        predictions(at, names, wanted, foreseen) if foreseen else simulations(at, launches, wanted, verified)
        for at in clusters
    ]
    results = write(chain(*lines), len(clusters) * len(wanted.sizes) * len(names), output)
    show(results, clusters, verified)
    from shoal.plots import latency_plot  # takes most of a second to load

    latency_plot(results, output / "latency.png")
    out.print(f"Results: {output / 'results.jsonl'}; picture: {output / 'latency.png'}")


def cluster(platform: str, nodes: int, ppn: int, message_cost: str, layout: str, *, everyone_sends: bool) -> Simulation:
    found = make_platform(platform, nodes)
    placed = found.layout(nodes, ppn) if layout == "platform" else layout
    if placed and (at := shoal.Problem(layout=placed)) and (at.ranks, at.largest_node) != (nodes * ppn, ppn):
        raise UserError(f"--layout {layout}: that is not --nodes {nodes} of --ppn {ppn} ranks")
    return Simulation(found, nodes, ppn, seconds_of(message_cost), everyone_sends, placed)


def write(lines: Iterable[str], expected: int, output: Path) -> Results:
    """Writes the lines into the folder as they come. `expected` is how many of them will have times."""
    output.mkdir(parents=True, exist_ok=True)
    results = Results()
    with (output / "results.jsonl").open("w", buffering=1) as file, progress() as bar:
        task = bar.add_task("simulating", total=expected)
        for line in lines:
            file.write(line + "\n")
            results.add_lines([line])
            bar.advance(task, 0 if "provenance" in line else 1)
    return results


def find_suite(name: str) -> Simulated:
    if name not in SIMULATED:
        raise unknown(f"--suite {name}", SIMULATED)
    return SIMULATED[name]


def seconds_of(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?(ns|us|ms|s)", text)
    if not match:
        raise UserError(f"--message-cost {text}: not a time; expected one such as 0.4us")
    return float(match[1]) * UNITS[match[2]]


def check_variants(text: str, collective: str) -> list[str]:
    names = variant_names(text)
    for name in names:
        if name != "native":
            shoal.parse(name, collective)
        elif collective == "allgather":
            raise UserError("native: SMPI has no inter-communicators; root_gathering is what MPI libraries do")
    return names


def check_selectors(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in SELECTORS:
            raise unknown(f"--selector {name}", SELECTORS)
    return names


def check_sizes(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    if not all(re.fullmatch(r"\d{1,18}", word) for word in words):
        raise UserError(f"--sizes {text}: expected numbers of bytes such as 16,1024")
    return [int(word) for word in words]


def plan_launches(variants: list[str], selectors: list[str]) -> list[Launch]:
    """One launch for Shoal's exchanges, and one for the MPI's own with each selector."""
    ours = [name for name in variants if name != "native"]
    launches = [Launch(selectors[0], ours)] if ours else []
    if "native" in variants:
        labels = ["native", *(f"native {selector}" for selector in selectors[1:])]
        launches += [Launch(selector, ["native"], label) for selector, label in zip(selectors, labels, strict=True)]
    return launches


def simulations(at: Simulation, launches: list[Launch], wanted: Blocks, verified: bool) -> Iterator[str]:
    yield at.provenance(f"SimGrid {version()}", verified)
    arguments = ["--distributions", wanted.distribution, "--senders", str(wanted.senders)]
    arguments += ["--sizes", ",".join(map(str, wanted.sizes)), "--verify", str(int(verified))]
    for launch in launches:
        for line in run(at, launch, arguments, len(launch.variants) * len(wanted.sizes)):
            yield renamed(line, launch.label) if launch.label else noted(line, at, wanted)


def noted(line: str, at: Simulation, wanted: Blocks) -> str:
    """The line with what the cost model says. It stays as it is if the model does not know the platform, the blocks or
    the variant."""
    record = json.loads(line)
    if at.platform.machine is None:
        return line
    try:
        seconds = prediction(at, record["variant"], wanted, record["size"])
    except (UserError, ValueError):  # ValueError: the algorithm's own refusal
        return line
    return json.dumps(record | {"predicted": seconds})


def prediction(at: Simulation, variant: str, wanted: Blocks, size: int) -> float:
    if at.platform.machine is None:
        raise UserError(f"--model knows {', '.join(KINDS)}, not {at.platform.name}")
    if variant == "native":
        raise UserError("--model counts schedules; native, the MPI's own exchange, has none")
    machine, how, block = (
        at.platform.machine(at.message_cost),
        shoal.parse(variant, wanted.collective),
        wanted.mean(size),
    )
    if wanted.senders:
        return between_groups(how, at, wanted, block, machine)
    if not at.layout and has_closed_form(how):
        return predict(how, Cluster(at.nodes, at.ppn), block, machine)
    if at.ranks > MOST_COUNTED:
        raise UserError(
            f"{variant}: --model counts its schedules, of at most {MOST_COUNTED} ranks; there is {closed_forms()}"
        )
    load = shoal.load_of(how, wanted.problem(at.placed))
    return replace(machine, memory=machine.node).seconds(load, block)  # in SMPI all messages in a node cost the same


def between_groups(how: shoal.Selection, at: Simulation, wanted: Blocks, message: float, machine: Machine) -> float:
    if at.ppn > 1:
        raise UserError("--model counts the steps of two groups with one rank on each node; give --ppn 1")
    return shoal.seconds_between_groups(how, wanted.problem(at.placed), message, machine.link)


def by_events(at: Simulation, variant: str, wanted: Blocks, size: int) -> float:
    if at.platform.events is None:
        raise UserError(f"--events knows {', '.join(KINDS)}, not {at.platform.name}")
    if variant == "native":
        raise UserError("--events runs schedules; native, the MPI's own exchange, has none")
    if wanted.collective != "alltoall":
        raise UserError("--events knows all-to-alls only; leave it out to use SimGrid")
    problem, block = wanted.problem(at.placed), wanted.mean(size)
    try:
        return shoal.simulate_events(
            shoal.parse(variant), problem, block, at.platform.events(at.nodes, at.message_cost)
        )
    except ValueError as error:
        raise UserError(f"--events: {error}") from error


@dataclass(frozen=True)
class Foreseen:
    """A way to find a time without SimGrid."""

    how: str
    seconds: Callable[[Simulation, str, Blocks, int], float]  # of a variant with blocks of this size


BY_MODEL = Foreseen("counts of the schedules", prediction)
BY_EVENTS = Foreseen("events of every rank, all blocks as long as the mean", by_events)


def predictions(at: Simulation, variants: list[str], wanted: Blocks, foreseen: Foreseen) -> list[str]:
    """The same lines as simulations(), without SimGrid."""
    lines = [at.provenance(foreseen.how, False)]
    for size in wanted.sizes:
        for variant in variants:
            seconds = foreseen.seconds(at, variant, wanted, size)
            facts = {"ranks": at.ranks, "distribution": wanted.distribution, "size": size, "variant": variant}
            lines.append(
                json.dumps(facts | {"ran": variant, "modelled": True, "verified": False, "seconds": [seconds]})
            )
    return lines


def renamed(line: str, variant: str) -> str:
    return json.dumps(json.loads(line) | {"variant": variant})


def run(at: Simulation, launch: Launch, arguments: list[str], expected: int) -> Iterator[str]:
    """The JSON lines of one simulation, as they come; `expected` is how many there must be."""
    found = 0
    hosts = at.platform.host_file(at.nodes, at.ppn)
    with in_memory(at.platform.xml) as platform, in_memory(hosts) as placed, tempfile.TemporaryFile("w+") as said:
        command = command_for(at, platform, placed, launch, arguments)
        with child(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said, text=True) as launched:
            assert launched.stdout
            for line in launched.stdout:
                if line.startswith("{"):
                    found += 1
                    yield line.strip()
            launched.wait()
        if launched.returncode != 0 or found < expected:  # SMPI's MPI_Abort ends with status 0
            said.seek(0)
            sys.stderr.write(said.read())
            raise UserError(f"the simulation of {at.ranks} ranks ended before all was exchanged")


def table(cases: dict[Case, dict[str, Series]]) -> Table:
    names = list(dict.fromkeys(name for series in cases.values() for name in series))
    rows = Table("blocks", *names)
    for case, series in cases.items():
        base = series["native"].median if "native" in series else 0
        cells = [cell(series[name], base if name != "native" else 0) for name in names]
        rows.add_row(f"{case.distribution} {readable_bytes(case.size)}", *cells)
    return rows


def cell(one: Series, base: float) -> str:
    """The time; how many times as fast that is as the time `base`, if there is one; and what the cost model says."""
    words = [readable_seconds(one.median)]
    if base:
        words.append(f"{base / one.median:.2f}x")
    if one.predicted:
        words.append(f"(model {readable_seconds(one.predicted)})")
    return " ".join(words)


def show(results: Results, clusters: list[Simulation], verified: bool) -> None:
    """A table for each cluster, and how far the cost model is from what was simulated."""
    for at in clusters:
        out.print(at.words() + ("" if verified else "; contents not verified"), soft_wrap=True)
        out.print(table({case: series for case, series in results.cases.items() if case.mpi == at.name}))
    pairs = [(one.predicted, one.median) for series in results.cases.values() for one in series.values()
             if one.predicted]  # fmt: skip
    if pairs:
        off = [abs(predicted / simulated - 1) for predicted, simulated in pairs]
        out.print(
            f"The cost model (--model) is off by {statistics.median(off):.0%} in the median of {len(off)} times, by "
            f"{max(off):.0%} at most.", soft_wrap=True,
        )  # fmt: skip


def progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=err,
        transient=True,
    )  # fmt: skip
