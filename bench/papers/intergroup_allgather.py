"""Steps and volume of allgathers between two groups at the sizes of the paper, beside the paper's measurements.

    python bench/papers/intergroup_allgather.py            # p:q = 128:128, 64:192, 192:64

In a step a rank sends one message and receives one at the same time. The volume is the sum, over all steps, of the
longest message of the step, counted in messages of one sender. So a long exchange of k bytes a message takes
volume x k / bandwidth.
"""

import sys

from rich.console import Console
from rich.table import Table

import shoal

GROUPS = ((128, 128), (64, 192), (192, 64))
NETWORKS = {
    "fully connected": ("root_gathering", "root_gathering:broadcast=split", "full", "full:allgather=ring", "circulant"),
    "ring": ("union_ring", "ring_paper", "ring"),
}
# Figure 4 of the paper (one process a node, 4 MiB, on Cori): how many times faster than the network's first algorithm.
MEASURED = {
    ("fully connected", 128): 5.3, ("fully connected", 64): 5.1, ("fully connected", 192): 4.4,
    ("ring", 128): 1.9, ("ring", 64): 1.9, ("ring", 192): 1.4,
}  # fmt: skip


def steps_of(spec: str, senders: int, receivers: int) -> shoal.Steps:
    problem = shoal.Problem(senders + receivers, senders=senders)
    return shoal.follow_steps(shoal.generate_all(shoal.parse(spec, "allgather"), problem), senders=senders)


def main() -> int:
    table = Table("network", "senders", "receivers", "algorithm", "steps", "volume", "gain in volume", "paper, 4 MiB")
    for network, specs in NETWORKS.items():
        for p, q in GROUPS:
            baseline = steps_of(specs[0], p, q).volume
            for spec in specs:
                found = steps_of(spec, p, q)
                told = f"{MEASURED[network, p]}x" if spec in ("full", "ring_paper") else ""
                gain = f"{baseline / found.volume:.2f}x"
                table.add_row(network, str(p), str(q), spec, str(found.count), f"{found.volume:g}", gain, told)
        table.add_section()
    Console(width=120).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
