"""shoal explain: what would be chosen for an exchange, and why."""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

import shoal
from shoal import machine, tuning
from shoal.commands.given import given, refuse_twice, refuse_unused
from shoal.commands.plan import LAYOUT, Receivers, Senders, make_problem
from shoal.commands.run import algorithm_settings
from shoal.console import out
from shoal.errors import UserError, unknown
from shoal.graphs import HELP as GRAPH
from shoal.graphs import MISSING
from shoal.machine import COMMON, Machine
from shoal.measurements import readable_seconds

KINDS = tuple(one.name for one in algorithm_settings())
PROFILED = ("alltoall", "alltoallv")
# Options that not all collectives have.
OWN = {"alltoall": ["profile", "empty"], "neighbor_alltoall": ["graph", "empty"],
       "allgather": ["senders", "receivers", "network"]}  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """An exchange. `place`: its ranks, for people. `block`: bytes of a block on average, or of the largest message
    between two groups."""

    call: str
    problem: shoal.Problem
    layout: str
    place: str
    block: float
    empty: float

    @property
    def mean(self) -> float:
        """The bytes of a block if empty blocks count too."""
        return self.block * (1 - self.empty)


@dataclass(frozen=True)
class Explanation:
    """What is chosen. Seconds are predicted, or measured if a profile decided."""

    call: str
    ranks: int
    layout: str
    place: str
    mean_block: float
    empty: float
    chosen: str
    seconds: float
    why: str
    next: str
    next_seconds: float
    by: str
    in_jobs: str


def explain(
    context: typer.Context,
    call: Annotated[str, typer.Argument(help=f"{', '.join(KINDS[:-1])} or {KINDS[-1]}.")],
    sizes: Annotated[str, typer.Option(help="Bytes in a block: 512, or uniform:0-512.")],
    empty: Annotated[float, typer.Option(help="Share of blocks that are empty, as in 0.9.", min=0, max=1)] = 0,
    ranks: Annotated[int, typer.Option("--ranks", "-n", help="Number of ranks; or give --layout.")] = 0,
    layout: Annotated[str, typer.Option(help=LAYOUT)] = "",
    graph: Annotated[str, typer.Option(help=GRAPH)] = "",
    senders: Senders = 0,
    receivers: Receivers = 0,
    network: Annotated[str, typer.Option(help="What connects two groups, as SHOAL_NETWORK says.")] = "full",
    profile: Annotated[Path | None, typer.Option(help="Choose by this profile, as jobs with SHOAL_PROFILE do.")] = None,
    model: Annotated[Path | None, typer.Option(help="Predict for the machine that shoal model fit wrote.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Say which algorithm and parameters would be chosen, why, how long it should take, and what is next best.

    Example: [bold]shoal explain alltoallv --ranks 64 --layout 8x8 --sizes uniform:0-512[/bold]

    Among neighbours: [bold]shoal explain neighbor_alltoall --graph torus:8x8 --layout 8x8 --sizes 512[/bold]

    Between two groups: [bold]shoal explain allgather --senders 8 --receivers 24 --sizes 4096[/bold]

    With --profile it says what jobs with that profile start with. Without it, it predicts: it counts what the schedule
    of every algorithm sends and copies, and multiplies by the prices of a machine. The MPI's own exchange has no
    schedule to count, so predictions leave it out. The last line says what decides in a job.
    """
    check_options(context, call)
    block = largest_block(sizes) if call.startswith("allgather") else mean_block(sizes)
    if profile:
        found = by_profile(call, block, empty, profile, ranks)
    else:
        problem = make_problem(ranks, layout, senders, receivers, None, graph)
        asked = Asked(call, problem, layout, place_of(problem, layout, graph, network), block, empty)
        prices = machine.read(model) if model else COMMON
        found = between_groups(asked, network, prices) if problem.senders else by_model(asked, prices)
    print(json.dumps(asdict(found))) if as_json else show(found)


def check_options(context: typer.Context, call: str) -> None:
    if call not in KINDS:
        raise unknown(call, KINDS)
    collective = collective_of(call)
    for name in dict.fromkeys(name for names in OWN.values() for name in names):
        if name not in OWN[collective]:
            refuse_unused(context, [name], f"for {call}")
    if call not in PROFILED:
        refuse_unused(context, ["profile"], f"for {call}")
    if given(context, "empty") and call == collective:
        raise UserError(f"--empty: all blocks of {call} are equal; {call}v may have empty ones")
    if given(context, "profile") and given(context, "model"):
        raise UserError("give --profile or --model, not both")
    refuse_twice(context, "profile", ["layout"])
    require_ranks(context, call)


def require_ranks(context: typer.Context, call: str) -> None:
    """Refuses a call whose neighbours or groups are not given."""
    collective = collective_of(call)
    if collective == "neighbor_alltoall" and not given(context, "graph"):
        raise UserError(f"{call} {MISSING}")
    if collective == "allgather" and not (given(context, "senders") and given(context, "receivers")):
        raise UserError(f"{call}: Shoal serves it between two groups; give --senders and --receivers")


def collective_of(call: str) -> str:
    return call.rstrip("vw")


def place_of(problem: shoal.Problem, layout: str, graph: str, network: str) -> str:
    if problem.senders:
        return f"{problem.senders} ranks to {problem.ranks - problem.senders}, network {network}"
    return (
        f"{problem.ranks} ranks"
        + (f" as {layout}" if layout else "")
        + (f", neighbours as in {graph}" if graph else "")
    )


def show(found: Explanation) -> None:
    mostly = f", {found.empty:.0%} of all empty" if found.empty else ""
    blocks = (
        f"messages of at most {found.mean_block:g} bytes" if found.call.startswith("allgather")
        else f"blocks of {found.mean_block:g} bytes on average{mostly}"
    )  # fmt: skip
    out.print(f"{found.call}, {found.place}, {blocks}", soft_wrap=True)
    out.print(f"[bold]{found.chosen}[/bold], {readable_seconds(found.seconds)}, by {found.by}", soft_wrap=True)
    out.print(f"Why: {found.why}", soft_wrap=True)
    if found.next:
        out.print(f"Next: {found.next}, {readable_seconds(found.next_seconds)}")
    out.print(f"In a job: {found.in_jobs}", soft_wrap=True)


def limits(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(?:uniform:(\d+)-)?(\d+)", text)
    if not match or int(match[1] or 0) > int(match[2]):
        raise UserError(f"--sizes {text}: give the bytes of every block (512), or their limits (uniform:0-512)")
    return int(match[1] or match[2]), int(match[2])


def mean_block(text: str) -> float:
    return sum(limits(text)) / 2


def largest_block(text: str) -> float:
    return limits(text)[1]


def by_profile(call: str, block: float, empty: float, path: Path, ranks: int) -> Explanation:
    profile = shoal.read_profile(str(path))
    if ranks not in (0, profile.ranks):
        raise UserError(f"{path} is for {profile.ranks} ranks, not {ranks}; run shoal tune -n {ranks}")
    choice = profile.choose(call, block, empty)
    seconds = profile.seconds(call, choice.spec, block, empty)
    place = f"{profile.ranks} ranks" + (f" as {profile.layout}" if profile.layout else "")
    return Explanation(
        call, profile.ranks, profile.layout, place, block, empty, choice.spec, seconds, choice.reason, choice.next,
        profile.seconds(call, choice.next, block, empty) if choice.next else 0.0, f"the profile {path}",
        f"it begins with {choice.spec}, and its own calls correct that",
    )  # fmt: skip


@dataclass(frozen=True)
class Priced:
    seconds: float
    spec: str
    counts: str  # what is sent, for people


def explained(asked: Asked, priced: list[Priced], by: str, in_jobs: str) -> Explanation:
    """`priced`: the fastest first."""
    best, following = priced[0], priced[1:2]
    why = "; ".join([best.counts, *(f"{other.spec} has {other.counts}" for other in following)])
    return Explanation(
        asked.call, asked.problem.ranks, asked.layout, asked.place, asked.block, asked.empty, best.spec, best.seconds,
        why, following[0].spec if following else "", following[0].seconds if following else 0.0, by, in_jobs,
    )  # fmt: skip


def between_groups(asked: Asked, network: str, prices: Machine) -> Explanation:
    """What serves on this network. Jobs assume a link of their own, so without --model that is the link here too."""

    def predicted(link: tuple[float, float]) -> list[tuple[str, float]]:
        return shoal.predict_between_groups(asked.problem, network, asked.block, link)

    def counts(spec: str) -> str:
        steps, volume = shoal.steps_and_volume(shoal.parse(spec, "allgather"), asked.problem)
        return f"{steps} steps, volume {volume:g}"

    startup, per_byte = shoal.COMMON_LINK
    of_jobs = f"the model with which jobs choose ({startup * 1e6:g} us for a step, {per_byte * 1e9:g} ns for a byte)"
    is_of_jobs = prices is COMMON
    link = shoal.COMMON_LINK if is_of_jobs else prices.link
    picked = predicted(shoal.COMMON_LINK)[0][0]
    return explained(
        asked, [Priced(seconds, spec, counts(spec)) for spec, seconds in predicted(link)[:2]],
        of_jobs if is_of_jobs else prices.source,
        f"the model picks {picked}; {trials(['native', picked])}",
    )  # fmt: skip


def by_model(asked: Asked, prices: Machine) -> Explanation:
    """The model knows no empty blocks: it spreads the bytes over all blocks."""
    loads = {spec: load for spec in specs_for(asked, prices) if (load := load_if_it_serves(spec, asked.problem))}
    priced = [Priced(prices.seconds(load, asked.mean), spec, described(load)) for spec, load in loads.items()]
    return explained(asked, sorted(priced, key=lambda one: one.seconds), prices.source, trials(tried(asked)))


def specs_for(asked: Asked, prices: Machine) -> list[str]:
    """What to predict: every algorithm, and of all-to-alls what shoal tune measures and what is best by formulas."""
    every = every_algorithm(asked.problem.collective, uniform=asked.call == asked.problem.collective)
    if asked.problem.collective != "alltoall":
        return every
    ranks = asked.problem.ranks
    measured = tuning.candidates(ranks, asked.layout or f"{ranks}x1", uniform=asked.call == "alltoall")
    found = [*best_digits(ranks, asked.mean, prices), *by_levels(asked.problem, asked.mean, prices)]
    return [*measured[1:], *found, *every]


def trials(candidates: list[str]) -> str:
    *most, last = candidates
    return f"its own calls decide between {', '.join(most)} and {last}" if most else "nothing but native is tried"


def tried(asked: Asked) -> list[str]:
    """The candidates in a job."""
    problem = asked.problem
    has_levels = problem.collective == "alltoall" and len(problem.levels) > 2 and problem.largest_node < problem.ranks
    levels = [COMMON.best_levels(problem, asked.mean)] if has_levels else []
    return list(dict.fromkeys(["native", *shoal.worth_trying(problem), *levels]))


def every_algorithm(collective: str, *, uniform: bool) -> list[str]:
    """Every algorithm that can serve such blocks, with its defaults."""
    return [
        one.name
        for one in shoal.algorithms()
        if one.has_schedule and one.collective == collective and (uniform or not one.uniform_only)
    ]


def load_if_it_serves(spec: str, problem: shoal.Problem) -> shoal.Load | None:
    try:
        return shoal.load_of(shoal.parse(spec, problem.collective), problem)
    except ValueError:  # the algorithm refuses the problem, such as `tree` without a topology
        return None


def best_digits(ranks: int, block: float, prices: Machine) -> list[str]:
    """The spec of the best of all digit systems, by the prices between nodes."""
    link = prices.network
    per_block = block * (link.per_byte + prices.copy)
    radices = shoal.best_radices(ranks, per_digit=link.latency, per_step=link.per_message, per_block=per_block)
    return [f"tuna:radices={'x'.join(map(str, radices))}"] if len(radices) > 1 else []


def by_levels(problem: shoal.Problem, block: float, prices: Machine) -> list[str]:
    """The best use of all levels by their closed forms: with all ranks of a node between nodes, and with only one."""
    if len(problem.levels) < 2 or problem.largest_node == problem.ranks == 1:
        return []
    best = prices.best_levels(problem, block)
    local = shoal.parse(best).arguments["local"].split("/")
    inside = len(problem.levels) - problem.levels.index("node") - 2  # the level whose groups are the nodes
    if local[min(inside, len(local) - 1)] == "none":
        return [best]
    carriers = "/".join(["all"] * inside + ["1"] + ["all"] * (len(problem.levels) > inside + 2))
    return [best, str(shoal.parse(f"{best}{',' if ':' in best else ':'}carriers={carriers}"))]


def described(load: shoal.Load) -> str:
    levels = {
        "through memory": load.memory,
        "inside the node": load.node,
        "between nodes": load.network,
        "between groups": load.groups,
    }
    parts = [
        f"{level.messages} messages {name} with {level.blocks} blocks in {level.waits} waits"
        for name, level in levels.items()
        if level.messages
    ]
    return (", ".join(parts) or "no messages") + (f", {load.copied_blocks} blocks copied" if load.copied_blocks else "")
