"""Pictures of measurements."""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")  # no display needed

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from shoal.measurements import Case, Results, readable_bytes, readable_seconds

# Readable by people who do not see all colours (Okabe and Ito), and in grey by their markers.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vPX"
NAMES = {"auto": "Shoal, choosing by itself", "native": "the MPI's own", "hand": "a hand-written loop"}
BLOCKS = {"uniform": "equal blocks", "random": "blocks of 0 to so many bytes"}


def latency_plot(results: Results, path: Path) -> None:
    """Time against block size, one panel for each MPI, number of ranks and distribution; written as PNG or SVG."""
    panels: dict[tuple[str, int, str], list[Case]] = {}
    for case in results.cases:
        panels.setdefault((case.mpi, case.ranks, case.distribution), []).append(case)
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(4.6 * columns, 3.4 * rows), squeeze=False, layout="constrained")
    variants = list(dict.fromkeys(name for case in results.cases.values() for name in case))
    for axis, ((mpi, ranks, distribution), cases) in zip(axes.flat, panels.items(), strict=False):
        for index, variant in enumerate(variants):
            draw_line(axis, results, [case for case in cases if variant in results.cases[case]], variant, index)
        axis.set(title=f"{mpi}, {ranks} ranks", xlabel=BLOCKS.get(distribution, f"{distribution} blocks"))
        axis.set_ylabel("time of one exchange")
        readable_log_axis(axis)
    for axis in axes.flat[len(panels) :]:
        axis.remove()
    axes.flat[0].legend()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def readable_log_axis(axis: Axes) -> None:
    """20 us, 50 us, 100 us instead of powers of ten."""
    axis.set_yscale("log")
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda seconds, _: readable_seconds(seconds)))
    axis.yaxis.set_minor_formatter(NullFormatter())


def draw_line(axis: Axes, results: Results, cases: list[Case], variant: str, index: int) -> None:
    """Medians with their confidence intervals."""
    series = [results.cases[case][variant] for case in cases]
    medians = [s.median for s in series]
    bars = [[m - s.interval()[0] for m, s in zip(medians, series, strict=True)],
            [s.interval()[1] - m for m, s in zip(medians, series, strict=True)]]  # fmt: skip
    sizes = [case.size for case in cases]
    colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
    axis.errorbar(
        sizes, medians, bars, label=NAMES.get(variant, variant), color=colour, marker=marker, markersize=4, capsize=2
    )
    axis.set_xscale("log", base=2)
    axis.set_xticks(sizes, [readable_bytes(size) for size in sizes])
    axis.grid(alpha=0.3)
