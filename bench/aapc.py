#!/usr/bin/env python3
"""Exchanges on emulated clusters of switches, beside the least time their links allow.

    .venv/bin/python bench/aapc.py --networks switch:24,star:4x8,line:4x8 --sizes 8,64 --rate 20M --output build/aapc

Topologies (a), (b) and (c) of the paper on all-to-all exchange for Ethernet switched clusters. For every network, MPI
and size one launch measures all variants side by side: Shoal's schedules, the C file that `shoal topology generate`
writes (variant `preloaded`), and the MPI's own. Prints a table in Markdown. All repetitions are kept; what the folder
has is not measured again.
"""

import argparse
import json
import statistics
import tempfile
from pathlib import Path

import shoal
from shoal.commands.bench import measure
from shoal.commands.demo import newest_built
from shoal.emulation import Emulation
from shoal.measurements import readable_bytes, readable_seconds, short_name
from shoal.mpi import Mpi
from shoal.networks import read_network
from shoal.routine import compile_routine

VARIANTS = "tree;preloaded;native;native_nonblocking;spread_out;pairwise;exclusive_or"
FRAME, ACKNOWLEDGEMENT = 1538, 90  # bytes of time on a link; a receiver acknowledges every other frame, or fewer


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default="switch:24,star:4x8,line:4x8", help="files or forms")
    parser.add_argument("--rate", default="20M", help="of the slowest link")
    parser.add_argument("--sizes", default="8,64", help="of a block, KiB")
    parser.add_argument("--mpi", default="mpich,openmpi", help="the newest here")
    parser.add_argument("--variants", default=VARIANTS)
    parser.add_argument("--window", type=int, default=1, help="of the generated routine")
    parser.add_argument("--repetitions", type=int, default=10, help="of each variant and size")
    parser.add_argument("--output", type=Path, default=Path("build/aapc"))
    return parser.parse_args()


def main() -> None:
    what = arguments()
    what.output.mkdir(parents=True, exist_ok=True)
    print("| network | MPI | block | variant | repetitions | median | payload | with headers | and acks | idle |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in what.networks.split(","):
        network = read_network(name, what.rate)
        for mpi in map(newest_built().__getitem__, what.mpi.split(",")):
            for size in map(int, what.sizes.split(",")):
                path = what.output / f"{Path(name).name.replace(':', '-')}-{mpi.kind}-{size}K-{what.rate}.jsonl"
                if not path.exists():
                    path.write_text("".join(run(network, mpi, size * 1024, what)))
                print_rows(name, shoal.Tree(network), path.read_text().splitlines())


def run(network: shoal.Network, mpi: Mpi, size: int, what: argparse.Namespace) -> list[str]:
    options = ["--variants", what.variants, "--sizes", str(size), "--distributions", "uniform"]
    options += ["--repetitions", str(what.repetitions)]
    with tempfile.TemporaryDirectory() as directory, Emulation(network) as cluster:
        library = compile_routine(network, mpi, Path(directory), what.window)

        def launch(mpi: Mpi, ranks: int, program: list[str], variables: dict[str, str]) -> list[str]:
            return cluster.launch_command(mpi, ranks, program, variables | {"LD_PRELOAD": str(library)})

        return list(measure(mpi, network.ranks, options, launch))


def print_rows(name: str, tree: shoal.Tree, lines: list[str]) -> None:
    provenance, *measured = [json.loads(line) for line in lines]
    mpi = short_name(provenance["provenance"]["mpi"])
    for record in sorted(measured, key=lambda one: (one["size"], statistics.median(one["seconds"]))):
        size, median = record["size"], statistics.median(record["seconds"])
        payload, frames = tree.seconds(size), tree.seconds(shoal.bytes_on_wire(size))
        bounds = payload, frames, frames * (1 + ACKNOWLEDGEMENT / FRAME / 2)
        shares = [f"{100 * bound / median:.1f} %" for bound in bounds]
        repetitions = str(len(record["seconds"]))
        cells = [name, mpi, readable_bytes(size), record["variant"], repetitions, readable_seconds(median), *shares]
        print("| " + " | ".join([*cells, f"{100 * record['idle']:.0f} %"]) + " |", flush=True)


if __name__ == "__main__":
    main()
