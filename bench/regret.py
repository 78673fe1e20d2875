"""How much Shoal's choice loses against the best of all candidates, on sizes that nothing was tuned for.

    .venv/bin/python bench/regret.py -n 8 --mpi mpich5 --profile eight.toml

For every case (size and distribution) all candidates and `auto` take turns in one run. With --profile a second run does
the same, and `auto` chooses by the profile. The odd repetitions pick the best, and the even ones compare it, so that
the best is not just the luckiest one. Regret is how much longer than the best an exchange takes, in percent: for `auto`
as it ran (with its agreements on sizes), and for the algorithm that it chose. The sizes lie between those that `auto`
and `shoal tune` measure. With --emulate the ranks are spread over emulated hosts.
"""

import argparse
import json
import statistics
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.table import Table

from shoal import tuning
from shoal.commands.bench import choose_mpis, measure
from shoal.console import out
from shoal.emulation import Emulation
from shoal.errors import told_in_one_line
from shoal.measurements import readable_bytes, readable_seconds
from shoal.mpi import Mpi, launch_command
from shoal.networks import read_network


@dataclass(frozen=True)
class Case:
    distribution: str
    size: int
    chosen: str
    best: str
    best_seconds: float
    auto_seconds: float
    chosen_seconds: float
    native_seconds: float

    @property
    def regret(self) -> float:
        return self.auto_seconds / self.best_seconds - 1

    @property
    def choice_regret(self) -> float:
        return self.chosen_seconds / self.best_seconds - 1


def run(mpi: Mpi, arguments: argparse.Namespace, cluster: Emulation | None, profile: str) -> list[Case]:
    """Measures all cases in one launch."""
    # MPI_Alltoallv has the candidates of MPI_Alltoall, except for algorithms that need equal blocks.
    specs = tuning.candidates(arguments.ranks, layout_of(arguments, cluster), uniform=True)
    options = ["--variants", ";".join(["auto", *specs]), "--sizes", arguments.sizes]
    options += ["--distributions", arguments.distributions, "--seconds", str(arguments.seconds)]
    variables = {} if cluster else {"SHOAL_LAYOUT": layout_of(arguments, cluster)}
    variables |= {"SHOAL_PROFILE": profile} if profile else {}
    start = cluster.launch_command if cluster else launch_command

    def launch(mpi: Mpi, ranks: int, program: list[str], own: dict[str, str]) -> list[str]:
        return start(mpi, ranks, program, own | variables)

    return list(cases(measure(mpi, arguments.ranks, options, launch)))


def layout_of(arguments: argparse.Namespace, cluster: Emulation | None) -> str:
    if cluster:
        return f"{len(cluster.hosts)}x{arguments.ranks // len(cluster.hosts)}"
    return arguments.layout or f"1x{arguments.ranks}"


def cases(lines: Iterator[str]) -> Iterator[Case]:
    records: dict[tuple[str, int], dict[str, dict]] = {}
    for record in map(json.loads, lines):
        if record.get("seconds"):
            records.setdefault((record["distribution"], record["size"]), {})[record["variant"]] = record
    for (distribution, size), variants in records.items():
        if "auto" not in variants:
            continue
        chosen = variants["auto"]["ran"].partition(": ")[0]
        rivals = {spec for spec in variants if spec != "auto" and len(variants[spec]["seconds"]) > 1}
        best = min(rivals, key=lambda spec: median(variants[spec], 1))
        later = partial(median, half=0)
        yield Case(
            distribution, size, chosen, best, later(variants[best]), later(variants["auto"]),
            later(variants[chosen]) if chosen in variants else later(variants["auto"]), later(variants["native"]),
        )  # fmt: skip


def median(record: dict, half: int) -> float:
    return statistics.median(record["seconds"][half::2])


def shares(values: list[float]) -> str:
    ordered = sorted(values)
    high = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return f"mean {statistics.mean(values):.1%}, median {statistics.median(values):.1%}, 95th percentile {high:.1%}"


def show(title: str, found: list[Case]) -> None:
    rows = Table("blocks", "chosen", "took", "best", "takes", "regret", "of the choice", "MPI's own", title=title)
    for c in found:
        rows.add_row(
            f"{c.distribution} {readable_bytes(c.size)}", c.chosen, readable_seconds(c.auto_seconds), c.best,
            readable_seconds(c.best_seconds), f"{c.regret:.0%}", f"{c.choice_regret:.0%}",
            readable_seconds(c.native_seconds),
        )  # fmt: skip
    out.print(rows)
    slower = [c for c in found if c.auto_seconds > 1.05 * c.native_seconds]
    out.print(f"{title}: regret {shares([c.regret for c in found])}")
    out.print(f"{title}: of the choice {shares([c.choice_regret for c in found])}")
    out.print(f"{title}: more than 5 % slower than the MPI's own in {len(slower)} of {len(found)} cases")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", "-n", type=int, default=8)
    parser.add_argument("--mpi", default="", help="as in mpich5")
    parser.add_argument("--sizes", default="24,200,1500,12000,100000")
    parser.add_argument("--distributions", default="uniform,random,power,sparse,hot")
    parser.add_argument("--seconds", type=float, default=0.1, help="for each variant of a case")
    parser.add_argument("--layout", default="", help="as if on nodes: 8x1 leaves out the shared memory; else one node")
    parser.add_argument("--emulate", default="", help="across an emulated cluster, as of shoal bench")
    parser.add_argument("--rate", default="", help="speed of its slowest link")
    parser.add_argument("--profile", type=Path, help="of shoal tune")
    arguments = parser.parse_args()
    mpi = choose_mpis(arguments.mpi)[0]
    network = read_network(arguments.emulate, arguments.rate) if arguments.emulate else None
    with Emulation(network) if network else nullcontext() as cluster:
        show("auto", run(mpi, arguments, cluster, ""))
        if arguments.profile:
            show("profile", run(mpi, arguments, cluster, str(arguments.profile.resolve())))


if __name__ == "__main__":
    with told_in_one_line():
        main()
