"""The links that a message takes between two nodes of a platform, as SimGrid routes it."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import product

# From two nodes to the links between them. Each link, in one direction, is its name and how many links it stands for.
Route = Callable[[int, int], Iterator[tuple[Hashable, int]]]


@dataclass(frozen=True)
class Links:
    """`widths`: how many links each link stands for. `paths`: at a * nodes + b, the links from node a to node b."""

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
    """Groups of chassis of routers of nodes. Each router is linked to all of its chassis (green), to its fellows in the
    other chassis of its group (black) and to one of another group (blue). The route is the shortest way."""
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
    """Dimension by dimension, the shorter way around; if both are equally long, the one that SimGrid takes."""
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
    """Two levels. The place of the destination at its leaf switch says to which upper switch the message goes."""
    down, _ = (int(part) for part in parameters.split(";")[1].split(","))

    def route(start: int, end: int) -> Iterator[tuple[Hashable, int]]:
        yield ("up", start), 1
        if start // down != end // down:
            yield ("leaf up", start // down, end % down), 1
            yield ("leaf down", end // down, end % down), 1
        yield ("down", end), 1

    return route
