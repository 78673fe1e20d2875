"""Predicts the time of an exchange from the counts of its schedule, for numbers of ranks that no simulator reaches.

A rank handles its messages one after another, while its memory moves the blocks that stay inside the node, and the
node's port those that leave it. A wave is the messages that are in flight together. It lasts as long as the slowest of
these three, plus a latency. The model knows neither contention inside the network nor waves that overlap. It is LogGP
with one port for each node. The counts come from the closed forms beside each algorithm's generator, and the prices
from machine.py, which predicts small exchanges from their schedules.
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
    ppn: int  # ranks on each node; they are consecutive

    @property
    def ranks(self) -> int:
        return self.nodes * self.ppn


def predict(how: shoal.Selection, at: Cluster, block: float, machine: Machine, published: bool = False) -> float:
    """Seconds, for blocks of `block` bytes on average. `published`: as in the programs of the TuNA paper, which find
    the largest block by a reduction first, do one step at a time, and send sizes in messages of their own."""
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
    packed = blocks if blocks > wave.messages else 0  # a block that is alone in its message is not packed
    return seconds + 2 * (blocks * block * machine.copy + packed * machine.per_copied_block)


@cache
def waves_of(how: shoal.Selection, at: Cluster, published: bool = False) -> list[shoal.Wave]:
    waves = shoal.waves(how, at.nodes, at.ppn, in_rounds=published)
    if waves is None:
        raise UserError(f"{how}: no formula; there is {closed_forms()}")
    return waves


def closed_forms() -> str:
    names = ", ".join(one.name for one in shoal.algorithms() if one.has_waves)
    return f"a formula for {names} (not with every parameter)"


def has_closed_form(how: shoal.Selection) -> bool:
    return shoal.waves(how, 1, 1) is not None
