"""Networks as people name them: a topology file, or a description such as line:4x8."""

import re

import shoal
from shoal.errors import UserError

FORMS = {
    "switch": "switch:24, 24 machines on one switch",
    "star": "star:4x8, 4 switches with 8 machines each, joined by the first",
    "line": "line:4x8, each joined to the next",
}
GROUPS = r"(\d+) to (\d+)"  # the ranks of an allgather between two groups
HELP = (
    "A file (Slurm's topology.conf or topology.yaml, the output of scontrol show topology, or lines such as: s0 n[0-7] "
    "1G), or a description: " + "; ".join(FORMS.values()) + "."
)


def read_network(name: str, rate: str = "") -> shoal.Network:
    """The network in this file, or of this form. The slowest link gets the rate, such as 100M, and the others a rate in
    proportion."""
    form = re.fullmatch(r"(switch|star|line):(?:(\d+)x)?(\d+)", name)
    if form:
        network = shoal.parse_topology(edge_list(form[1], int(form[2] or 1), int(form[3])), name)
    elif name.partition(":")[0] in FORMS:
        raise UserError(f"{name}: there are {'; '.join(FORMS.values())}")
    else:
        network = shoal.read_topology(name)
    return scaled(network, speed_of(rate)) if rate else network


def edge_list(form: str, switches: int, machines: int) -> str:
    if switches < 1 or machines < 1 or (form == "switch" and switches > 1):
        raise UserError(f"there are {'; '.join(FORMS.values())}")
    lines = [f"switch s[0-{switches - 1}]"]
    lines += [f"s{0 if form == 'star' else number - 1} s{number}" for number in range(1, switches)]
    lines += [f"s{s} n[{s * machines}-{(s + 1) * machines - 1}]" for s in range(switches)]
    return "\n".join(lines)


def scaled(network: shoal.Network, slowest: float) -> shoal.Network:
    factor = slowest / min((speed for _, _, speed in network.links), default=slowest)
    lines = [("machine " if is_machine else "switch ") + name for name, is_machine in network.nodes]
    lines += [f"{a} {b} {speed * factor:.0f}" for a, b, speed in network.links]
    return shoal.parse_topology("\n".join(lines))


def speed_of(rate: str) -> float:
    """Bits per second, as in 100M, 2.5G or 100mbit (no link is as slow as millibits)."""
    try:
        return shoal.parse_topology(f"a b {rate.replace('m', 'M').replace('g', 'G')}", "--rate").links[0][2]
    except ValueError as error:
        raise UserError(f"--rate {rate}: not a bandwidth; expected bits per second such as 100M or 2.5G") from error


def least_seconds(network: shoal.Network, blocks: str, size: int) -> float:
    """The seconds that the links need at least for equal blocks between all machines, or for messages of p machines to
    the others; 0 for other blocks."""
    if blocks == "uniform":
        return shoal.Tree(network).seconds(size)
    groups = re.fullmatch(GROUPS, blocks)
    if not groups:
        return 0.0
    receivers = set(network.machines[int(groups[1]) :])
    slowest = min(speed for a, b, speed in network.links if {a, b} & receivers)
    return int(groups[1]) * size * 8 / slowest
