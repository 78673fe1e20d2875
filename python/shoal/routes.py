"""The links that a message takes between two nodes of a platform, as SimGrid routes it."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import product

# A link in one direction has a name; some are several links in one.
Route = Callable[[int, int], Iterator[tuple[Hashable, int]]]


@dataclass(frozen=True)
class Links:
    """How many links each one stands for, and the links from node a to node b at a * nodes + b."""

    nodes: int
    widths: list[int]
    paths: list[list[int]]


def links_of(route: Route, nodes: int) -> Links:
    """The paths between the first `nodes` nodes."""
    numbers: dict[Hashable, int] = {}
    widths: list[int] = []
    paths: list[list[int]] = []
    for pair in product(range(nodes), repeat=2):
        paths.append([])
        for name, width in route(*pair) if pair[0] != pair[1] else ():
            if name not in numbers:
                numbers[name] = len(widths)
                widths.append(width)
            paths[-1].append(numbers[name])
    return Links(nodes, widths, paths)


def dragonfly(parameters: str) -> Route:
    """Groups of chassis of routers of nodes, each router linked to all of its chassis (green), to its fellows in the
    other chassis of its group (black) and to one of another group (blue); the shortest way."""
    (_, blue), (chassis, black), (routers, green), (at_router, _) = (
        (int(part.split(",")[0]), int(part.split(",")[-1])) for part in parameters.split(";")
    )

    def place(node: int) -> tuple[int, int, int]:
        router = node // at_router
        return router // (chassis * routers), router // routers % chassis, router % routers

    def route(start: int, end: int) -> Iterator[tuple[Hashable, int]]:
        at, to = place(start), place(end)
        yield ("up", start), 1
        if at[0] != to[0]:
            yield from steps(at, leaving := (at[0], 0, to[0]))
            yield ("blue", leaving[0], to[0]), blue
            at = (to[0], 0, leaving[0])
        yield from steps(at, to)
        yield ("down", end), 1

    def steps(at: tuple[int, int, int], to: tuple[int, int, int]) -> Iterator[tuple[Hashable, int]]:
        if at[2] != to[2]:
            yield ("green", at, to[2]), green
        if at[1] != to[1]:
            yield ("black", (at[0], at[1], to[2]), to[1]), black

    return route


def torus(parameters: str) -> Route:
    """Dimension by dimension, the shorter way around; where both are as long, as SimGrid does."""
    sides = [int(side) for side in parameters.split(",")]

    def route(start: int, end: int) -> Iterator[tuple[Hashable, int]]:
        at, weight = start, 1
        for dimension, side in enumerate(sides):
            here, there = at // weight % side, end // weight % side
            half = side // 2
            ahead = here < there <= here + half or (here > half and (here + half) % side >= there)
            step = 1 if ahead else -1
            while here != there:
                yield ("ring", at, dimension, step), 1
                at += ((here + step) % side - here) * weight
                here = (here + step) % side
            weight *= side

    return route


def fat_tree(parameters: str) -> Route:
    """Two levels; the way up to the switch that the destination's place at its leaf says."""
    down, _ = (int(part) for part in parameters.split(";")[1].split(","))

    def route(start: int, end: int) -> Iterator[tuple[Hashable, int]]:
        yield ("up", start), 1
        if start // down != end // down:
            yield ("leaf up", start // down, end % down), 1
            yield ("leaf down", end // down, end % down), 1
        yield ("down", end), 1

    return route
