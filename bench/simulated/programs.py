"""Runs whole programs on modelled clusters without and with Shoal: is any of them slower by more than 2 %?

    .venv/bin/python bench/simulated/programs.py --platform dragonfly --nodes 8 --ppn 8 --calls 30,300 -o simulated

Builds apps/fft and apps/closure, and the pencil transform and the sparse exchange of bench/programs, with SimGrid's
compilers, and runs each with about --calls exchanges by `shoal simulate -- PROGRAM`. A run that is in the folder
already is not repeated. `shoal report` draws what the folder holds.
"""

import argparse
import subprocess
import sys
from itertools import product
from pathlib import Path

from shoal.errors import told_in_one_line
from shoal.measurements import ProgramRun, Results, readable_seconds
from shoal.simulation import made

ROOT = Path(__file__).resolve().parents[2]
SHOAL = Path(sys.executable).with_name("shoal")
# The applications are built for MPI alone, because the preload serves MPI's functions.
AS_MPI = ["-Dshoal_alltoall=MPI_Alltoall", "-Dshoal_alltoallv=MPI_Alltoallv", "-DSMPI_NO_OVERRIDE_MALLOC"]
CXX = ["smpicxx", "-std=c++20", "-O2", *AS_MPI, f"-I{ROOT}/include"]
BUILD = {
    "exchanges": ["smpicc", "-O2", ROOT / "bench/programs/exchanges.c"],
    "closure": [*CXX, ROOT / "apps/closure.cpp"],
    "fft": [*CXX, ROOT / "apps/fft.cpp", "-lfftw3"],
}
ALLOWED = 1.02


def programs(ranks: int, calls: int, size: int) -> dict[str, list[str]]:
    """Each makes about `calls` exchanges on a rank, with blocks of `size` bytes if the program lets us choose."""
    points = f"{4 * ranks}x{4 * ranks}"  # a block has 256 bytes
    return {
        "pencils": ["exchanges", "pencils", "alltoallv", str(calls), str(size)],
        "sparse": ["exchanges", "sparse", "alltoallv", str(calls), str(size)],
        "fft": ["fft", points, "--repetitions", str(max(1, calls // 3))],
        "closure": ["closure", f"road:{calls // 2}"],
    }


def build(name: str, folder: Path) -> Path:
    program = folder / name
    if not program.exists():
        compiler, *options = BUILD[name]
        subprocess.run([made(compiler), *options, "-o", program], check=True)
    return program


def run(words: list[str], asked: argparse.Namespace, folder: Path) -> Results:
    """The results of this run: from the folder, or from a new run if the folder does not have them."""
    name = "-".join([asked.platform, asked.selector, f"{asked.nodes}x{asked.ppn}", *words]).replace(":", "_")
    found = folder / name / "results.jsonl"
    if not found.exists() or len(Results.read([found]).programs) < 2:
        options = ["--platform", asked.platform, "--nodes", str(asked.nodes), "--ppn", str(asked.ppn)]
        options += ["--selector", asked.selector, "-o", str(folder / name)]
        program = build(words[0], folder)
        subprocess.run([SHOAL, "simulate", *options, "--", program, *words[1:]], check=True, stdout=sys.stderr)
    return Results.read([found])


def line(without: ProgramRun, served: ProgramRun) -> str:
    ratio = served.seconds / without.seconds
    return (
        f"{without.program:42} {without.on.removeprefix('modelled '):18} {without.calls:5} calls  "
        f"{readable_seconds(without.seconds):>8} -> {readable_seconds(served.seconds):>8}  {ratio:5.3f}"
        f"{'  SLOWER' if ratio > ALLOWED else ''}  learning {readable_seconds(served.learning)}"
    )


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--platform", default="dragonfly")
    options.add_argument("--selector", default="mpich")
    options.add_argument("--nodes", type=int, default=8)
    options.add_argument("--ppn", type=int, default=8)
    options.add_argument("--calls", default="30,300")
    options.add_argument("--size", type=int, default=256)
    options.add_argument("--programs", default=",".join(programs(1, 2, 1)), help="some of %(default)s")
    options.add_argument("-o", "--output", type=Path, default=Path("simulated-programs"))
    asked = options.parse_args()
    if unknown := set(asked.programs.split(",")) - set(programs(1, 2, 1)):
        options.error(f"--programs: no program is called {', '.join(sorted(unknown))}; see --help")
    with told_in_one_line():
        made("smpicc")
    asked.output.mkdir(parents=True, exist_ok=True)
    worst = 0.0
    for calls, name in product(map(int, asked.calls.split(",")), asked.programs.split(",")):
        words = programs(asked.nodes * asked.ppn, calls, asked.size)[name]
        without, served = run(words, asked, asked.output).programs
        print(line(without, served), flush=True)
        worst = max(worst, served.seconds / without.seconds)
    return worst > ALLOWED


if __name__ == "__main__":
    sys.exit(main())
