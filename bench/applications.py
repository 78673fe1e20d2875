"""Times the applications in apps/ with the MPI's own exchanges and with Shoal's, and how much of it is exchanging.

    .venv/bin/python bench/applications.py -n 8 --mpi mpich5,openmpi5 --turns 5

Figures 14 and 15 of the TuNA paper, at the size of one machine. The ways to exchange take turns in random order. The
programs verify every result, and times are medians of all turns. Prints a table in Markdown: the time of the program,
in brackets the part of it that was exchanging, and beside a transform the time of FFTW-MPI, which Debian has for
Open MPI. Page: docs/papers/tuna.md.
"""

import argparse
import random
import re
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

from shoal.commands.bench import choose_mpis
from shoal.errors import told_in_one_line
from shoal.measurements import readable_seconds
from shoal.mpi import Mpi, launch_command, launch_environment

BUILT = Path(__file__).resolve().parent.parent / "build"
PROGRAMS = "closure road:4000;closure power:3000;fft 1001x1203 --repetitions 5;fft 61x71 --repetitions 100"
UNITS = {"ms": 1e-3, "s": 1.0}


@dataclass(frozen=True)
class Took:
    whole: float
    exchanging: float
    fftw_mpi: float  # 0 if the program has no such time

    @classmethod
    def read(cls, said: str) -> "Took":
        times = re.search(r"([\d.]+) (m?s), of which exchanging ([\d.]+) (m?s)", said)
        theirs = re.search(r"FFTW-MPI: ([\d.]+) ms", said)
        if not times or "equal to" not in said:
            raise RuntimeError(f"a program did not say that its result is right: {said}")
        whole, unit, exchanging, unit_exchanging = times.groups()
        return cls(float(whole) * UNITS[unit], float(exchanging) * UNITS[unit_exchanging],
                   float(theirs[1]) * 1e-3 if theirs else 0)  # fmt: skip


def run(mpi: Mpi, ranks: int, program: str, way: str) -> Took:
    name, *words = program.split()
    beside = ["--fftw-mpi"] if name == "fft" and mpi.kind == "openmpi" else []
    variables = {"SHOAL_ALLTOALL": way, "SHOAL_ALLTOALLV": way}
    command = launch_command(mpi, ranks, [str(BUILT / mpi.abi / name), *words, "--check", *beside], variables)
    done = subprocess.run(command, capture_output=True, text=True, env=launch_environment(), timeout=600, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return Took.read(done.stdout)


def row(mpi: Mpi, program: str, took: dict[str, list[Took]]) -> list[str]:
    median = {way: statistics.median(one.whole for one in runs) for way, runs in took.items()}
    cells = [f"{mpi.kind} {mpi.version}", program]
    for way, runs in took.items():
        exchanging = statistics.median(one.exchanging for one in runs)
        ratio = f": {median['native'] / median[way]:.2f}x" if way != "native" and "native" in median else ""
        cells.append(f"{readable_seconds(median[way])} ({readable_seconds(exchanging)}){ratio}")
    theirs = [one.fftw_mpi for runs in took.values() for one in runs if one.fftw_mpi]
    return [*cells, readable_seconds(statistics.median(theirs)) if theirs else ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", "-n", type=int, default=8)
    parser.add_argument("--mpi", default="mpich5,openmpi5")
    parser.add_argument("--programs", default=PROGRAMS, help="with their arguments; by ';'")
    parser.add_argument("--ways", default="native;auto;tuna:radix=4", help="how to exchange; by ';'")
    parser.add_argument("--turns", type=int, default=5)
    what = parser.parse_args()
    ways = what.ways.split(";")
    heads = ["MPI", "program", *ways, "FFTW-MPI"]
    print("| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
    for mpi in choose_mpis(what.mpi):
        for program in what.programs.split(";"):
            took: dict[str, list[Took]] = {way: [] for way in ways}
            for way in (way for _ in range(what.turns) for way in random.sample(ways, len(ways))):
                took[way].append(run(mpi, what.ranks, program, way))
            print("| " + " | ".join(row(mpi, program, took)) + " |", flush=True)


if __name__ == "__main__":
    with told_in_one_line():
        main()
