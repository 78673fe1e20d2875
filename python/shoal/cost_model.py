"""What an exchange takes, from the counts of its schedule: for numbers of ranks that no simulator reaches.

A rank works its messages off one after another while a node's port carries what leaves the node; a wave, the messages
in flight together, lasts as long as the slower of the two, and a latency. Nothing is modelled of contention inside the
network or of waves that overlap. Source: LogGP with one port a node; counts: the closed forms of digit systems; prices:
those of machine.py, by which small exchanges are predicted from their schedules.
"""

import math
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from functools import cache

import shoal
from shoal.errors import UserError
from shoal.machine import Machine


@dataclass(frozen=True)
class Cluster:
    nodes: int
    ppn: int  # consecutive ranks

    @property
    def ranks(self) -> int:
        return self.nodes * self.ppn


@dataclass(frozen=True)
class Wave:
    """What one rank sends in messages that are in flight together: inside its node, and to others."""

    local_messages: float = 0
    local: float = 0  # blocks
    crossing_messages: float = 0
    crossing: float = 0
    announced: float = 0  # messages with sizes, of all

    @property
    def messages(self) -> float:
        return self.local_messages + self.crossing_messages


def predict(how: shoal.Selection, at: Cluster, block: float, machine: Machine, published: bool = False) -> float:
    """Seconds, for blocks of `block` bytes on average. `published`: sizes in messages of their own, one step at a time,
    and the largest block found by a reduction first, as in the TuNA paper's programs."""
    waves = waves_of(how, at, published)
    seconds = sum(seconds_of(wave, at, block, machine, published) for wave in waves)
    if published and any(wave.announced for wave in waves):
        seconds += math.ceil(math.log2(at.ranks)) * (machine.network.per_message + machine.network.latency)
    return seconds


def seconds_of(wave: Wave, at: Cluster, block: float, machine: Machine, published: bool) -> float:
    inside, between = machine.node, machine.network
    work = wave.local_messages * inside.per_message + wave.crossing_messages * between.per_message
    work += wave.messages * wave.messages * machine.per_other
    port = wave.crossing * block * at.ppn * between.per_byte
    memory = wave.local * block * inside.per_byte
    slowest = between if wave.crossing else inside
    seconds = max(work, port, memory) + slowest.latency
    if published and wave.announced:
        seconds += wave.announced * slowest.per_message + slowest.latency
    blocks = wave.local + wave.crossing
    packed = blocks if blocks > wave.messages else 0  # a block that is alone in its message is not
    return seconds + 2 * (blocks * block * machine.copy + packed * machine.per_copied_block)


@cache
def waves_of(how: shoal.Selection, at: Cluster, published: bool = False) -> tuple[Wave, ...]:
    return tuple(generate_waves(how, at, published))


LINEAR = ("spread_out", "linear", "scattered", "pairwise", "exclusive_or")
CLOSED_FORMS = "tuna, linear exchanges, and hierarchical on two levels through all ranks"


def has_closed_form(how: shoal.Selection) -> bool:
    with_ = how.arguments
    return how.algorithm.name in ("tuna", *LINEAR) or (
        how.algorithm.name == "hierarchical"
        and with_["carriers"] == "all"
        and with_["local"] in ("radix", "linear", "shared")
    )


def generate_waves(how: shoal.Selection, at: Cluster, published: bool) -> Iterator[Wave]:
    name, with_ = how.algorithm.name, how.arguments
    if not has_closed_form(how):
        raise UserError(f"{how}: there is a formula for {CLOSED_FORMS}")
    if name == "tuna":
        inflight = 1 if published else number(with_["inflight"], at.ranks)
        yield from flat(system_of(with_["radix"], with_["radices"], at.ranks), at, inflight)
    elif name in LINEAR:
        together = {"scattered": with_.get("block_count", "all"), "pairwise": "1", "exclusive_or": "1"}
        yield from linear(at, number(together.get(name, "all"), at.ranks))
    else:
        yield from inside(with_, at, published)
        yield from between(with_, at)


def number(word: str, otherwise: int) -> int:
    return int(word) if word.isdigit() else otherwise


def system_of(radix: str, radices: str, ranks: int) -> shoal.DigitSystem:
    if radices != "none":
        return shoal.DigitSystem(ranks, [int(r) for r in radices.split("x")])
    return shoal.DigitSystem(ranks, number(radix, shoal.square_radix(ranks)))


def flat(system: shoal.DigitSystem, at: Cluster, inflight: int) -> Iterator[Wave]:
    """Digit by digit; a step sends to the rank this far on, which is in the same node for some ranks of a node."""
    weight = 1
    for digit, radix in enumerate(system.radices):
        steps = []
        for z in range(1, system.steps_of_digit(digit) + 1):
            distance, blocks = z * weight, system.blocks_of_step(digit, z)
            leaving = min(1.0, distance / at.ppn, (at.ranks - distance) / at.ppn) if at.nodes > 1 else 0.0
            passes = weight * radix + distance < at.ranks
            steps.append(Wave(1 - leaving, blocks * (1 - leaving), leaving, blocks * leaving, passes))
        for first in range(0, len(steps), inflight):
            yield together(steps[first : first + inflight])
        weight *= radix


def together(steps: list[Wave]) -> Wave:
    return Wave(*map(sum, zip(*map(astuple, steps), strict=True)))


def linear(at: Cluster, block_count: int) -> Iterator[Wave]:
    waves = math.ceil((at.ranks - 1) / block_count)
    local, crossing = (at.ppn - 1) / waves, (at.ranks - at.ppn) / waves
    for _ in range(waves):
        yield Wave(local, local, crossing, crossing)


def inside(with_: dict[str, str], at: Cluster, published: bool) -> Iterator[Wave]:
    """An exchange among the ranks of a node, in which a block is one for each node."""
    if at.ppn == 1:
        return
    system = system_of(with_["radix"] if with_["local"] == "radix" else str(at.ppn), "none", at.ppn)
    node = Cluster(1, at.ppn)
    for wave in flat(system, node, 1 if published else at.ppn):
        yield Wave(wave.messages, wave.local * at.nodes, announced=wave.messages)


def between(with_: dict[str, str], at: Cluster) -> Iterator[Wave]:
    """An exchange among the nodes, each rank for itself, in which a block is one from each rank of the node."""
    pieces = at.ppn if with_["pattern"] == "staggered" else 1
    if with_["global"] == "radix":
        for wave in flat(system_of(with_["global_radix"], "none", at.nodes), Cluster(at.nodes, 1), at.nodes):
            yield Wave(0, 0, wave.messages * pieces, wave.crossing * at.ppn, wave.announced * pieces)
        return
    messages = (at.nodes - 1) * pieces
    block_count = 1 if with_["global"] == "pairwise" else number(with_["block_count"], messages)
    for _ in range(waves := math.ceil(messages / block_count)):
        yield Wave(0, 0, messages / waves, (at.nodes - 1) * at.ppn / waves)
