"""What one rank among very many needs for its exchanges: memory, and the time to set it up.

    .venv/bin/python bench/simulated/one_rank.py --layouts 512x32,4096x32

`communicator`: where all ranks are, which each rank keeps for a communicator (topology/node_layout, layout_tree), and
the numbers by which the ranks tell each other, two for each rank while they agree. `program`, `runs`: as in
`shoal plan`.
"""

import argparse
import multiprocessing
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import shoal

SPECS = ("tuna:radix=2", "hierarchical", "spread_out")
AGREED = 2 * 8  # bytes for each rank: the number that it says, and the largest that any rank said


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def timed(make: Callable[[], Any]) -> tuple[Any, float, int]:
    """What was made, in how many seconds, and by how many bytes the process has grown."""
    before, began = resident(), time.perf_counter()
    made = make()
    return made, time.perf_counter() - began, resident() - before


def show(layout: str) -> None:
    problem, seconds, grown = timed(lambda: shoal.Problem(layout=layout))
    agreed = AGREED * problem.ranks
    print(
        f"{problem.ranks} ranks, {layout}: communicator {grown / 1e6:.3g} MB, made in {seconds:.3f} s, and "
        f"{agreed / 1e6:.3g} MB while they agree"
    )
    for spec in SPECS:
        made, seconds, _ = timed(lambda spec=spec: shoal.generate(shoal.parse(spec), problem, 0))
        program, runs = (bytes_ / 1e6 for bytes_ in made.memory)
        print(f"  {spec:14} program {program:.3g} MB, made in {seconds:.3f} s; runs in {runs:.3g} MB")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--layouts", default="512x32,4096x32", help="nodes x ranks of each")
    layouts = options.parse_args().layouts.split(",")
    shoal.Problem(layout="1x1")  # loads all that is loaded only once
    for layout in layouts:  # each in a process of its own, without memory that another layout left
        process = multiprocessing.get_context("fork").Process(target=show, args=(layout,))
        process.start()
        process.join()


if __name__ == "__main__":
    main()
