"""What an exchange takes, from the counts of its schedule: for numbers of ranks that no simulator reaches.

A rank works its messages off one after another while a node's port carries what leaves the node; a wave, the messages
in flight together, lasts as long as the slower of the two, and a latency. Nothing is modelled of contention inside the
network or of waves that overlap. Source: LogGP with one port a node; counts: the closed forms beside each algorithm's
generator; prices: those of machine.py, by which small exchanges are predicted from their schedules.
"""

import math
from dataclasses import dataclass
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


def predict(how: shoal.Selection, at: Cluster, block: float, machine: Machine, published: bool = False) -> float:
    """Seconds, for blocks of `block` bytes on average. `published`: sizes in messages of their own, one step at a time,
    and the largest block found by a reduction first, as in the TuNA paper's programs."""
    waves = waves_of(how, at, published)
    seconds = sum(seconds_of(wave, at, block, machine, published) for wave in waves)
    if published and any(wave.announced for wave in waves):
        seconds += math.ceil(math.log2(at.ranks)) * (machine.network.per_message + machine.network.latency)
    return seconds


def seconds_of(wave: shoal.Wave, at: Cluster, block: float, machine: Machine, published: bool) -> float:
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
def waves_of(how: shoal.Selection, at: Cluster, published: bool = False) -> list[shoal.Wave]:
    waves = shoal.waves(how, at.nodes, at.ppn, in_rounds=published)
    if waves is None:
        raise UserError(f"{how}: there is {closed_forms()}")
    return waves


def closed_forms() -> str:
    names = ", ".join(one.name for one in shoal.algorithms() if one.has_waves)
    return f"a formula for {names} (not with every parameter)"


def has_closed_form(how: shoal.Selection) -> bool:
    return shoal.waves(how, 1, 1) is not None
