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
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from shoal.measurements import Case, Results, Series, readable_bytes, readable_seconds

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
        draw_medians(axis, results, cases, lambda case: case.size)
        size_axis(axis, cases)
        readable_log_axis(axis)

    return panels(results, lambda case: (case.mpi, f"{case.ranks} ranks"), draw, "time of one exchange")


def scaling(results: Results) -> Figure | None:
    """Time against the number of ranks, of small, middle and large blocks; nothing where there are fewer than three."""
    sizes = sorted({case.size for case in results.cases})
    shown = {sizes[0], sizes[len(sizes) // 2], sizes[-1]}
    if len({case.ranks for case in results.cases}) < 3:
        return None

    def draw(axis: Axes, cases: list[Case]) -> None:
        draw_medians(axis, results, cases, lambda case: case.ranks)
        number_axis(axis, {case.ranks for case in cases}, f"ranks, {blocks_of(cases)}")
        readable_log_axis(axis)

    some = Results(cases={case: series for case, series in results.cases.items() if case.size in shown})
    return panels(some, lambda case: (case.mpi, readable_bytes(case.size)), draw, "time of one exchange")


def speedups(results: Results) -> Figure:
    """How many times faster than the MPI's own, one line for each number of ranks."""

    numbers = sorted({case.ranks for case in results.cases})

    def draw(axis: Axes, cases: list[Case]) -> None:
        for index, ranks in enumerate(numbers):
            of_ranks = [case for case in cases if case.ranks == ranks]
            gains = [results.cases[case]["auto"].speedup_over(results.cases[case]["native"]) for case in of_ranks]
            if gains:
                axis.plot([case.size for case in of_ranks], gains, label=f"{ranks} ranks", **line_style(index))
        axis.axhline(1, color="grey", linewidth=1)
        size_axis(axis, cases)
        readable_log_axis(axis, lambda gain: f"{gain:g}x")

    both = having(results, lambda series: {"native", "auto"} <= set(series))
    return panels(both, lambda case: (case.mpi,), draw, "times faster than the MPI's own")


def winners(results: Results) -> Figure:
    """The fastest variant by number of ranks and block size, with its gain over the MPI's own."""
    order = variants(results)

    def draw(axis: Axes, cases: list[Case]) -> None:
        ranks, sizes = sorted({case.ranks for case in cases}), sorted({case.size for case in cases})
        for case in cases:
            series = results.cases[case]
            best = min(series.values(), key=lambda one: one.median)
            gain = f"\n{times(best.speedup_over(series['native']))}" if "native" in series else ""
            x, y = sizes.index(case.size), ranks.index(case.ranks)
            colour = COLOURS[order.index(best.variant) % len(COLOURS)]
            axis.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, color=colour, alpha=0.35))
            axis.text(x, y, best.variant.replace(":", ":\n") + gain, ha="center", va="center", fontsize=7)
        axis.set(xlim=(-0.5, len(sizes) - 0.5), ylim=(-0.5, len(ranks) - 0.5), xlabel=blocks_of(cases))
        axis.set_xticks(range(len(sizes)), [readable_bytes(size) for size in sizes])
        axis.set_yticks(range(len(ranks)), [str(number) for number in ranks])

    return panels(results, lambda case: (case.mpi,), draw, "ranks", legend=False)


def spread(results: Results) -> Figure | None:
    """All repetitions of each variant, at the largest number of ranks: boxes hold the middle half, whiskers 90 %. A
    simulator's are alike."""
    results = having(results, lambda series: not any(one.modelled for one in series.values()))
    if not results.cases:
        return None
    most = max(case.ranks for case in results.cases)

    def draw(axis: Axes, cases: list[Case]) -> None:
        of_case = results.cases[cases[0]]
        series = [of_case[name] for name in reversed(variants(results)) if name in of_case]
        axis.boxplot(
            [one.seconds for one in series], whis=(5, 95), showfliers=False, orientation="horizontal",
            tick_labels=[wrapped(one.variant) for one in series],
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

    sizes = sorted({case.size for case in results.cases})

    def draw(axis: Axes, cases: list[Case]) -> None:
        for case in cases:
            points = [(int(match[2]), results.cases[case][name].median)
                      for name, match in measured.items() if name in results.cases[case]]  # fmt: skip
            label, style = readable_bytes(case.size), line_style(sizes.index(case.size))
            axis.plot(*zip(*sorted(points), strict=True), label=label, **style)
        number_axis(axis, {int(match[2]) for match in measured.values()}, f"radix, {blocks_of(cases)}")
        readable_log_axis(axis)

    some = having(results, lambda series: bool(series.keys() & measured))
    return panels(some, lambda case: (case.mpi, f"{case.ranks} ranks"), draw, "time of one exchange")


def having(results: Results, wanted: Callable[[dict[str, Series]], bool]) -> Results:
    """The cases of which there is something to draw: a variant is missing where all its repetitions started late."""
    return Results(cases={case: series for case, series in results.cases.items() if wanted(series)})


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
    size, layout = (4.6 * columns, 3.4 * rows), ConstrainedLayoutEngine(h_pad=0.12)
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout=layout)
    for axis, ((title, _), cases) in zip(axes.flat, groups.items(), strict=False):
        draw(axis, cases)
        axis.set(title=", ".join(title) if sum(map(len, title)) < 40 else ",\n".join(title), ylabel=label)
        axis.grid(alpha=0.3)
    for axis in axes.flat[len(groups) :]:
        axis.remove()
    if legend:
        legend_below(figure)
    return figure


def legend_below(figure: Figure) -> None:
    """Of all that is drawn in any panel, in as many columns as fit."""
    drawn = [axis.get_legend_handles_labels() for axis in figure.axes]
    handles = {label: handle for of_axis in drawn for handle, label in zip(*of_axis, strict=True)}
    inches = 0.7 + 0.085 * max(map(len, handles), default=1)
    columns = max(1, int(figure.get_figwidth() / inches))
    figure.set_figheight(figure.get_figheight() + 0.3 + 0.2 * -(-len(handles) // columns))
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=columns)


def variants(results: Results) -> list[str]:
    """All of them, radix 3 before radix 12."""
    return sorted(
        {name for case in results.cases.values() for name in case},
        key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)],
    )


def blocks_of(cases: list[Case]) -> str:
    kind = cases[0].distribution
    return f"messages of {kind} ranks" if " to " in kind else BLOCKS.get(kind, f"{kind} blocks")


def wrapped(variant: str) -> str:
    return variant if len(variant) < 20 else variant.replace(":", ":\n", 1).replace(",", ",\n")


def times(gain: float) -> str:
    return f"{gain:.2f}x" if gain < 10 else f"{gain:.0f}x"


def number_axis(axis: Axes, numbers: set[int], label: str) -> None:
    axis.set_xscale("log", base=2)
    axis.set_xticks(sorted(numbers), [str(number) for number in sorted(numbers)])
    axis.set_xlabel(label)


def size_axis(axis: Axes, cases: list[Case]) -> None:
    sizes = sorted({case.size for case in cases})
    axis.set_xscale("log", base=2)
    axis.set_xticks(sizes, [readable_bytes(size) for size in sizes])
    axis.set_xlabel(blocks_of(cases))


def readable_log_axis(axis: Axes, readable: Callable[[float], str] = readable_seconds) -> None:
    """20 us, 50 us, 100 us instead of powers of ten."""
    axis.set_yscale("log")
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: readable(value)))
    axis.yaxis.set_minor_formatter(NullFormatter())


def line_style(index: int) -> dict[str, Any]:
    return {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)], "markersize": 4}


def draw_medians(axis: Axes, results: Results, cases: list[Case], at: Callable[[Case], int]) -> None:
    """One line for each variant, with the medians' confidence intervals."""
    for index, variant in enumerate(variants(results)):
        measured = sorted((at(case), results.cases[case][variant]) for case in cases if variant in results.cases[case])
        if not measured:
            continue
        medians = [one.median for _, one in measured]
        bars = [[one.median - one.interval()[0] for _, one in measured],
                [one.interval()[1] - one.median for _, one in measured]]  # fmt: skip
        label, places = NAMES.get(variant, variant), [place for place, _ in measured]
        axis.errorbar(places, medians, bars, label=label, capsize=2, **line_style(index))
