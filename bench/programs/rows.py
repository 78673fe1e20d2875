"""Rows of the table and of the picture: what the records of a case tell."""

from collections.abc import Iterable
from dataclasses import dataclass

from programs.paired import Comparison, compare, geometric_mean, share_of_gain
from programs.record import Record
from programs.turns import SECOND

MEASURES = ("whole", "own", "exchanging")


@dataclass(frozen=True)
class Row:
    """One case at one place, with a comparison for each measure that is known."""

    place: str
    case: str
    best: str
    defaults: dict[str, Comparison]
    fixed: dict[str, Comparison]
    second: dict[str, Comparison]
    share: float | None  # of what the best fixed choice saves in the exchanges
    second_share: float | None
    failed: dict[str, str]

    @property
    def slower(self) -> bool:
        """Whether the case is slower with Shoal by any measure."""
        return any(comparison.verdict == "slower" for comparison in self.defaults.values())


def row(record: Record) -> Row:
    return Row(
        record.place, record.case, record.best, against(record, "auto"), against(record, record.best),
        against(record, SECOND), share(record, "auto"), share(record, SECOND), record.failed,
    )  # fmt: skip


def share(record: Record, way: str) -> float | None:
    if not all(has(record, "exchanging", one) for one in (way, record.best)):
        return None
    return share_of_gain(*(record.times(one, "exchanging") for one in ("native", way, record.best)))


def against(record: Record, way: str) -> dict[str, Comparison]:
    """Compares this way with the MPI's own."""
    known = [what for what in MEASURES if has(record, what, way)]
    return {what: compare(record.times("native", what), record.times(way, what)) for what in known}


def has(record: Record, what: str, way: str) -> bool:
    """Whether the times of this way are known in as many turns as those without Shoal."""
    return 0 < len(record.times("native", what)) == len(record.times(way, what))


@dataclass(frozen=True)
class Total:
    """The geometric means of many rows by measure, and which rows were slower or failed."""

    name: str
    cases: int
    slower: list[str]
    failed: list[str]
    defaults: dict[str, float]
    fixed: dict[str, float]
    second: dict[str, float]


def totals(rows: list[Row]) -> list[Total]:
    """The totals of each place, and of all places if there are several."""
    places = list(dict.fromkeys(one.place for one in rows))
    every = [total("all", rows)] if len(places) > 1 else []
    return [total(place, [one for one in rows if one.place == place]) for place in places] + every


def total(name: str, rows: list[Row]) -> Total:
    def named(chosen: Iterable[Row]) -> list[str]:
        return [f"{one.case} ({one.place})" for one in chosen]

    return Total(
        name, len(rows), named(one for one in rows if one.slower), named(one for one in rows if one.failed),
        means(one.defaults for one in rows), means(one.fixed for one in rows), means(one.second for one in rows),
    )  # fmt: skip


def means(comparisons: Iterable[dict[str, Comparison]]) -> dict[str, float]:
    every = list(comparisons)
    ratios = {what: [found[what].ratio for found in every if what in found] for what in MEASURES}
    return {what: geometric_mean(some) for what, some in ratios.items() if some}
