"""Pictures of measurements."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")  # no display needed

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from shoal.measurements import Case, Results, readable_bytes, readable_seconds

# Readable by people who do not see all colours (Okabe and Ito), and in grey by their markers.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vPX"
NAMES = {"auto": "Shoal, choosing by itself", "native": "the MPI's own", "hand": "a hand-written loop"}
BLOCKS = {"uniform": "equal blocks", "random": "blocks of 0 to so many bytes"}

mpl.rcParams["svg.hashsalt"] = "shoal"  # the same data give the same file

Panel = tuple[str, ...]  # what a panel of a figure is about, as its title says


def save(figure: Figure, path: Path) -> None:
    """As PNG or SVG."""
    figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)


def latency_plot(results: Results, path: Path) -> None:
    save(latency(results), path)


def latency(results: Results) -> Figure:
    """Time against block size, one panel for each MPI, number of ranks and kind of blocks."""

    def draw(axis: Axes, cases: list[Case]) -> None:
        for index, variant in enumerate(variants(results)):
            draw_line(axis, results, [case for case in cases if variant in results.cases[case]], variant, index)
        size_axis(axis, cases)
        readable_log_axis(axis)

    return panels(results, lambda case: (case.mpi, f"{case.ranks} ranks"), draw, "time of one exchange")


def speedups(results: Results) -> Figure:
    """How many times faster than the MPI's own, one line for each number of ranks."""

    def draw(axis: Axes, cases: list[Case]) -> None:
        for index, ranks in enumerate(sorted({case.ranks for case in cases})):
            of_ranks = [
                case for case in cases if case.ranks == ranks and {"native", "auto"} <= set(results.cases[case])
            ]
            gains = [results.cases[case]["auto"].speedup_over(results.cases[case]["native"]) for case in of_ranks]
            axis.plot([case.size for case in of_ranks], gains, label=f"{ranks} ranks", **line_style(index))
        axis.axhline(1, color="grey", linewidth=1)
        size_axis(axis, cases)
        axis.set_ylim(bottom=0)

    return panels(results, lambda case: (case.mpi,), draw, "times faster than the MPI's own")


def winners(results: Results) -> Figure:
    """The fastest variant by number of ranks and block size, with its gain over the MPI's own."""
    order = variants(results)

    def draw(axis: Axes, cases: list[Case]) -> None:
        ranks, sizes = sorted({case.ranks for case in cases}), sorted({case.size for case in cases})
        for case in cases:
            series = results.cases[case]
            best = min(series.values(), key=lambda one: one.median)
            gain = f"\n{best.speedup_over(series['native']):.2f}x" if "native" in series else ""
            x, y = sizes.index(case.size), ranks.index(case.ranks)
            colour = COLOURS[order.index(best.variant) % len(COLOURS)]
            axis.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, color=colour, alpha=0.35))
            axis.text(x, y, best.variant.replace(":", ":\n") + gain, ha="center", va="center", fontsize=7)
        axis.set(xlim=(-0.5, len(sizes) - 0.5), ylim=(-0.5, len(ranks) - 0.5), xlabel=blocks_of(cases))
        axis.set_xticks(range(len(sizes)), [readable_bytes(size) for size in sizes])
        axis.set_yticks(range(len(ranks)), [str(number) for number in ranks])

    return panels(results, lambda case: (case.mpi,), draw, "ranks", legend=False)


def spread(results: Results) -> Figure:
    """All repetitions of each variant, at the largest number of ranks: boxes hold the middle half, whiskers 90 %."""
    most = max(case.ranks for case in results.cases)

    def draw(axis: Axes, cases: list[Case]) -> None:
        series = list(results.cases[cases[0]].values())
        axis.boxplot(
            [one.seconds for one in series], whis=(5, 95), showfliers=False, orientation="horizontal",
            tick_labels=[one.variant for one in series],
        )  # fmt: skip
        axis.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: readable_seconds(seconds)))
        axis.tick_params(axis="x", labelsize=7)

    def about(case: Case) -> Panel:
        return case.mpi, f"{case.ranks} ranks, {case.distribution} {readable_bytes(case.size)}"

    chosen = Results(cases={case: series for case, series in results.cases.items() if case.ranks == most})
    return panels(chosen, about, draw, "", legend=False)


def radices(results: Results) -> Figure | None:
    """Time against the radix, one line for each block size; nothing where fewer than three were measured."""
    pattern = re.compile(r"(\w+):radix=(\d+)$")
    measured = {name: match for name in variants(results) if (match := pattern.match(name))}
    if len(measured) < 3:
        return None

    def draw(axis: Axes, cases: list[Case]) -> None:
        for index, case in enumerate(cases):
            points = [(int(match[2]), results.cases[case][name].median)
                      for name, match in measured.items() if name in results.cases[case]]  # fmt: skip
            axis.plot(*zip(*sorted(points), strict=True), label=readable_bytes(case.size), **line_style(index))
        axis.set_xscale("log", base=2)
        axis.set_xlabel("radix")
        readable_log_axis(axis)

    return panels(results, lambda case: (case.mpi, f"{case.ranks} ranks"), draw, "time of one exchange")


def panels(
    results: Results, about: Callable[[Case], Panel], draw: Callable[[Axes, list[Case]], None], label: str,
    legend: bool = True,
) -> Figure:  # fmt: skip
    """One panel for all cases that are about the same and have the same kind of blocks."""
    groups: dict[tuple[Panel, str], list[Case]] = {}
    for case in results.cases:
        groups.setdefault((about(case), case.distribution), []).append(case)
    columns = min(3, len(groups))
    rows = -(-len(groups) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(4.6 * columns, 3.4 * rows), squeeze=False, layout="constrained")
    for axis, ((title, _), cases) in zip(axes.flat, groups.items(), strict=False):
        draw(axis, cases)
        axis.set(title=", ".join(title), ylabel=label)
        axis.grid(alpha=0.3)
    for axis in axes.flat[len(groups) :]:
        axis.remove()
    if legend:
        axes.flat[0].legend()
    return figure


def variants(results: Results) -> list[str]:
    return list(dict.fromkeys(name for case in results.cases.values() for name in case))


def blocks_of(cases: list[Case]) -> str:
    kind = cases[0].distribution
    return f"messages of {kind} ranks" if " to " in kind else BLOCKS.get(kind, f"{kind} blocks")


def size_axis(axis: Axes, cases: list[Case]) -> None:
    sizes = sorted({case.size for case in cases})
    axis.set_xscale("log", base=2)
    axis.set_xticks(sizes, [readable_bytes(size) for size in sizes])
    axis.set_xlabel(blocks_of(cases))


def readable_log_axis(axis: Axes) -> None:
    """20 us, 50 us, 100 us instead of powers of ten."""
    axis.set_yscale("log")
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda seconds, _: readable_seconds(seconds)))
    axis.yaxis.set_minor_formatter(NullFormatter())


def line_style(index: int) -> dict[str, Any]:
    return {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)], "markersize": 4}


def draw_line(axis: Axes, results: Results, cases: list[Case], variant: str, index: int) -> None:
    """Medians with their confidence intervals."""
    series = [results.cases[case][variant] for case in cases]
    medians = [s.median for s in series]
    bars = [[m - s.interval()[0] for m, s in zip(medians, series, strict=True)],
            [s.interval()[1] - m for m, s in zip(medians, series, strict=True)]]  # fmt: skip
    sizes = [case.size for case in cases]
    axis.errorbar(sizes, medians, bars, label=NAMES.get(variant, variant), capsize=2, **line_style(index))
