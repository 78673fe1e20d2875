"""Clusters as SimGrid reads them: three kinds made here, or a file of one's own. Sources: docs/simulation.md."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import shoal
from shoal import routes
from shoal.errors import UserError
from shoal.machine import Level, Machine

TEMPLATE = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="machine" routing="Full">
    <cluster id="cluster" prefix="n" suffix="" radical="0-{last}" speed="1Gf" bw="{bandwidth}Bps" lat="{latency}s"
             topology="{topology}" topo_parameters="{parameters}" sharing_policy="SPLITDUPLEX"
             loopback_bw="{memory}Bps" loopback_lat="{memory_latency}s"/>
  </zone>
</platform>
"""

# Inside a node: bytes a second that one pair of ranks moves through memory, and seconds that the first byte takes.
MEMORY, MEMORY_LATENCY = 10e9, 0.3e-6
# What a rank needs for each byte that it sends or receives: a copy at 50 GB/s.
SECONDS_A_BYTE = 2e-11


@dataclass(frozen=True)
class Kind:
    """A kind of network, modelled after a real machine. `bandwidth` and `latency` are those of one link, in bytes a
    second and in seconds."""

    like: str
    topology: str
    bandwidth: float
    latency: float
    shape: Callable[[int], tuple[int, str]]  # nodes asked for -> nodes it has, and SimGrid's parameters
    hops: int  # links of a usual path
    levels: Callable[[str], dict[str, int]]  # these parameters -> members of each level, from the nodes outwards
    route: Callable[[str], routes.Route]  # these parameters -> the links between two nodes

    def port(self, parameters: str) -> float:
        """Bytes a second that a node sends to all others together. On a torus its links also carry messages that pass
        by. On each ring a message goes the shorter way, and always the same way if both are equally long. So on a ring
        of n nodes the fuller direction carries a message over (n + 2) / 8 links on average, or (n - 1 / n) / 8 if n is
        odd."""
        sides = [int(n) for n in parameters.split(",")] if self.topology == "TORUS" else [1]
        links = max((n + 2 if n % 2 == 0 else n - 1 / n) / 8 for n in sides)
        return self.bandwidth / links if links else self.bandwidth

    def events(self, parameters: str, nodes: int, message_cost: float) -> shoal.EventMachine:
        """The machine for simulating by events."""
        links = routes.links_of(self.route(parameters), nodes)
        return shoal.EventMachine(
            message=(message_cost, SECONDS_A_BYTE), node=(MEMORY_LATENCY, 1 / MEMORY), link_latency=self.latency,
            link_per_byte=[1 / (width * self.bandwidth) for width in links.widths], nodes=nodes, paths=links.paths,
        )  # fmt: skip

    def machine(self, parameters: str, message_cost: float) -> Machine:
        """The machine for the cost model. A message costs twice: it is sent by one rank and received by another."""
        network = Level(self.hops * self.latency, 2 * message_cost, 1 / self.port(parameters))
        return Machine(Level(), Level(MEMORY_LATENCY, 2 * message_cost, 1 / MEMORY), network, SECONDS_A_BYTE)


def dragonfly(nodes: int) -> tuple[int, str]:
    """The number of nodes, and the groups, chassis in a group, routers in a chassis and nodes at a router. SimGrid
    needs as many routers in a chassis as groups."""
    groups = max(2, min(8, 1 << int(math.log2(math.sqrt(nodes))))) if nodes > 1 else 1
    at_router = min(4, math.ceil(nodes / groups**2))
    chassis = math.ceil(nodes / (groups**2 * at_router))
    return groups**2 * at_router * chassis, f"{groups},4;{chassis},4;{groups},4;{at_router}"


def torus(nodes: int) -> tuple[int, str]:
    """Three sides, as equal as they can be for exactly this number of nodes."""
    first = largest_divisor(nodes, round(nodes ** (1 / 3)))
    second = largest_divisor(nodes // first, math.isqrt(nodes // first))
    return nodes, f"{nodes // first // second},{second},{first}"


def torus_of(sides: str) -> tuple[int, str]:
    return math.prod(map(int, sides.split("x"))), sides.replace("x", ",")


def levels_of_dragonfly(parameters: str) -> dict[str, int]:
    groups, chassis, routers, nodes = (int(part.split(",")[0]) for part in parameters.split(";"))
    return {"node": nodes * routers * chassis, "group": groups}


def levels_of_torus(parameters: str) -> dict[str, int]:
    """The first side is the one along which nodes are numbered."""
    names = ("node", "row", "plane", *(f"side{i}" for i in range(3, 8)))
    return dict(zip(names, map(int, parameters.split(",")), strict=False))


def levels_of_fat_tree(parameters: str) -> dict[str, int]:
    """The nodes of a leaf switch are a group."""
    down, leaves = map(int, parameters.split(";")[1].split(","))
    return {"node": down, "group": leaves}


def layout_of(levels: dict[str, int], nodes: int, ppn: int) -> str:
    """The layout of the first nodes of a machine, with the levels around them."""
    texts, members = [f"core:{ppn}"], nodes
    for name, most in levels.items():
        full, rest = divmod(members, most)
        counts = [most] * full + [rest] * (rest > 0)
        texts.append(f"{name}:{counts[0] if len(set(counts)) == 1 else ','.join(map(str, counts))}")
        members = len(counts)
    return " ".join(reversed(texts if members == 1 else [*texts, f"machine:{members}"]))


def largest_divisor(number: int, most: int) -> int:
    return next(divisor for divisor in range(most, 0, -1) if number % divisor == 0)


def fat_tree(nodes: int) -> tuple[int, str]:
    """Two levels with full bisection: as many links up from a leaf switch as down."""
    down = math.ceil(math.sqrt(nodes))
    leaves = math.ceil(nodes / down)
    return down * leaves, f"2;{down},{leaves};1,{down};1,1"


KINDS = {
    "dragonfly": Kind("Polaris", "DRAGONFLY", 25e9, 0.35e-6, dragonfly, 4, levels_of_dragonfly, routes.dragonfly),
    "torus": Kind("Fugaku", "TORUS", 6.8e9, 0.3e-6, torus, 4, levels_of_torus, routes.torus),
    "fat-tree": Kind(
        "a cluster with HDR100 InfiniBand", "FAT_TREE", 12.5e9, 0.2e-6, fat_tree, 4, levels_of_fat_tree, routes.fat_tree
    ),
}


@dataclass(frozen=True)
class Platform:
    name: str
    xml: str
    hosts: tuple[str, ...]
    links: str  # for people
    machine: Callable[[float], Machine] | None  # by the cost of a message; none for a file
    levels: dict[str, int] | None = None  # members by level, from the nodes out; none for a file
    events: Callable[[int, float], shoal.EventMachine] | None = (
        None  # by nodes and the cost of a message; none for a file
    )

    def layout(self, nodes: int, ppn: int) -> str:
        """The layout with the levels that the platform has, as in group:2 node:16 core:8."""
        if self.levels is None:
            raise UserError(f"{self.name}: its levels are not known; give --layout 'group:2 node:16 core:8'")
        return layout_of(self.levels, nodes, ppn)

    def host_file(self, nodes: int, ppn: int) -> str:
        """The host of each rank, one on a line. Consecutive ranks share a node."""
        return "".join(f"{host}\n" * ppn for host in self.hosts[:nodes])


def make_platform(name: str, nodes: int) -> Platform:
    """One of the kinds with room for `nodes` nodes, a torus of this shape, or the platform in a SimGrid file."""
    shape = re.fullmatch(r"torus:([1-9]\d*(?:x[1-9]\d*)*)", name)
    platform = (
        make_kind(name, shape[1] if shape else "", nodes) if name in KINDS or shape else read_platform(Path(name))
    )
    if nodes > len(platform.hosts):
        raise UserError(f"{name} has {len(platform.hosts)} hosts; --nodes {nodes} is more")
    return platform


def make_kind(name: str, sides: str, nodes: int) -> Platform:
    kind = KINDS[name.partition(":")[0]]
    size, parameters = torus_of(sides) if sides else kind.shape(nodes)
    xml = TEMPLATE.format(
        last=size - 1, bandwidth=kind.bandwidth, latency=kind.latency, topology=kind.topology, parameters=parameters,
        memory=MEMORY, memory_latency=MEMORY_LATENCY,
    )  # fmt: skip
    links = f"links of {kind.bandwidth / 1e9:g} GB/s and {kind.latency * 1e6:g} us, after {kind.like}"
    hosts = tuple(f"n{i}" for i in range(size))
    levels = kind.levels(parameters)
    return Platform(
        name, xml, hosts, links, partial(kind.machine, parameters), levels, partial(kind.events, parameters)
    )


def read_platform(path: Path) -> Platform:
    if not path.is_file():
        raise UserError(f"--platform {path}: neither a file nor one of {', '.join(KINDS)}, torus:4x4")
    xml = path.read_text()
    try:
        hosts = tuple(host for part in ElementTree.fromstring(xml).iter() for host in hosts_of(part))
    except ElementTree.ParseError as error:
        raise UserError(f"{path}: not a platform of SimGrid: {error}") from error
    if not hosts:
        raise UserError(f"{path}: no host or cluster in it")
    return Platform(path.name, xml, hosts, f"as in {path}", None)


def hosts_of(part: ElementTree.Element) -> list[str]:
    if part.tag == "host":
        return [part.attrib["id"]]
    if part.tag != "cluster":
        return []
    ranges = re.findall(r"(\d+)(?:-(\d+))?", part.attrib["radical"])
    numbers = [n for low, high in ranges for n in range(int(low), int(high or low) + 1)]
    return [f"{part.attrib['prefix']}{n}{part.attrib.get('suffix', '')}" for n in numbers]
