"""Finds out what to choose: measures where that is least certain, until nothing changes or the time is over."""

import itertools
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import shoal
from shoal.measurements import Series

# Seconds of every repetition, by bytes of a block and by spec.
Times = dict[int, dict[str, list[float]]]
Measure = Callable[[str, list[int], list[str], float], Times]

GAIN = 1.05  # a difference smaller than this is not worth measuring for
CONTENDER = 1.3  # times the fastest: specs within this are measured between here and the next size too
FINEST = 1.5  # neighbouring sizes with a smaller ratio are close enough
MOST_ROUNDS = 3  # a size is measured at most so many times
COARSE = 8  # ratio of the sizes that are measured first
SMALLEST = 8
MOST_BYTES = 4 << 20  # of a rank's buffer


def candidates(ranks: int, layout: str, *, uniform: bool) -> list[str]:
    """What is worth measuring on ranks with this layout: the MPI's own, and what the table of algorithms says."""
    return ["native", *shoal.worth_measuring(shoal.Problem(ranks, layout=layout), uniform)]


def coarse_sizes(ranks: int) -> list[int]:
    """The sizes to measure first, the largest last."""
    largest = max(4 * SMALLEST, MOST_BYTES // ranks)
    sizes = list(itertools.takewhile(lambda size: size < largest / 2, (SMALLEST * COARSE**k for k in range(20))))
    return [*sizes, largest]


@dataclass
class Table:
    """What is known of one kind of call."""

    candidates: list[str]
    times: Times = field(default_factory=dict)
    rounds: dict[int, int] = field(default_factory=dict)

    def add(self, more: Times) -> None:
        for size, of_specs in more.items():
            self.rounds[size] = self.rounds.get(size, 0) + 1
            for spec, seconds in of_specs.items():
                self.times.setdefault(size, {}).setdefault(spec, []).extend(seconds)

    def medians(self, size: int) -> dict[str, float]:
        return {spec: statistics.median(seconds) for spec, seconds in self.times[size].items()}

    def best(self, size: int) -> str:
        medians = self.medians(size)
        return min(medians, key=medians.__getitem__)

    def contenders(self, size: int) -> set[str]:
        medians = self.medians(size)
        return {spec for spec, median in medians.items() if median <= CONTENDER * min(medians.values())}

    def rows(self) -> "Rows":
        """The rows, without specs that have no time at the smallest or the largest size: on a busy machine all their
        repetitions may have started late."""
        sizes = sorted(self.times)
        known = self.times[sizes[0]].keys() & self.times[sizes[-1]].keys() if sizes else set()
        rows = [(size, {s: t for s, t in self.medians(size).items() if s in known}) for size in sizes]
        return [(size, medians) for size, medians in rows if medians]


Rows = list[tuple[int, dict[str, float]]]


def of_same_specs(first: Rows, second: Rows) -> tuple[Rows, Rows]:
    """The rows without specs that only one of the two has. If they have no spec in common, the second are dropped."""
    common = first[0][1].keys() & second[0][1].keys() if first and second else set()

    def kept(rows: Rows) -> Rows:
        return [(size, {s: t for s, t in of_size.items() if s in common}) for size, of_size in rows]

    return (kept(first), kept(second)) if common else (first, [])


@dataclass(frozen=True)
class Doubt:
    """A size to measure, the specs to measure there, and how many times too slow the choice may be by what is known."""

    kind: str
    size: int
    specs: tuple[str, ...]
    loss: float


def doubts(kind: str, table: Table) -> Iterator[Doubt]:
    """Sizes between two whose winners differ, and sizes at which the winner cannot be told from another spec."""
    sizes = sorted(table.times)
    for low, high in itertools.pairwise(sizes):
        loss = lost_between(table, low, high)
        if high > FINEST * low and loss > GAIN:
            contenders = table.contenders(low) | table.contenders(high) | {"native"}
            yield Doubt(kind, middle(low, high), tuple(sorted(contenders)), loss)
    for size in sizes:
        loss = lost_to_noise(table, size)
        if loss > GAIN and table.rounds[size] < MOST_ROUNDS:
            yield Doubt(kind, size, tuple(sorted(table.contenders(size) | {"native"})), loss)


def middle(low: int, high: int) -> int:
    """The middle by ratio, with three significant binary digits."""
    exact = round(math.sqrt(low * high))
    step = 1 << max(0, exact.bit_length() - 3)
    return round(exact / step) * step


def lost_between(table: Table, low: int, high: int) -> float:
    """How many times slower the winner of one size is at the other, compared with the winner there."""
    a, b = table.medians(low), table.medians(high)
    best_a, best_b = table.best(low), table.best(high)
    return max(a.get(best_b, math.inf) / a[best_a], b.get(best_a, math.inf) / b[best_b])


def lost_to_noise(table: Table, size: int) -> float:
    """How many times faster than the winner another spec may be, by the medians' confidence intervals. Any number of
    times if a contender has too few repetitions for an interval."""
    series = {spec: Series(spec, "", tuple(seconds)) for spec, seconds in table.times[size].items()}
    known = {spec: interval for spec, one in series.items() if (interval := one.interval())}
    if not table.contenders(size) <= known.keys():
        return math.inf
    best = table.best(size)
    others = [low for spec, (low, _) in known.items() if spec != best]
    return known[best][1] / min(others, default=math.inf)


@dataclass
class Progress:
    """How far a tuning is; `left` is an upper limit in seconds."""

    left: float
    sizes: int
    doubts: int


def tune(
    measure: Measure,
    tables: Mapping[str, Table],
    sizes: list[int],
    budget: float,
    told: Callable[[Progress], None] = lambda _: None,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Fills the tables in about `budget` seconds: all candidates at coarse sizes, then, in rounds, what is in doubt."""
    begin = clock()
    first = sum(len(sizes) * len(table.candidates) for table in tables.values())
    seconds = min(0.4, max(0.02, budget / 4 / first))
    for kind, table in tables.items():
        told(Progress(budget - clock() + begin, 0, len(sizes)))
        table.add(measure(kind, sizes, table.candidates, seconds))
    cost = (clock() - begin) / (first * seconds)  # seconds that pass for a second of measuring
    while True:
        left = budget - (clock() - begin)
        worst = sorted((d for kind, t in tables.items() for d in doubts(kind, t)), key=lambda doubt: -doubt.loss)
        told(Progress(left, sum(len(t.times) for t in tables.values()), len(worst)))
        wanted = list(itertools.takewhile(_within(left / 2, cost * seconds), worst))
        if not wanted:
            return
        for kind, table in tables.items():
            _resolve(measure, table, [doubt for doubt in wanted if doubt.kind == kind], seconds)


def _resolve(measure: Measure, table: Table, wanted: list[Doubt], seconds: float) -> None:
    """Measures the doubts of one kind in one launch."""
    if wanted:
        specs = sorted({spec for doubt in wanted for spec in doubt.specs})
        table.add(measure(wanted[0].kind, sorted(doubt.size for doubt in wanted), specs, seconds))


def _within(limit: float, cost: float) -> Callable[[Doubt], bool]:
    """Lets doubts through until their cost reaches the limit."""
    spent = 0.0

    def fits(doubt: Doubt) -> bool:
        nonlocal spent
        spent += cost * len(doubt.specs)
        return spent <= limit

    return fits
