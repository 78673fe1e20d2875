"""Graphs of neighbours as people name them: a grid, or a file of edges."""

import math
import re
from pathlib import Path

import shoal
from shoal.errors import UserError

HELP = (
    "Among neighbours: who sends to whom. grid:4x4, torus:4x4 (in any number of dimensions; torus:8 is a ring), or a"
    " file with an edge on each line (0 1: rank 0 sends to rank 1)."
)

MISSING = "exchanges among neighbours; say who sends to whom, as in --graph torus:8"  # behind the name of an exchange


def read_graph(name: str) -> list[list[int]]:
    """To whom each rank sends, in the order of its blocks."""
    form = re.fullmatch(r"(grid|torus):(\d+(?:x\d+)*)", name)
    if not form:
        return of_edges(name)
    extents = [int(extent) for extent in form[2].split("x")]
    if not 0 < math.prod(extents) <= shoal.MOST_RANKS:
        raise UserError(f"--graph {name}: a dimension has at least 1 rank, and all of them {shoal.MOST_RANKS} at most")
    return shoal.grid_neighbors(extents, closed=form[1] == "torus")


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
