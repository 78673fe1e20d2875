#!/usr/bin/env python3
"""Exchanges on emulated clusters of switches, beside the least time their links allow.

    .venv/bin/python bench/aapc.py --networks switch:24,star:4x8,line:4x8 --sizes 8,64 --rate 20M --output build/aapc

The networks are topologies (a), (b) and (c) of the paper on all-to-all exchange for Ethernet switched clusters. For
every network and MPI, one launch measures all sizes and all variants side by side: Shoal's schedules, the C file that
`shoal topology generate` writes (variant `preloaded`), and the MPI's own. Blocks are all equal; or random, from nothing
to the size; or skewed, Pareto distributed (exponent 1.3) from a sixteenth of the size to four times the size. All
repetitions are kept, in one file for each size, and written as they come. Variants that a file has already are not
measured again.

Prints a table in Markdown. The last columns are about the best `tree`: the bounds as shares of its time (for payload,
with headers, and with acknowledgements), and how many times longer the best of the MPI's own takes.
"""

import argparse
import json
import random
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import shoal
from shoal.commands.bench import choose_mpis, measure
from shoal.emulation import Emulation
from shoal.errors import told_in_one_line
from shoal.measurements import readable_seconds
from shoal.mpi import Mpi
from shoal.networks import read_network
from shoal.routine import compile_routine

VARIANTS = "tree;preloaded;native;native_nonblocking;spread_out;pairwise;exclusive_or"
FRAME, ACKNOWLEDGEMENT = 1538, 90  # bytes of time on a link; a receiver acknowledges every other frame, or fewer


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default="switch:24,star:4x8,line:4x8", help="files or forms")
    parser.add_argument("--rate", default="20M", help="speed of the slowest link")
    parser.add_argument("--sizes", default="8,64", help="of a block, KiB")
    parser.add_argument("--blocks", default="uniform", help="uniform, random or skewed")
    parser.add_argument("--mpi", default="mpich5,openmpi5", help="MPIs, named as for shoal bench")
    parser.add_argument("--variants", default=VARIANTS)
    parser.add_argument("--window", type=int, default=1, help="window of the generated routine")
    parser.add_argument("--repetitions", type=int, default=10, help="of each variant and size")
    parser.add_argument("--output", type=Path, default=Path("build/aapc"))
    return parser.parse_args()


@dataclass(frozen=True)
class Cell:
    """All variants with blocks of one size. The file has a JSON line for each variant that was measured."""

    title: list[str]
    matrix: list[list[int]]
    distribution: str  # as an argument of the driver, like the size
    size: str
    path: Path

    def measured(self) -> dict[str, dict[str, Any]]:
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        return {record["variant"]: record for record in map(json.loads, lines) if record.get("seconds")}


def main() -> None:
    what = arguments()
    what.output.mkdir(parents=True, exist_ok=True)
    variants = what.variants.split(";")
    heads = ["network", "MPI", "block, rate", *variants, "best: payload, headers, acks", "over the MPI's"]
    print("| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
    for name in what.networks.split(","):
        network = read_network(name, what.rate)
        for mpi in choose_mpis(what.mpi):
            cells = [cell_of(name, network.ranks, mpi, int(size), what) for size in what.sizes.split(",")]
            missing: dict[tuple[str, ...], list[Cell]] = {}
            for cell in cells:
                missing.setdefault(tuple(v for v in variants if v not in cell.measured()), []).append(cell)
            for some, of in missing.items():
                if some:
                    run(network, mpi, list(some), of, what)
            for cell in cells:
                print_row(cell, shoal.Tree(network), variants)


def cell_of(name: str, ranks: int, mpi: Mpi, size: int, what: argparse.Namespace) -> Cell:
    matrix = matrix_of(what.blocks, size * 1024, ranks)
    title = [name, f"{mpi.kind} {mpi.version}", f"{size} KiB, {what.rate}"]
    stem = f"{Path(name).name.replace(':', '-')}-{mpi.kind}-{what.blocks}-{size}K-{what.rate}"
    path = what.output.resolve() / f"{stem}.jsonl"
    if what.blocks == "uniform":
        return Cell(title, matrix, "uniform", str(size * 1024), path)
    sizes = path.with_suffix(".csv")
    sizes.write_text("".join(",".join(map(str, row)) + "\n" for row in matrix))
    return Cell(title, matrix, f"matrix:{sizes}", "0", path)


def matrix_of(blocks: str, size: int, ranks: int) -> list[list[int]]:
    chance = random.Random(1)
    make: dict[str, Callable[[], int]] = {
        "uniform": lambda: size,
        "random": lambda: chance.randint(0, size),
        "skewed": lambda: min(4 * size, int(size / 16 * chance.paretovariate(1.3))),
    }
    return [[make[blocks]() for _ in range(ranks)] for _ in range(ranks)]


def run(network: shoal.Network, mpi: Mpi, variants: list[str], cells: list[Cell], what: argparse.Namespace) -> None:
    """Measures these variants, and appends what was measured to the files of the cells."""
    by_name = {(cell.distribution, int(cell.size)): cell for cell in cells}
    options = ["--variants", ";".join(variants), "--repetitions", str(what.repetitions)]
    options += ["--sizes", ",".join(dict.fromkeys(cell.size for cell in cells))]
    options += ["--distributions", ",".join(dict.fromkeys(cell.distribution for cell in cells))]
    with tempfile.TemporaryDirectory() as directory, Emulation(network) as cluster:
        library = compile_routine(network, mpi, Path(directory), what.window)

        def launch(mpi: Mpi, ranks: int, program: list[str], variables: dict[str, str]) -> list[str]:
            return cluster.launch_command(mpi, ranks, program, variables | {"LD_PRELOAD": str(library)})

        for line in measure(mpi, network.ranks, options, launch):
            record = json.loads(line)
            into = [by_name[record["distribution"], record["size"]]] if "variant" in record else cells
            for cell in into:
                with cell.path.open("a") as file:
                    file.write(line)


def print_row(cell: Cell, tree: shoal.Tree, variants: list[str]) -> None:
    measured = cell.measured()
    payload = tree.sized_seconds([one for row in cell.matrix for one in row])
    frames = tree.sized_seconds([shoal.bytes_on_wire(one) for row in cell.matrix for one in row])
    row = cell.title + [result(measured[name], frames) if name in measured else "" for name in variants]
    best, natives = fastest(measured, "tree"), fastest(measured, "native")
    if best:
        bounds = payload, frames, frames * (1 + ACKNOWLEDGEMENT / FRAME / 2)
        row.append(", ".join(f"{bound / best:.1%}" for bound in bounds))
        row.append(f"{natives / best:.2f}x" if natives else "")
    print("| " + " | ".join(row) + " |", flush=True)


def result(record: dict[str, Any], bound: float) -> str:
    """The median, the bound as a share of it, the number of repetitions, and the idle share of the cores."""
    median = statistics.median(record["seconds"])
    return f"{readable_seconds(median)}, {bound / median:.0%} ({len(record['seconds'])}; {record['idle']:.0%})"


def fastest(measured: dict[str, dict[str, Any]], kind: str) -> float:
    """The least median of the variants whose name begins with `kind`; 0 if there are none."""
    return min((statistics.median(r["seconds"]) for name, r in measured.items() if name.startswith(kind)), default=0.0)


if __name__ == "__main__":
    with told_in_one_line():
        main()
