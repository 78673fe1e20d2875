"""The MPIs' own algorithms: how each is forced, and the file that tells an MPI when to take which.

Open MPI reads rules for its component coll/tuned, by the bytes that a rank sends to all ranks together. MPI_Alltoallv
has one algorithm for all sizes, because no rank knows the sizes of the others. MPICH reads a tree of conditions in
JSON, which replaces the tree inside its library. So Shoal writes that tree, with another branch for MPI_Alltoall.
"""

import copy
import itertools
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import UserError
from shoal.tuning import CONTENDER, GAIN, Table, middle

DEFAULT = "native"  # what the MPI chooses by itself
CHANGE = 1.2  # two launches of the same algorithm may differ by this factor

# By kind of MPI and call: the algorithms, and the variables that force each of them.
_MPICH = "MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM"
_OPENMPI = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}
FORCED: dict[str, dict[str, dict[str, dict[str, str]]]] = {
    "mpich": {"alltoall": {name: {_MPICH: name} for name in ("brucks", "scattered", "pairwise")}},
    "openmpi": {
        "alltoall": {
            name: _OPENMPI | {"OMPI_MCA_coll_tuned_alltoall_algorithm": str(number)}
            for number, name in enumerate(("linear", "pairwise", "modified_bruck", "linear_sync"), 1)
        },
        "alltoallv": {
            name: _OPENMPI | {"OMPI_MCA_coll_tuned_alltoallv_algorithm": str(number)}
            for number, name in enumerate(("linear", "pairwise"), 1)
        },
    },
}
READ_BY = {
    "mpich": "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE={path}",
    "openmpi": "OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_dynamic_rules_filename={path}",
}


@dataclass(frozen=True)
class Step:
    """An algorithm for blocks of at most `most` bytes; the last one has no limit."""

    most: float
    algorithm: str


def steps(table: Table) -> list[Step]:
    """The algorithms that are the fastest for all sizes together. A change of the algorithm counts as much as being
    CHANGE times slower at one size.

    The MPI's choice stays unless another algorithm is clearly ahead. The last step is for all larger blocks.
    """
    sizes = sorted(table.times)
    names = sorted(set().union(*(table.times[size] for size in sizes)))
    ways = [(0.0, [name]) for name in names]  # for each name the best way that ends with it so far: cost, and names
    for size in sizes:
        medians = table.medians(size)
        ways = [extended(ways, name, lost(medians, name)) for name in names]
    best = min(ways)[1][1:]
    changes = [
        Step(middle(low, high), algorithm)
        for (low, algorithm), (high, after) in itertools.pairwise(zip(sizes, best, strict=True))
        if algorithm != after
    ]
    return [*changes, Step(math.inf, best[-1])]


def extended(ways: list[tuple[float, list[str]]], name: str, more: float) -> tuple[float, list[str]]:
    cost, before = min((cost + (way[-1] != name) * math.log(CHANGE), way) for cost, way in ways)
    return cost + more, [*before, name]


def lost(medians: Mapping[str, float], name: str) -> float:
    """How many times slower than the fastest this algorithm is, as a logarithm. An algorithm that was not measured
    again at a size between others was no contender there."""
    handicap = 1 if name == DEFAULT else GAIN
    return math.log(handicap * medians[name] / min(medians.values()) if name in medians else CONTENDER)


def winner(medians: Mapping[str, float]) -> str:
    return min(medians, key=lambda name: medians[name] * (1 if name == DEFAULT else GAIN))


def for_all_sizes(table: Table) -> list[Step]:
    """One step for all sizes: the algorithm that is never far behind the fastest."""
    sizes = [table.medians(size) for size in table.times]
    names = set.intersection(*(set(medians) for medians in sizes))
    worst = {name: max(medians[name] / min(medians.values()) for medians in sizes) for name in names}
    return [Step(math.inf, winner(worst) if worst else DEFAULT)]


def write(kind: str, library: Path, ranks: int, found: Mapping[str, list[Step]]) -> str:
    """The file's text, for communicators of this number of ranks; others, and other collectives, stay as they are."""
    return openmpi_rules(ranks, found) if kind == "openmpi" else mpich_tree(library, ranks, found["alltoall"])


# ---- Open MPI ------------------------------------------------------------------------------------------------------

_COLLECTIVES = {"alltoall": 3, "alltoallv": 4}  # their numbers in coll_base_functions.h


def openmpi_rules(ranks: int, found: Mapping[str, list[Step]]) -> str:
    """A rule holds from its number of ranks on; the first rule holds below it too. Algorithm 0 is Open MPI's choice."""
    lines = [f"{len(found)} # collectives"]
    for kind, of_kind in found.items():
        numbers = {DEFAULT: 0} | {name: number for number, name in enumerate(FORCED["openmpi"][kind], 1)}
        lines += [f"{_COLLECTIVES[kind]} # {kind}", "3 # numbers of ranks", "1 # ranks and more", "1", "0 0 0 0"]
        lines += [f"{ranks} # ranks", f"{len(of_kind)} # steps: bytes to all ranks, algorithm, fan-out, segment"]
        least = [0, *(int(step.most * ranks) + 1 for step in of_kind[:-1])]
        lines += [
            f"{size} {numbers[step.algorithm]} 0 0 # {step.algorithm}"
            for size, step in zip(least, of_kind, strict=True)
        ]
        lines += [f"{ranks + 1} # ranks and more", "1", "0 0 0 0"]
    return "\n".join(lines) + "\n"


# ---- MPICH ---------------------------------------------------------------------------------------------------------


def mpich_tree(library: Path, ranks: int, of_alltoall: list[Step]) -> str:
    tree = own_tree(library)
    branch = tree["collective=alltoall"]["comm_type=intra"]
    usual = branch["is_sendbuf_inplace=no"]
    tuned = {}
    for step in of_alltoall:
        condition = f"avg_msg_size<={step.most}" if step.most < math.inf else "avg_msg_size=any"
        taken: dict[str, Any] = {f"algorithm=MPIR_Alltoall_intra_{step.algorithm}": {}}
        tuned[condition] = copy.deepcopy(usual) if step.algorithm == DEFAULT else taken
    branch["is_sendbuf_inplace=no"] = {
        f"comm_size<={ranks - 1}": copy.deepcopy(usual),
        f"comm_size<={ranks}": tuned,
        "comm_size=any": usual,
    }
    return json.dumps(tree, indent=1) + "\n"


def own_tree(library: Path) -> dict[str, Any]:
    """The tree inside MPICH's library. A tuning file must have all of it, with collectives that are not measured."""
    for text in re.findall(rb'\{"collective=[^\0]+', library.read_bytes()):
        try:
            tree: dict[str, Any] = json.loads(text)
            tree["collective=alltoall"]["comm_type=intra"]["is_sendbuf_inplace=no"]
        except (ValueError, KeyError):
            continue
        if b"algorithm=MPIR_Alltoall_intra_" in text:
            return tree
    raise UserError(f"{library} has no tree of MPI_Alltoall's algorithms that Shoal knows; MPICH 5 does")
