"""Compares every figure in the text of the TuNA paper with what the cost model predicts.

For each machine, three numbers of the model are fitted to all figures of the machine: the cost of a message to another
node, the additional cost for each other message under way, and the cost of packing a block, however short. All else
comes from data sheets. Page: docs/papers/tuna.md.

    .venv/bin/python bench/papers/tuna.py
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from rich.console import Console
from rich.table import Table

import shoal
from shoal.cost_model import Cluster, predict
from shoal.machine import Level, Machine
from shoal.measurements import readable_bytes, readable_seconds

RANKS_A_NODE = 32
MACHINES = {
    "Polaris": Machine(
        Level(), Level(0.5e-6, 1e-6, 1 / 10e9), Level(2e-6, 5.3e-6, 1 / 25e9), 1e-10,
        per_other=0.31e-9, per_copied_block=18e-9,
    ),
    "Fugaku": Machine(
        Level(), Level(1e-6, 1e-6, 1 / 5e9), Level(2e-6, 11e-6, 1 / 6.8e9), 2e-10,
        per_other=2.7e-9, per_copied_block=82e-9,
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    machine: str
    ranks: int
    size: int  # largest block
    mean: float = 0.5  # of the blocks, as a share of the largest

    def seconds(self, spec: str) -> float:
        at = Cluster(self.ranks // RANKS_A_NODE, RANKS_A_NODE)
        return predict(shoal.parse(spec), at, self.mean * self.size, MACHINES[self.machine], published=True)


def radices(most: int) -> list[int]:
    """Powers of two. The largest radix is the linear exchange."""
    return [1 << e for e in range(1, most.bit_length())]


@cache
def best(setting: Setting, kind: str) -> tuple[float, str]:
    """The time with the best parameters, which the paper compares, and the spec that has them."""
    counts = ("all", 1, 32, 1024)
    specs = {
        "native": ["spread_out"],
        "scattered": [f"scattered:block_count={count}" for count in counts],
        "tuna": [f"tuna:radix={radix}" for radix in radices(setting.ranks)],
        "coalesced": [f"hierarchical:radix={radix},block_count={count}" for radix in radices(32) for count in counts],
        "staggered": [f"hierarchical:pattern=staggered,radix={radix},block_count={count}"
                      for radix in radices(32) for count in counts],
    }  # fmt: skip
    return min((setting.seconds(spec), spec) for spec in specs[kind])


@dataclass(frozen=True)
class Figure:
    """A figure of the paper: how many times longer `what` takes than `over`, or its time if `over` is empty."""

    setting: Setting
    what: str
    over: str
    published: float

    def predicted(self) -> float:
        base = best(self.setting, self.what)[0]
        return base / best(self.setting, self.over)[0] if self.over else base

    def words(self) -> tuple[str, ...]:
        unit: Callable[[float], str] = (lambda x: f"{x:.2f}x") if self.over else readable_seconds
        what = f"{self.what} : {self.over}" if self.over else self.what
        at = self.setting
        ratio = self.predicted() / self.published
        return (at.machine, str(at.ranks), readable_bytes(at.size), what, unit(self.published), unit(self.predicted()),
                f"{ratio:.2f}", best(at, self.over or self.what)[1])  # fmt: skip


def at(machine: str, ranks: int, size: int, mean: float = 0.5) -> Setting:
    return Setting(machine, ranks, size, mean)


# In the order of the paper. If the text does not name the machine, it is the one that fits the rest (see the page).
FIGURES = [
    Figure(at("Polaris", 8192, 16), "native", "", 51.8e-3),
    Figure(at("Polaris", 8192, 16), "tuna", "", 1.78e-3),
    Figure(at("Fugaku", 8192, 16), "native", "", 408.33e-3),
    Figure(at("Fugaku", 8192, 16), "tuna", "", 5.79e-3),
    Figure(at("Polaris", 8192, 1024), "native", "tuna", 5.62),
    Figure(at("Fugaku", 8192, 1024), "native", "tuna", 7.26),
    Figure(at("Fugaku", 16384, 16384), "native", "tuna", 9.69),
    Figure(at("Fugaku", 8192, 16), "staggered", "coalesced", 17.06),
    Figure(at("Fugaku", 8192, 16384), "coalesced", "staggered", 1.23),
    Figure(at("Fugaku", 16384, 16), "native", "coalesced", 138.59),
    Figure(at("Fugaku", 16384, 16), "native", "tuna", 60.60),
    Figure(at("Fugaku", 16384, 16), "native", "staggered", 12.29),
    Figure(at("Polaris", 16384, 16), "native", "coalesced", 42.08),
    Figure(at("Polaris", 16384, 16), "scattered", "coalesced", 14.61),
    Figure(at("Polaris", 16384, 64), "native", "coalesced", 11.68),
    Figure(at("Polaris", 16384, 2048), "native", "coalesced", 2.71),
    Figure(at("Fugaku", 16384, 8192), "native", "coalesced", 2.20),
    Figure(at("Fugaku", 16384, 8192), "scattered", "coalesced", 2.14),
    Figure(at("Fugaku", 8192, 64, 0.625 * 0.78125), "native", "coalesced", 9.42),  # FFT, N1: most blocks are empty
    Figure(at("Fugaku", 8192, 512, 1.0), "native", "coalesced", 4.01),  # FFT, N2
    # Path finding, 5800 iterations. The paper gives no block sizes; its ratios are those of blocks up to 1 KiB above.
    Figure(at("Polaris", 8192, 1024), "native", "tuna", 5.98),
    Figure(at("Fugaku", 8192, 1024), "native", "tuna", 5.80),
    Figure(at("Polaris", 8192, 1024), "native", "coalesced", 7.96),
    Figure(at("Fugaku", 8192, 1024), "native", "coalesced", 11.09),
    Figure(at("Fugaku", 4096, 1024, 1000 / 1024), "native", "tuna", 3.21),  # normally distributed sizes
    Figure(at("Fugaku", 4096, 1024, 1000 / 1024), "native", "coalesced", 3.63),
    Figure(at("Fugaku", 4096, 1024, 1000 / 1024), "native", "staggered", 1.57),
]


def last_gain(machine: str) -> int:
    """The largest block with which TuNA is faster than native on 8192 ranks."""
    sizes = [1 << e for e in range(4, 21)]
    return max(s for s in sizes if best(at(machine, 8192, s), "tuna")[0] < best(at(machine, 8192, s), "native")[0])


def main() -> None:
    out = Console(width=140, highlight=False)
    rows = Table("machine", "ranks", "block up to", "what", "published", "predicted", "ratio", "with")
    for figure in FIGURES:
        rows.add_row(*figure.words())
    out.print(rows)
    judged = [f.predicted() / f.published for f in FIGURES if (f.what, f.setting.size, f.over) != ("native", 16, "")]
    for factor in (1.5, 2, 4):
        near = sum(1 / factor <= ratio <= factor for ratio in judged)
        out.print(f"within a factor of {factor}: {near} of {len(judged)}")
    for machine in MACHINES:
        out.print(
            f"{machine}: TuNA faster than native up to "
            f"{readable_bytes(last_gain(machine))}; ideal radix with 2048 ranks: "
            + ", ".join(f"{readable_bytes(s)} {best(at(machine, 2048, s), 'tuna')[1].rpartition('=')[2]}"
                        for s in (16, 512, 2048, 8192, 32768))
        )  # fmt: skip


if __name__ == "__main__":
    main()
