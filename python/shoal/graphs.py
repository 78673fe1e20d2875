"""Graphs of neighbours as people name them: a grid, or a file of edges."""

import itertools
import math
import re
from pathlib import Path

from shoal.errors import UserError

HELP = (
    "Among neighbours: who sends to whom. grid:4x4, torus:4x4 (in any number of dimensions; torus:8 is a ring), or a"
    " file with an edge on each line (0 1: rank 0 sends to rank 1)."
)


def read_graph(name: str) -> list[list[int]]:
    """To whom each rank sends, in the order of its blocks."""
    form = re.fullmatch(r"(grid|torus):(\d+(?:x\d+)*)", name)
    if not form:
        return of_edges(name)
    extents = [int(extent) for extent in form[2].split("x")]
    if 0 in extents:
        raise UserError(f"--graph {name}: a dimension has at least 1 rank")
    return in_grid(extents, form[1] == "torus")


def in_grid(extents: list[int], closed: bool) -> list[list[int]]:
    """The neighbours of each rank in MPI's order: in each dimension the rank before it, then the rank after it."""

    def beside(at: tuple[int, ...], dimension: int, step: int) -> list[int]:
        there = at[dimension] + step
        if not closed and not 0 <= there < extents[dimension]:
            return []
        places = [*at[:dimension], there % extents[dimension], *at[dimension + 1 :]]
        return [sum(place * math.prod(extents[i + 1 :]) for i, place in enumerate(places))]

    steps = list(itertools.product(range(len(extents)), (-1, 1)))
    return [
        [rank for dimension, step in steps for rank in beside(at, dimension, step)]
        for at in itertools.product(*map(range, extents))
    ]


def of_edges(file: str) -> list[list[int]]:
    try:
        lines = Path(file).read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"--graph {file}: there is no such file, nor is it a description such as grid:4x4 or torus:8"
        ) from error
    edges = []
    for number, line in enumerate(lines, 1):
        found = re.fullmatch(r"\s*(\d+)\s+(\d+)\s*", line)
        if not found:
            raise UserError(f"{file}:{number}: '{line}' is no edge; expected two ranks, such as 0 1")
        edges.append((int(found[1]), int(found[2])))
    destinations: list[list[int]] = [[] for _ in range(1 + max((max(edge) for edge in edges), default=0))]
    for source, destination in edges:
        destinations[source].append(destination)
    return destinations
