"""Messages and blocks of radix-r exchanges against r: Fig. 2a of the radix-r Bruck paper, from exact counts.

.venv/bin/python bench/papers/bruck.py 4096 docs/pictures/radix-counts.png
"""

import sys
from pathlib import Path

from matplotlib.figure import Figure

import shoal

MARKED = (2, 3, 4, 8, 16, 32, 64, 128, 512)


def counts(ranks: int, radix: int) -> tuple[int, int]:
    """numC and numD of the paper: messages that one rank sends, and blocks in them."""
    system = shoal.DigitSystem(ranks, radix)
    return system.steps, system.blocks


def draw(ranks: int, path: Path) -> None:
    radices = range(2, ranks)
    messages, blocks = zip(*(counts(ranks, radix) for radix in radices), strict=True)
    figure = Figure(figsize=(7, 5), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True)
    for axis, values, words, colour in ((upper, messages, "messages (numC)", "#D55E00"),
                                        (lower, blocks, "blocks (numD)", "#0072B2")):  # fmt: skip
        axis.plot(radices, values, color=colour, linewidth=1)
        axis.set(xscale="log", yscale="log", ylabel=f"{words} a rank")
        axis.axvline(shoal.square_radix(ranks), color="grey", linewidth=1, linestyle="--")
        axis.axhline(ranks - 1, color="grey", linewidth=1, linestyle=":")
        axis.grid(alpha=0.3)
    lower.set_xlabel("radix (dashed: the square root of P; dotted: the linear exchange)")
    upper.set_title(f"radix-r exchange among {ranks} ranks")
    figure.savefig(path, dpi=150)


def main() -> None:
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 4096
    print("radix  numC  numD  numD : linear")
    for radix in (*(r for r in MARKED if r < ranks - 1), ranks - 1):
        messages, blocks = counts(ranks, radix)
        print(f"{radix:5}  {messages:4}  {blocks:5}  {blocks / (ranks - 1):.2f}")
    if len(sys.argv) > 2:
        draw(ranks, Path(sys.argv[2]))


if __name__ == "__main__":
    main()
