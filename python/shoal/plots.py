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

from shoal.measurements import Case, Results, Series, blocks_of, readable_bytes, readable_seconds

# People who do not see all colours can tell these apart (Okabe and Ito); in grey the markers differ.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vPX"
HATCHES = ("..", "//", "", "xx", "\\\\", "oo")
LINES = ("-", "--", ":")
NAMES = {"auto": "Shoal, choosing by itself", "native": "the MPI's own", "hand": "a hand-written loop"}

mpl.rcParams["svg.hashsalt"] = "shoal"  # the same data give the same file

Panel = tuple[str, ...]  # what a panel of a figure is about, as its title says


def save(figure: Figure, path: Path) -> None:
    """Writes the figure as PNG or SVG, as the path ends."""
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


def programs_plot(results: Results, path: Path) -> None:
    if figure := programs(results):
        save(figure, path)


def programs(results: Results) -> Figure | None:
    """Times of whole programs without Shoal and with it, in exchanges and outside, as shares of the time without."""
    without = {(run.on, run.native, run.program): run.seconds for run in results.programs if not run.shoal}
    runs = [run for run in reversed(results.programs) if (run.on, run.native, run.program) in without]
    if not runs:
        return None
    figure, axis = plt.subplots(figsize=(9, 1 + 0.36 * len(runs)), layout="constrained")
    names = [
        f"with Shoal, {readable_seconds(run.seconds)}" if run.shoal
        else f"{wrapped(run.program)}, {run.ranks} ranks, {run.on.removeprefix('modelled ')},\nas {run.native}: "
        + readable_seconds(run.seconds)
        for run in runs
    ]  # fmt: skip
    whole = [without[run.on, run.native, run.program] for run in runs]
    inside = [run.exchanging / base for run, base in zip(runs, whole, strict=True)]
    outside = [(run.seconds - run.exchanging) / base for run, base in zip(runs, whole, strict=True)]
    places = range(len(runs))
    axis.barh(places, inside, label="in exchanges", color=COLOURS[0], hatch=HATCHES[0], edgecolor="white")
    axis.barh(places, outside, left=inside, label="outside", color=COLOURS[4], hatch=HATCHES[1], edgecolor="white")
    axis.set_yticks(places, names, fontsize=7)
    axis.axvline(1, color="grey", linewidth=0.8)
    axis.set_xlabel("simulated time, of that without Shoal")
    axis.legend(fontsize=7)
    return figure


def scaling(results: Results) -> Figure | None:
    """Time against the number of ranks, for small, middle and large blocks; None if there are fewer than three numbers
    of ranks."""
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
    """How many times faster than the MPI's own, one line for each number of ranks. A point is hollow if a rank test
    finds no difference."""

    numbers = sorted({case.ranks for case in results.cases})

    def draw(axis: Axes, cases: list[Case]) -> None:
        for index, ranks in enumerate(numbers):
            pairs = [(case.size, results.cases[case]) for case in cases if case.ranks == ranks]
            points = [(size, of["auto"].speedup_over(of["native"]), of["auto"].verdict_against(of["native"]))
                      for size, of in pairs]  # fmt: skip
            if not points:
                continue
            style = line_style(index)
            axis.plot(*zip(*((size, gain) for size, gain, _ in points), strict=True), label=f"{ranks} ranks", **style)
            if ties := [(size, gain) for size, gain, verdict in points if verdict == "no difference"]:
                hollow = style | {"linestyle": "none", "markerfacecolor": "white"}
                axis.plot(*zip(*ties, strict=True), zorder=3, **hollow)
        axis.axhline(1, color="grey", linewidth=1)
        size_axis(axis, cases)
        readable_log_axis(axis, lambda gain: f"{gain:g}x")

    both = having(results, lambda series: {"native", "auto"} <= set(series))
    return panels(both, lambda case: (case.mpi,), draw, "times faster than the MPI's own")


def winners(results: Results) -> Figure:
    """The fastest variant by number of ranks and block size, with its gain over the MPI's own. A field is pale if
    others are as fast, as far as can be told; then it names one of them."""
    order = variants(results)

    def draw(axis: Axes, cases: list[Case]) -> None:
        ranks, sizes = sorted({case.ranks for case in cases}), sorted({case.size for case in cases})
        for case in cases:
            series = results.cases[case]
            best, *ties = fastest(series)
            gain = f"\n{times(best.speedup_over(series['native']))}" if "native" in series else ""
            x, y = sizes.index(case.size), ranks.index(case.ranks)
            colour = COLOURS[order.index(best.variant) % len(COLOURS)]
            axis.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, color=colour, alpha=0.1 if ties else 0.35))
            text = best.variant.replace(":", ":\n") + gain + tied(ties)
            axis.text(x, y, text, ha="center", va="center", fontsize=6 if ties else 7)
        axis.set(xlim=(-0.5, len(sizes) - 0.5), ylim=(-0.5, len(ranks) - 0.5), xlabel=blocks_of(cases))
        axis.set_xticks(range(len(sizes)), [readable_bytes(size) for size in sizes])
        axis.set_yticks(range(len(ranks)), [str(number) for number in ranks])

    return panels(results, lambda case: (case.mpi,), draw, "ranks", legend=False)


def fastest(series: dict[str, Series]) -> list[Series]:
    """The fastest, and after it those that a rank test cannot tell from it."""
    best, *others = sorted(series.values(), key=lambda one: one.median)
    return [best, *(one for one in others if one.verdict_against(best) == "no difference")]


def tied(ties: list[Series]) -> str:
    if not ties:
        return ""
    return f"\nas {ties[0].variant}" + (f"\nand {len(ties) - 1} more" if len(ties) > 1 else "")


def spread(results: Results) -> Figure | None:
    """All repetitions of each variant, at the largest number of ranks: boxes hold the middle half, whiskers 90 %.
    Simulated cases are left out, because their repetitions are all alike."""
    results = having(at_most_ranks(results), lambda series: not any(one.modelled for one in series.values()))
    if not results.cases:
        return None

    def draw(axis: Axes, cases: list[Case]) -> None:
        of_case = results.cases[cases[0]]
        series = [of_case[name] for name in reversed(variants(results)) if name in of_case]
        axis.boxplot(
            [one.seconds for one in series], whis=(5, 95), showfliers=False, orientation="horizontal",
            tick_labels=[wrapped(one.variant) for one in series],
        )  # fmt: skip
        seconds_axis(axis)

    return panels(results, one_case, draw, "", legend=False)


def parameter(results: Results) -> Figure | None:
    """Boxes over a parameter of an algorithm, its other parameters being the same, at the largest number of ranks. The
    line joins the medians. None if no parameter has three values."""
    families = families_of(variants(results))
    results = having(
        at_most_ranks(results), lambda series: any(series.keys() & set(of.values()) for of in families.values())
    )
    if not families or not results.cases:
        return None
    values = sorted({value for of in families.values() for value in of})

    def draw(axis: Axes, cases: list[Case]) -> None:
        series = results.cases[cases[0]]
        for index, (family, of) in enumerate(families.items()):
            points = [(values.index(value), series[name]) for value, name in sorted(of.items()) if name in series]
            if points:
                draw_boxes(axis, [at + 0.12 * index for at, _ in points], [one for _, one in points], family, index)
        if "native" in series:
            axis.axhline(series["native"].median, color="grey", linestyle="--", label=NAMES["native"])
        axis.set_xticks(range(len(values)), [str(value) for value in values])
        axis.set_xlabel(", ".join(dict.fromkeys(re.findall(r"(\w+)=\*", " ".join(families)))))
        readable_log_axis(axis)

    return panels(results, one_case, draw, "time of one exchange")


def families_of(names: list[str]) -> dict[str, dict[int, str]]:
    """Variants that differ in one number: by their name with a star for the number, and then by the number."""
    found: dict[str, dict[int, str]] = {}
    for name in names:
        for match in re.finditer(r"\w+=(\d+)(?![\dx])", name):
            family = f"{name[: match.start(1)]}*{name[match.end(1) :]}"
            found.setdefault(family, {})[int(match[1])] = name
    return {family: of for family, of in found.items() if len(of) > 2}


def draw_boxes(axis: Axes, places: list[float], series: list[Series], label: str, index: int) -> None:
    """Half of the repetitions in the box, nine tenths between the whiskers."""
    style = line_style(index)
    axis.plot(places, [one.median for one in series], label=label, linewidth=1, **style)
    axis.boxplot(
        [one.seconds for one in series], positions=places, widths=0.3, whis=(5, 95), showfliers=False,
        manage_ticks=False, boxprops={"color": style["color"]}, whiskerprops={"color": style["color"]},
        capprops={"color": style["color"]}, medianprops={"color": style["color"]},
    )  # fmt: skip


def phases(results: Results) -> Figure | None:
    """Where the time of each variant went, at the largest number of ranks, as parts of one bar; None if that was not
    recorded."""
    results = having(at_most_ranks(results), lambda series: any(one.phases for one in series.values()))
    if not results.cases:
        return None

    def draw(axis: Axes, cases: list[Case]) -> None:
        recorded = [
            one for name in reversed(variants(results)) if (one := results.cases[cases[0]].get(name)) and one.phases
        ]
        names, left = [wrapped(one.variant) for one in recorded], [0.0] * len(recorded)
        for index, phase in enumerate(recorded[0].phases):
            widths = [one.phases[phase] for one in recorded]
            axis.barh(
                names, widths, left=left, label=phase, color=COLOURS[index], hatch=HATCHES[index], edgecolor="white"
            )
            left = [start + width for start, width in zip(left, widths, strict=True)]
        axis.set_xlim(0, 1.05 * max(left))
        axis.set_axisbelow(True)
        seconds_axis(axis)

    return panels(results, one_case, draw, "")


def percentiles(results: Results) -> Figure | None:
    """For each percentage the time that this share of the repetitions does not exceed, at the largest number of
    ranks."""
    results = having(at_most_ranks(results), lambda series: not any(one.modelled for one in series.values()))
    if not results.cases:
        return None

    def draw(axis: Axes, cases: list[Case]) -> None:
        for index, name in enumerate(variants(results)):
            if (one := results.cases[cases[0]].get(name)) is not None:
                times = [one.percentile(percent) for percent in range(100)]
                axis.plot(range(100), times, label=NAMES.get(name, name), **line_style(index) | {"markevery": 10})
        axis.set_xlabel("percent of the repetitions")
        readable_log_axis(axis)

    return panels(results, one_case, draw, "took at most")


def at_most_ranks(results: Results) -> Results:
    """The cases with the largest number of ranks."""
    most = max((case.ranks for case in results.cases), default=0)
    return Results(cases={case: series for case, series in results.cases.items() if case.ranks == most})


def one_case(case: Case) -> Panel:
    """A panel for every case."""
    return case.mpi, f"{case.ranks} ranks, {case.distribution} {readable_bytes(case.size)}"


def having(results: Results, wanted: Callable[[dict[str, Series]], bool]) -> Results:
    """The cases that have what is wanted. A variant is missing from a case if all its repetitions started late."""
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
    """A legend of all that is drawn in any panel, in as many columns as fit."""
    drawn = [axis.get_legend_handles_labels() for axis in figure.axes]
    handles = {label: handle for of_axis in drawn for handle, label in zip(*of_axis, strict=True)}
    inches = 0.7 + 0.085 * max(map(len, handles), default=1)
    columns = max(1, int(figure.get_figwidth() / inches))
    figure.set_figheight(figure.get_figheight() + 0.3 + 0.2 * -(-len(handles) // columns))
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=columns)


def variants(results: Results) -> list[str]:
    """All variants in natural order: radix 3 before radix 12."""
    return sorted(
        {name for case in results.cases.values() for name in case},
        key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)],
    )


def wrapped(variant: str) -> str:
    return variant if len(variant) < 20 else variant.replace(":", ":\n", 1).replace(",", ",\n")


def times(gain: float) -> str:
    return f"{gain:.2f}x" if gain < 10 else f"{gain:.0f}x"


def number_axis(axis: Axes, numbers: set[int], label: str) -> None:
    axis.set_xscale("log", base=2)
    axis.set_xticks(sorted(numbers), [str(number) for number in sorted(numbers)])
    axis.set_xlabel(label)


def seconds_axis(axis: Axes) -> None:
    """Makes the horizontal axis show times."""
    axis.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: readable_seconds(seconds)))
    axis.tick_params(axis="x", labelsize=7)


def size_axis(axis: Axes, cases: list[Case]) -> None:
    sizes = sorted({case.size for case in cases})
    axis.set_xscale("log", base=2)
    axis.set_xticks(sizes, [readable_bytes(size) for size in sizes])
    axis.set_xlabel(blocks_of(cases))


def readable_log_axis(axis: Axes, readable: Callable[[float], str] = readable_seconds) -> None:
    """Makes the vertical axis logarithmic, with 20 us, 50 us, 100 us instead of powers of ten."""
    axis.set_yscale("log")
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: readable(value)))
    axis.yaxis.set_minor_formatter(NullFormatter())


def line_style(index: int) -> dict[str, Any]:
    again, which = divmod(index, len(COLOURS))
    return {
        "color": COLOURS[which], "marker": MARKERS[which], "markersize": 4, "linestyle": LINES[again % len(LINES)],
    }  # fmt: skip


def draw_medians(axis: Axes, results: Results, cases: list[Case], at: Callable[[Case], int]) -> None:
    """One line for each variant, with the medians' confidence intervals."""
    for index, variant in enumerate(variants(results)):
        measured = sorted((at(case), results.cases[case][variant]) for case in cases if variant in results.cases[case])
        if not measured:
            continue
        medians = [one.median for _, one in measured]
        intervals = [one.interval() or (one.median, one.median) for _, one in measured]
        bars = [[median - low for median, (low, _) in zip(medians, intervals, strict=True)],
                [high - median for median, (_, high) in zip(medians, intervals, strict=True)]]  # fmt: skip
        label, places = NAMES.get(variant, variant), [place for place, _ in measured]
        axis.errorbar(places, medians, bars, label=label, capsize=2, **line_style(index))
