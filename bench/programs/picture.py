"""A picture of what was measured, with a line for each case."""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from programs.rows import Row
from shoal.plots import COLOURS, save

TITLES = {"whole": "whole program", "exchanging": "inside the exchanges"}
NAMES = {"defaults": "Shoal at its defaults", "fixed": "best fixed choice", "second": "second run"}
LINE = 0.17  # inches for each case


def draw(rows: list[Row], path: Path) -> None:
    """Draws a panel for each place and measure. Points to the right of 1 are faster."""
    places = list(dict.fromkeys(one.place for one in rows))
    heights = [1 + sum(one.place == place for one in rows) for place in places]
    figure, axes = plt.subplots(
        len(places), len(TITLES), figsize=(11, 1.2 * len(places) + LINE * sum(heights)), height_ratios=heights,
        squeeze=False, sharex="col", sharey="row", layout="constrained",
    )  # fmt: skip
    for line, place in zip(axes, places, strict=True):
        for axis, what in zip(line, TITLES, strict=True):
            panel(axis, [one for one in rows if one.place == place], what)
            axis.set_title(f"{place}: {TITLES[what]}", fontsize=9)
    handles, labels = axes[0][1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(NAMES))
    save(figure, path)


def panel(axis: Axes, rows: list[Row], what: str) -> None:
    for index, (kind, name) in enumerate(NAMES.items()):
        found = [(place, getattr(one, kind)[what]) for place, one in enumerate(rows) if what in getattr(one, kind)]
        if not found:
            continue
        ratios = [comparison.ratio for _, comparison in found]
        bars = [[one.ratio - one.low for _, one in found], [one.high - one.ratio for _, one in found]]
        style: dict[str, Any] = {"fmt": "osD"[index], "ms": 4, "color": COLOURS[index], "label": name}
        style |= {"capsize": 2, "xerr": bars} if kind == "defaults" else {"mfc": "none"}
        axis.errorbar(ratios, [place for place, _ in found], **style)
    axis.axvline(1, color="grey", linewidth=1)
    axis.set_yticks(range(len(rows)), [one.case for one in rows], fontsize=6)
    axis.set_ylim(len(rows) - 0.5, -0.5)
    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda ratio, _: f"{ratio:g}x"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.tick_params(axis="x", labelsize=7)
    axis.grid(axis="x", alpha=0.3)
