"""Tables of what was measured."""

from rich.table import Table

from programs.paired import Comparison
from programs.rows import MEASURES, Row, Total
from shoal.measurements import readable_seconds

COLOURS = {"faster": "green", "slower": "red", "no difference": "dim"}


def cases_table(place: str, rows: list[Row]) -> Table:
    """How many times faster whole programs and exchanges are with Shoal and with the best fixed choice, and which share
    of what that choice saves Shoal saves."""
    table = Table("case", title=f"{place}: seconds without Shoal, and how many times faster with it (95 %)")
    for what in ("whole", "exchanging"):
        for head in (what, "with Shoal", "p"):
            table.add_column(head)
    with_second = any(one.second for one in rows)
    for head in ("best fixed", "its", "reached", *(("second run", "reached") if with_second else ())):
        table.add_column(head)
    for one in rows:
        last = [times(one.second.get("exchanging")), percent(one.second_share)] if with_second else []
        table.add_row(
            one.case, *compared(one.defaults.get("whole")), *compared(one.defaults.get("exchanging")), one.best,
            times(one.fixed.get("exchanging")), percent(one.share), *last,
        )  # fmt: skip
    return table


def totals_table(totals: list[Total]) -> Table:
    """The geometric means of each place and of all."""
    table = Table("geometric means", "cases", "slower", "failed", *MEASURES, title="How many times faster")
    for one in totals:
        for name, means in ((one.name, one.defaults), ("  best fixed", one.fixed), ("  second run", one.second)):
            if means:
                counts = [str(one.cases), str(len(one.slower)), str(len(one.failed))] if name == one.name else [""] * 3
                table.add_row(name, *counts, *(f"{means[what]:.2f}x" if what in means else "" for what in MEASURES))
    return table


def compared(found: Comparison | None) -> list[str]:
    if not found:
        return [""] * 3
    colour, said = COLOURS[found.verdict], "" if found.verdict == "no difference" else f" {found.verdict}"
    ratio = f"{found.ratio:.2f}x ({found.low:.2f}-{found.high:.2f})"
    return [readable_seconds(found.before), ratio, f"[{colour}]{found.p:.3f}{said}[/{colour}]"]


def times(found: Comparison | None) -> str:
    return f"{found.ratio:.2f}x" if found else ""


def percent(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"
