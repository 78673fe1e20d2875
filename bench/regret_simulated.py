"""How much Shoal's choice loses on simulated networks against the best of many algorithms, between the sizes tuned for.

    .venv/bin/python bench/regret_simulated.py --platform dragonfly,torus --nodes 8 --ppn 8

Simulated times are exact, so this shows what the choice itself loses. A profile is made as `shoal tune` makes one, from
simulated times of its candidates at its sizes. The driver's `auto` chooses by this profile, with the code that jobs
run, from features that its ranks agree on; the agreement is part of its time. The rivals are the candidates, more
radices and more forms of the hierarchical exchange.
"""

import argparse
import json
import math
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass

from regret import Case, show

import shoal
from shoal import tuning
from shoal.commands import simulate
from shoal.commands.tune import MEASURED_WITH, make_profile
from shoal.errors import told_in_one_line
from shoal.platforms import make_platform
from shoal.simulation import Simulation

# Rivals besides the candidates of `shoal tune`.
RADICES = (5, 6, 7, 10, 12, 21, 24, 48)
HIERARCHICAL = (
    "carriers=1,local=linear", "carriers=2", "carriers=4", "global=radix,global_radix=2",
    "global=radix,global_radix=2,radix=2", "global=radix,global_radix=2,carriers=1", "pattern=staggered",
    "local=linear,pattern=staggered", "overlap=off", "local=linear,overlap=off", "block_count=2", "global=pairwise",
)  # fmt: skip
LARGEST = 512  # bytes of a block to tune for; above, each simulation takes minutes


def rivals(ranks: int, layout: str, *, uniform: bool) -> list[str]:
    more = [f"tuna:radix={radix}" for radix in RADICES] + [f"hierarchical:{form}" for form in HIERARCHICAL]
    known = tuning.candidates(ranks, layout, uniform=uniform)
    return list(dict.fromkeys([*known, *(str(shoal.parse(spec)) for spec in more)]))


@dataclass(frozen=True)
class Cluster:
    at: Simulation
    selector: str

    @property
    def layout(self) -> str:
        return f"{self.at.nodes}x{self.at.ppn}"

    def lines(self, specs: Iterable[str], distribution: str, sizes: list[int], more: Iterable[str] = ()) -> list[dict]:
        arguments = ["--distributions", distribution, "--sizes", ",".join(map(str, sizes)), "--verify", "0", *more]
        return [
            json.loads(line)
            for launch in simulate.plan_launches(list(specs), [self.selector])
            for line in simulate.run(self.at, launch, arguments, len(launch.variants) * len(sizes))
        ]

    def times(self, kind: str, sizes: list[int], specs: list[str], _: float = 0) -> tuning.Times:
        distribution, scale = MEASURED_WITH[kind]
        found: tuning.Times = {}
        for record in self.lines(specs, distribution, [scale * size for size in sizes]):
            found.setdefault(record["size"] // scale, {})[record["variant"]] = record["seconds"]
        return found

    def tuned(self) -> shoal.Profile:
        ranks = self.at.ranks
        tables = {
            kind: tuning.Table(tuning.candidates(ranks, self.layout, uniform=kind == "alltoall"))
            for kind in MEASURED_WITH
        }
        sizes = [size for size in tuning.coarse_sizes(ranks) if size < LARGEST / 2] + [LARGEST]
        tuning.tune(self.times, tables, sizes, math.inf, clock=lambda: 0.0)
        asking = self.times("alltoallv", [tuning.SMALLEST], ["ask"])[tuning.SMALLEST]["ask"][0]
        return make_profile(ranks, tables, asking, {"layout": self.layout})

    def case(self, distribution: str, size: int, profile: str) -> Case:
        specs = rivals(self.at.ranks, self.layout, uniform=distribution == "uniform")
        found = {record["variant"]: record["seconds"][0] for record in self.lines(specs, distribution, [size])}
        (auto,) = self.lines(["auto"], distribution, [size], ["--profile", profile])
        best = min(found, key=found.__getitem__)
        took, chosen = auto["seconds"][0], auto["ran"]
        return Case(distribution, size, chosen, best, found[best], took, found[chosen], found["native"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", default="dragonfly,torus", help="as of shoal simulate")
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--ppn", type=int, default=8)
    parser.add_argument("--selector", default="mpich", help="whose choice `native` makes")
    parser.add_argument("--sizes", default="24,100,300")
    parser.add_argument("--distributions", default="uniform,random,sparse,hot")
    arguments = parser.parse_args()
    for platform in arguments.platform.split(","):
        shape = arguments.nodes, arguments.ppn
        at = Simulation(make_platform(platform, arguments.nodes), *shape, 0.4e-6, everyone_sends=True)
        cluster = Cluster(at, arguments.selector)
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(str(cluster.tuned()))
            file.flush()
            found = [
                cluster.case(distribution, int(size), file.name)
                for distribution in arguments.distributions.split(",")
                for size in arguments.sizes.split(",")
            ]
        show(f"{at.name}, {arguments.selector}", found)


if __name__ == "__main__":
    with told_in_one_line():
        main()
