"""The page of `shoal report`: what was measured, in pictures, tables and plain words."""

import base64
import html
import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from matplotlib.figure import Figure

from shoal import plots
from shoal.measurements import Case, Results, Series, readable_bytes, readable_seconds

PAGE = Template("""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Shoal: what was measured</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h2 { margin-top: 2.5rem; } img { max-width: 100%; height: auto; }
table { border-collapse: collapse; font-size: 0.85rem; } td, th { padding: 0.15rem 0.6rem; text-align: right; }
td:not(:first-child) { white-space: nowrap; }
td:nth-child(-n+4), th:nth-child(-n+4) { text-align: left; } tr { border-bottom: 1px solid #ddd; }
.faster { color: #00694c; } .slower { color: #b33c00; } dl { display: grid; grid-template-columns: 10rem 1fr; }
@media print {
  body { margin: 0; font-size: 11px; } h2, p, img, tr { break-inside: avoid; } h2, p { break-after: avoid; }
}
</style>
<h1>Shoal: what was measured</h1>
$summary
$sections
<section><h2>Every case</h2>
<p>Times are of one exchange. The interval holds the median with 95 % confidence; fewer than six
repetitions have none. Two variants are said to differ only if a rank test finds it (p &lt; 0.01). On an emulated
cluster the last column also has the share of the links' speed that was reached.</p>
<table><tr><th>MPI</th><th>ranks</th><th>blocks</th><th>variant</th><th>median</th><th>interval</th><th>5 %</th>
<th>95 %</th><th>runs</th><th>against the MPI's own</th></tr>
$rows
</table></section>
<section><h2>Where it was measured</h2>$provenance</section>
</html>
""")


PROGRAMS = """Simulated time from MPI_Init to the last rank's MPI_Finalize, without Shoal and with it, learning
included."""
LATENCY = """Medians with their confidence intervals. Lower is better; both axes are logarithmic, so equal distances
are equal ratios."""
SCALING = "The same times against the number of ranks, for the smallest, a middle and the largest blocks."
WINNERS = """Each field names the fastest variant for a number of ranks and a block size, and how many times faster than
the MPI's own it is."""
SPEEDUP = """Shoal left to choose by itself. Above the grey line it is faster than the MPI's own; at a hollow point a
rank test finds no difference."""
PARAMETER = """Variants that differ in one number, at the largest number of ranks: lines join the medians, boxes hold
the middle half of the repetitions, whiskers nine tenths. Small radices send few messages and move blocks often, large
ones the other way round; block_count is how many messages are under way together."""
PHASES = """Where the time of Shoal's exchanges went on a rank, the mean of all; an exchange takes longer, because it
lasts from the first rank's start to the last one's end. A wait counts for what ends it.
Prepare: until the first operation; metadata: messages of sizes alone; data: messages of blocks; replace: blocks put
together for messages; rearrange: blocks put where the program wants them; inter-node: all messages between nodes."""
PERCENTILES = """For each percentage, the time that this share of the repetitions did not exceed. A flat line is an
exchange that always takes the same time, a rise at the right end one that is sometimes late."""
SPREAD = "Every repetition at the largest number of ranks: boxes hold the middle half, whiskers nine tenths."


@dataclass(frozen=True)
class Chapter:
    name: str  # of its files
    title: str
    words: str
    figure: Figure


def write_report(results: Results, folder: Path) -> Path:
    """Writes index.html, which needs no other file, and each figure as PNG and SVG; returns the page."""
    folder.mkdir(parents=True, exist_ok=True)
    sections = []
    for chapter in chapters(results):
        chapter.figure.savefig(folder / f"{chapter.name}.png", dpi=150)
        chapter.figure.set_layout_engine("none")  # it is laid out now
        plots.save(chapter.figure, folder / f"{chapter.name}.svg")
        sections.append(section(chapter, (folder / f"{chapter.name}.svg").read_bytes()))
    pairs = [(case, one, all_of.get("native")) for case, all_of in results.cases.items() for one in all_of.values()]
    page = folder / "index.html"
    page.write_text(
        PAGE.substitute(
            summary="".join(f"<p>{html.escape(line)}</p>" for line in summary(results)),
            sections="\n".join(sections),
            rows="\n".join(row(*pair) for pair in pairs),
            provenance="\n".join(facts(run) for run in results.provenance),
        )
    )
    return page


def chapters(results: Results) -> list[Chapter]:
    whole = plots.programs(results)
    found = [Chapter("programs", "Whole programs", PROGRAMS, whole)] if whole else []
    return found + (exchanges(results) if results.cases else [])


def exchanges(results: Results) -> list[Chapter]:
    compared = any({"auto", "native"} <= set(series) for series in results.cases.values())
    drawn = (
        ("latency", "Time against block size", LATENCY, plots.latency(results)),
        ("winners", "What is fastest where", WINNERS, plots.winners(results)),
        ("scaling", "Time against the number of ranks", SCALING, plots.scaling(results)),
        ("speedup", "Gain over the MPI's own", SPEEDUP, plots.speedups(results) if compared else None),
        ("parameter", "Time over a parameter", PARAMETER, plots.parameter(results)),
        ("phases", "Where the time went", PHASES, plots.phases(results)),
        ("spread", "How much repetitions differ", SPREAD, plots.spread(results)),
        ("percentiles", "Percentiles", PERCENTILES, plots.percentiles(results)),
    )
    return [Chapter(name, title, words, figure) for name, title, words, figure in drawn if figure is not None]


def section(chapter: Chapter, svg: bytes) -> str:
    """The drawing as an image of its own, so that its styles and names touch nothing else on the page."""
    source = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
    image = f'<img src="{source}" alt="{chapter.title}">'
    return f"<section><h2>{chapter.title}</h2><p>{chapter.words}</p>{image}</section>"


def summary(results: Results) -> list[str]:
    lines = [f"Times are {run['assumed']}." for run in results.provenance if "assumed" in run]
    for mpi in dict.fromkeys(case.mpi for case in results.cases):
        pairs = [(series["auto"], series["native"]) for case, series in results.cases.items()
                 if case.mpi == mpi and {"auto", "native"} <= set(series)]  # fmt: skip
        if not pairs:
            continue
        verdicts = Counter(auto.verdict_against(native) for auto, native in pairs)
        gain = math.exp(sum(math.log(auto.speedup_over(native)) for auto, native in pairs) / len(pairs))
        lines.append(
            f"{mpi}: left to choose, Shoal was faster than the MPI's own in {verdicts['faster']} of {len(pairs)} "
            f"cases, slower in {verdicts['slower']}, and made no difference in {verdicts['no difference']}; "
            f"{gain:.2f} times as fast in the geometric mean."
        )
    return lines


def row(case: Case, series: Series, native: Series | None) -> str:
    verdict, compared = "", ""
    if native is not None and native is not series:
        verdict = series.verdict_against(native)
        compared = f"{series.speedup_over(native):.2f}x {verdict}"
    if series.least:
        compared += f" {series.least / series.median:.0%} of the links"
    cells = [case.mpi, str(case.ranks), f"{case.distribution} {readable_bytes(case.size)}", series.variant,
             readable_seconds(series.median), *("" for _ in range(4))]  # fmt: skip
    if not series.modelled:
        interval = " to ".join(map(readable_seconds, series.interval() or ()))
        outer = (readable_seconds(series.percentile(percent)) for percent in (5, 95))
        cells[5:] = [interval, *outer, str(len(series.seconds))]
    text = "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
    return f'<tr>{text}<td class="{verdict}">{compared}</td></tr>'


def facts(run: dict[str, Any]) -> str:
    terms = "".join(
        f"<dt>{html.escape(k.replace('_', ' '))}</dt><dd>{html.escape(str(v))}</dd>" for k, v in run.items()
    )
    return f"<dl>{terms}</dl>"
