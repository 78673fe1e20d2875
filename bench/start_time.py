"""How much longer a program takes under `shoal run` than under mpiexec with the same preload: what the command costs.

    .venv/bin/python bench/start_time.py --pairs 20

The program (bench/programs/exchanges.c) makes one exchange. Each pair starts it both ways, in alternating order. For
every MPI a line tells the median of the two times, and the median of the differences with its 95 % interval.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

from programs.launch import Place, compile_for, environment, find_mpis
from shoal.errors import told_in_one_line
from shoal.measurements import Series, readable_seconds
from shoal.mpi import launch_command

SHOAL = Path(sys.executable).with_name("shoal")
WORDS = ["same", "alltoall", "1", "64"]  # of the program: one exchange of 64 bytes a block
RANKS = 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", default="", help="such as mpich5,openmpi5; default: all that are here")
    parser.add_argument("--pairs", type=int, default=20, help="how many times to start the program both ways")
    asked = parser.parse_args()
    if asked.pairs < 1:
        parser.error(f"argument --pairs: {asked.pairs} is not a number of pairs; give 1 or more")
    with told_in_one_line():
        for mpi in find_mpis(asked.mpi):
            print(compared(Place(mpi), asked.pairs), flush=True)


def compared(place: Place, pairs: int) -> str:
    program = [str(compile_for(place, "exchanges")), *WORDS]
    bare = launch_command(place.mpi, RANKS, program, {"LD_PRELOAD": str(place.mpi.preload)})
    commands = [bare, [str(SHOAL), "run", "-n", str(RANKS), "--mpi", str(place.mpi.mpiexec), "--", *program]]
    took: list[list[float]] = [[], []]
    for turn in range(pairs):
        for way in (0, 1) if turn % 2 == 0 else (1, 0):
            took[way].append(seconds(commands[way]))
    mpiexec, ours = (Series("", "", tuple(times)) for times in took)
    more = Series("", "", tuple(b - a for a, b in zip(*took, strict=True)))
    interval = " to ".join(readable_difference(one) for one in more.interval() or ())
    return (
        f"{place.mpi.kind} {place.mpi.version}: mpiexec {readable_seconds(mpiexec.median)}, shoal run "
        f"{readable_seconds(ours.median)}: {readable_difference(more.median)} more ({interval or 'few pairs'})"
    )


def readable_difference(seconds: float) -> str:
    return ("-" if seconds < 0 else "") + readable_seconds(abs(seconds))


def seconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
