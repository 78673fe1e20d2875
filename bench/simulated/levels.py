"""Exchanges that follow a network's levels, against the choices of four MPI libraries, in one simulation.

    .venv/bin/python bench/simulated/levels.py --platform torus --nodes 64 --ppn 4 --sizes 16,256,1024,16384 -o levels

Simulates, for each size: the MPI's own as MPICH, Open MPI, MVAPICH2 and Intel MPI choose it; flat exchanges;
hierarchical ones over two levels; and hierarchical ones over all levels of the platform (dimensions of a torus, groups
of a dragonfly). The hierarchical ones are linear, in radix 2, and what the model's closed forms think best. Prints the
best of each kind beside the best of the four MPIs.
"""

import argparse
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import shoal
from shoal.measurements import Results, readable_bytes, readable_seconds
from shoal.platforms import make_platform

SHOAL = Path(sys.executable).with_name("shoal")
FLAT = ("spread_out", "scattered:block_count=32", "tuna:radix=2", "tuna:radix=4", "tuna")
LEVELS = ("hierarchical", "hierarchical:local=linear", "hierarchical:radix=2,global=radix,global_radix=2")


def best_of_model(asked: argparse.Namespace, layout: str, size: int) -> str:
    platform = make_platform(asked.platform, asked.nodes)
    assert platform.machine
    machine = platform.machine(0.4e-6)
    return replace(machine, memory=machine.node).best_levels(shoal.Problem(layout=layout), size)


def simulate(asked: argparse.Namespace, folder: Path, size: int, layout: str, variants: list[str]) -> dict[str, float]:
    found = folder / "results.jsonl"
    if not found.exists():
        options = ["--platform", asked.platform, "--nodes", str(asked.nodes), "--ppn", str(asked.ppn)]
        options += ["--distribution", asked.distribution, "--sizes", str(size), "--layout", layout]
        options += ["--selector", "mpich,ompi,mvapich2,impi", "--variants", ";".join(dict.fromkeys(variants))]
        begun = folder.with_suffix(".begun")
        subprocess.run([SHOAL, "simulate", *options, "-o", begun], check=True, stdout=sys.stderr)
        begun.rename(folder)
    cases = Results.read([found]).cases.values()
    return {name: series.median for all_of in cases for name, series in all_of.items()}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--platform", default="torus")
    options.add_argument("--nodes", type=int, default=64)
    options.add_argument("--ppn", type=int, default=4)
    options.add_argument("--sizes", default="16,256,1024,16384,65536")
    options.add_argument("--distribution", default="uniform")
    options.add_argument("-o", "--output", type=Path, default=Path("simulated-levels"))
    asked = options.parse_args()
    layout = make_platform(asked.platform, asked.nodes).layout(asked.nodes, asked.ppn)
    two = f"node:{asked.nodes} core:{asked.ppn}"
    print(f"simulated {asked.platform}, {asked.nodes} nodes of {asked.ppn} ranks; levels {layout}")
    for size in map(int, asked.sizes.split(",")):
        times = {}
        for name, placed, more in (("two", two, ["native", *FLAT]), ("all", layout, [])):
            variants = [*more, *LEVELS, best_of_model(asked, placed, size)]
            where = asked.output / f"{asked.platform}-{asked.nodes}x{asked.ppn}-{asked.distribution}-{size}-{name}"
            times[name] = simulate(asked, where.absolute(), size, placed, variants)
        print(line(size, times["two"], times["all"], best_of_model(asked, layout, size)), flush=True)


def line(size: int, two: dict[str, float], every: dict[str, float], model: str) -> str:
    native, own = best({k: v for k, v in two.items() if k.startswith("native")})
    flat = best({k: v for k, v in two.items() if k in FLAT})
    pairs = best({k: v for k, v in two.items() if k.startswith("hierarchical")})
    levels = best(every)
    gain = own / min(flat[1], pairs[1], levels[1])
    parts = [f"{name}: {readable_seconds(seconds)} {spec}"
             for name, (spec, seconds) in (("flat", flat), ("two levels", pairs), ("all levels", levels))]  # fmt: skip
    return (
        f"{readable_bytes(size):>7}  {native} {readable_seconds(own)}; {'; '.join(parts)}; "
        f"model's {readable_seconds(every[model])}  {gain:.2f}x"
    )


def best(times: dict[str, float]) -> tuple[str, float]:
    return min(times.items(), key=lambda entry: entry[1])


if __name__ == "__main__":
    main()
