"""shoal check: all ranks' schedules, run symbolically."""

import itertools
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Annotated, Literal

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import shoal
from shoal.commands.given import refuse_twice, refuse_unused
from shoal.console import err, out
from shoal.errors import UserError
from shoal.graphs import HELP as GRAPH
from shoal.graphs import read_graph

AHEAD = 8  # cases that wait for each core

# Of a case: a fault, why the algorithm refuses it, or nothing.
Outcome = shoal.Fault | ValueError | None


@dataclass
class Tally:
    """What became of the schedules of one algorithm."""

    checked: int = 0
    refused: int = 0  # the algorithm says that it cannot serve the problem
    parameters: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Case:
    selection: shoal.Selection
    problem: shoal.Problem


def check(
    context: typer.Context,
    spec: Annotated[
        str,
        typer.Argument(help="tuna:radix=3 checks this radix, tuna every useful parameter; default: all algorithms."),
    ] = "",
    ranks: Annotated[str, typer.Option("--ranks", "-n", help="Numbers of ranks, as in 1-64 or 8,16,31.")] = "1-32",
    layout: Annotated[str, typer.Option(help="Check on these nodes (4,4,3) or levels (node:2 core:4).")] = "",
    graph: Annotated[str, typer.Option(help=GRAPH)] = "",
    collective: Annotated[
        Literal["alltoall", "allgather", "neighbor_alltoall"] | None,
        typer.Option(
            help="Check only this one. allgather is between two groups; in neighbor_alltoall all ranks are neighbours"
            " without --graph."
        ),
    ] = None,
) -> None:
    """Check that every block arrives once, in its place, and that nothing deadlocks; exit status 1 on a fault.

    Example: [bold]shoal check tuna:radix=3 --ranks 1-64[/bold]
    """
    refuse_dropped(context, collective)
    neighbors = read_graph(graph) if graph else None
    alone = shoal.Problem(layout=layout, neighbors=neighbors) if layout or graph else None
    numbers = [] if alone else parse_ranks(ranks)
    with progress() as bar:
        at = bar.track([alone] if alone else problems(numbers), total=sum(numbers) or 1)
        cases = (case for case in all_cases(spec, at) if collective in (None, case.selection.algorithm.collective))
        tallies = counted(outcomes(cases))
    out.print(table(tallies))
    faults = [fault for tally in tallies.values() for fault in tally.faults]
    for fault in faults[:20]:
        out.print(fault, markup=False)
    if not any(tally.checked for tally in tallies.values()):
        raise UserError("nothing was checked: no algorithm serves these ranks; see shoal list")
    raise typer.Exit(1 if faults else 0)


def refuse_dropped(context: typer.Context, collective: str | None) -> None:
    refuse_twice(context, "layout", ["ranks"])
    refuse_twice(context, "graph", ["ranks"])
    if collective == "allgather":
        refuse_unused(context, ["layout"], "with --collective allgather: between two groups no schedule looks at nodes")
    if collective in ("alltoall", "allgather"):
        refuse_unused(context, ["graph"], f"with --collective {collective}")


def parse_ranks(text: str) -> list[int]:
    numbers: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last:
            raise UserError(f"--ranks {text}: '{part}' is not a number of ranks such as 8, or a range such as 1-64")
        if last > shoal.MOST_RANKS:
            raise UserError(
                f"--ranks {text}: {last} is more than {shoal.MOST_RANKS}, the most ranks that Shoal takes; give fewer"
            )
        numbers.update(range(first, last + 1))
    return sorted(numbers)


def problems(ranks: list[int]) -> Iterator[shoal.Problem]:
    """For each number of ranks as many problems: an all-to-all, and an allgather between two groups for each number of
    senders."""
    for number in ranks:
        yield shoal.Problem(number)
        yield from (shoal.Problem(number, senders=senders) for senders in range(1, number))


def all_cases(spec: str, at: Iterable[shoal.Problem]) -> Iterator[Case]:
    chosen = {} if not spec else {what: shoal.parse(spec, what) for what in collectives_of(spec)}
    every = [one for one in shoal.algorithms() if one.has_schedule and spec in ("", one.name)]
    for problem in at:
        served = ["alltoall", "neighbor_alltoall"] if problem.collective == "alltoall" else [problem.collective]
        if ":" in spec:
            yield from (Case(chosen[what], problem) for what in served if what in chosen)
            continue
        for algorithm in every:
            if algorithm.collective in served:
                texts = specs(algorithm, problem.ranks, len(problem.levels))
                yield from (Case(shoal.parse(text, algorithm.collective), problem) for text in texts)


def collectives_of(spec: str) -> list[str]:
    """The collectives of the algorithm that the spec names. If there is none, alltoall, for the error that it gives."""
    name = spec.partition(":")[0]
    return [algorithm.collective for algorithm in shoal.algorithms() if algorithm.name == name] or ["alltoall"]


def specs(algorithm: shoal.Algorithm, ranks: int, levels: int = 0) -> Iterator[str]:
    """The defaults, and each parameter in turn with every value that makes a difference among these ranks."""
    yield algorithm.name
    for parameter in algorithm.parameters:
        for value in values(parameter, ranks):
            if value != parameter.standard:
                yield f"{algorithm.name}:{parameter.name}={value}"
        if parameter.by_level and levels > 2:
            yield from (f"{algorithm.name}:{parameter.name}={value}" for value in different(parameter))


def different(parameter: shoal.Parameter) -> Iterator[str]:
    """Every pair of different values, of all words and two numbers: one for the innermost level, one for all others."""
    some = [
        *parameter.words,
        *(str(n) for n in range(parameter.lowest, min(parameter.highest, parameter.lowest + 1) + 1)),
    ]
    return (f"{one}/{other}" for one, other in itertools.permutations(some, 2))


def values(parameter: shoal.Parameter, ranks: int) -> list[str]:
    if parameter.list:
        return [*parameter.words, *mixed(parameter.lowest, ranks)]
    return [*parameter.words, *(str(n) for n in range(parameter.lowest, min(parameter.highest, ranks) + 1))]


def mixed(lowest: int, ranks: int) -> set[str]:
    """Lists of numbers whose product reaches `ranks`: ascending, descending, and two alternating numbers."""
    lists: set[str] = set()
    for cycle in (range(lowest, lowest + 8), range(lowest + 7, lowest - 1, -1), [lowest, lowest + 2] * 8):
        product, parts = 1, []
        for number in cycle:
            if product < ranks:
                product *= number
                parts.append(str(number))
        if product >= ranks and parts:
            lists.add("x".join(parts))
    return lists


def outcomes(cases: Iterable[Case]) -> Iterator[tuple[Case, Outcome]]:
    """What becomes of each case, in order. There may be millions, so few are held at once."""
    cores = len(os.sched_getaffinity(0))
    under_way: deque[tuple[Case, Future[Outcome]]] = deque()
    with ThreadPoolExecutor(cores) as workers:
        for case in cases:
            under_way.append((case, workers.submit(check_case, case)))
            if len(under_way) > AHEAD * cores:
                first, outcome = under_way.popleft()
                yield first, outcome.result()
        yield from ((first, outcome.result()) for first, outcome in under_way)


def check_case(case: Case) -> Outcome:
    try:
        return shoal.check_all_ranks(case.selection, case.problem)
    except ValueError as refusal:
        return refusal


def counted(outcomes: Iterable[tuple[Case, Outcome]]) -> dict[str, Tally]:
    """What became of each algorithm's cases, by its name."""
    tallies: dict[str, Tally] = {}
    for case, outcome in outcomes:
        count(tallies.setdefault(case.selection.algorithm.name, Tally()), case, outcome)
    return tallies


def count(tally: Tally, case: Case, outcome: Outcome) -> None:
    if isinstance(outcome, ValueError):
        tally.refused += 1
        return
    tally.checked += 1
    tally.parameters.add(str(case.selection))
    if outcome is not None:
        where = f"{case.problem.senders} senders of " if case.problem.senders else ""
        tally.faults.append(f"{case.selection} with {where}{case.problem.ranks} ranks: {outcome.kind}: {outcome.text}")


def progress() -> Progress:
    columns = TextColumn("checking"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    return Progress(*columns, console=err, transient=True, disable=not err.is_terminal)


def table(tallies: dict[str, Tally]) -> Table:
    rows = Table("algorithm", "parameters tried", "schedules checked", "not applicable", "faults")
    for name, tally in tallies.items():
        faults = f"[red]{len(tally.faults)}[/red]" if tally.faults else "0"
        rows.add_row(name, str(len(tally.parameters)), str(tally.checked), str(tally.refused), faults)
    return rows
