"""shoal explain: what would be chosen for an exchange, and why."""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

import shoal
from shoal import machine, tuning
from shoal.commands.given import refuse_twice
from shoal.commands.plan import make_problem
from shoal.console import out
from shoal.errors import UserError, unknown
from shoal.machine import Machine
from shoal.measurements import readable_seconds

KINDS = ("alltoall", "alltoallv")


@dataclass(frozen=True)
class Explanation:
    """What is chosen. Seconds are predicted, or measured if a profile decided."""

    call: str
    ranks: int
    layout: str
    mean_block: float
    empty: float
    chosen: str
    seconds: float
    why: str
    next: str
    next_seconds: float
    by: str


def explain(
    context: typer.Context,
    call: Annotated[str, typer.Argument(help="alltoall or alltoallv.")],
    sizes: Annotated[str, typer.Option(help="Bytes in a block: 512, or uniform:0-512.")],
    empty: Annotated[float, typer.Option(help="Share of blocks that are empty, as in 0.9.", min=0, max=1)] = 0,
    ranks: Annotated[int, typer.Option("--ranks", "-n", help="Number of ranks; or give --layout.")] = 0,
    layout: Annotated[str, typer.Option(help="Ranks per node: 8x8, 4,4,3; or levels: group:4 node:8 core:8.")] = "",
    profile: Annotated[Path | None, typer.Option(help="Choose by this profile, as jobs with SHOAL_PROFILE do.")] = None,
    model: Annotated[Path | None, typer.Option(help="Predict for the machine that shoal model fit wrote.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Say which algorithm and parameters would be chosen, why, how long it should take, and what is next best.

    Example: [bold]shoal explain alltoallv --ranks 64 --layout 8x8 --sizes uniform:0-512[/bold]

    With --profile it prints what jobs with that profile choose. Without it, it predicts: it counts the messages and
    blocks of every all-to-all algorithm's schedule, and adds up their prices. The MPI's own exchange has no schedule to
    count, so predictions leave it out. Jobs without a profile do not predict: they try candidates on their own calls.

    It knows neither exchanges among neighbours nor allgathers between two groups. There shoal_comm_explain says in the
    job what served a call, and why.
    """
    if call not in KINDS:
        if call in (one.name for one in shoal.settings() if one.takes == "SPEC"):
            raise UserError(f"{call}: explain knows only {' and '.join(KINDS)}; call shoal_comm_explain in the job")
        raise unknown(call, KINDS)
    if profile and model:
        raise UserError("give --profile or --model, not both")
    refuse_twice(context, "profile", ["layout"])
    if empty and call == "alltoall":
        raise UserError("--empty: all blocks of an alltoall are equal; alltoallv may have empty ones")
    block = mean_block(sizes)
    found = (
        by_profile(call, block, empty, profile, ranks)
        if profile
        else by_model(call, block, empty, ranks, layout, model)
    )
    if as_json:
        print(json.dumps(asdict(found)))
        return
    mostly = f", {empty:.0%} of all empty" if empty else ""
    placed = f" as {found.layout}" if found.layout else ""
    out.print(f"{call}, {found.ranks} ranks{placed}, blocks of {found.mean_block:g} bytes on average{mostly}")
    out.print(f"[bold]{found.chosen}[/bold], {readable_seconds(found.seconds)}, by {found.by}", soft_wrap=True)
    out.print(f"Why: {found.why}", soft_wrap=True)
    if found.next:
        out.print(f"Next: {found.next}, {readable_seconds(found.next_seconds)}")


def mean_block(text: str) -> float:
    match = re.fullmatch(r"(?:uniform:(\d+)-)?(\d+)", text)
    if not match or int(match[1] or 0) > int(match[2]):
        raise UserError(f"--sizes {text}: give the bytes of every block (512), or their limits (uniform:0-512)")
    return (int(match[1]) + int(match[2])) / 2 if match[1] else float(match[2])


def by_profile(call: str, block: float, empty: float, path: Path, ranks: int) -> Explanation:
    profile = shoal.read_profile(str(path))
    if ranks not in (0, profile.ranks):
        raise UserError(f"{path} is for {profile.ranks} ranks, not {ranks}; run shoal tune -n {ranks}")
    choice = profile.choose(call, block, empty)
    by, why = f"the profile {path}", choice.reason
    seconds = profile.seconds(call, choice.spec, block, empty)
    return Explanation(
        call, profile.ranks, profile.layout, block, empty, choice.spec, seconds, why, choice.next,
        profile.seconds(call, choice.next, block, empty) if choice.next else 0.0, by,
    )  # fmt: skip


def by_model(call: str, block: float, empty: float, ranks: int, layout: str, path: Path | None) -> Explanation:
    """The model knows no empty blocks: it spreads the bytes over all blocks."""
    problem = make_problem(ranks, layout, 0, 0)
    prices = machine.read(path) if path else machine.COMMON
    uniform = call == "alltoall"
    specs = tuning.candidates(problem.ranks, layout or f"{problem.ranks}x1", uniform=uniform)
    mean = block * (1 - empty)
    specs += [*best_digits(problem.ranks, mean, prices), *by_levels(problem, mean, prices), *every_algorithm(uniform)]
    priced = sorted(
        (
            (prices.seconds(load, mean), spec, load)
            for spec in dict.fromkeys(specs[1:])
            if (load := load_if_it_serves(spec, problem))
        ),
        key=lambda entry: entry[0],
    )
    (seconds, spec, load), second = priced[0], priced[1]
    return Explanation(
        call, problem.ranks, layout, block, empty, spec, seconds,
        f"{described(load)}; {second[1]} has {described(second[2])}", second[1], second[0], prices.source,
    )  # fmt: skip


def every_algorithm(uniform: bool) -> list[str]:
    """Every algorithm that can serve such blocks, with its defaults."""
    return [
        one.name
        for one in shoal.algorithms()
        if one.has_schedule and one.collective == "alltoall" and (uniform or not one.uniform_only)
    ]


def load_if_it_serves(spec: str, problem: shoal.Problem) -> shoal.Load | None:
    try:
        return shoal.load_of(shoal.parse(spec), problem)
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
    return ", ".join(parts) + (f", {load.copied_blocks} blocks copied" if load.copied_blocks else "")
