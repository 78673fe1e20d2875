"""Evaluates pairs of times, of launches without and with Shoal that took turns."""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scipy.stats import quantile_test, wilcoxon

from shoal.measurements import SIGNIFICANCE, Verdict

# Nobody notices a loss up to this share of the time or this number of seconds, whichever is more.
NOTICED_SHARE, NOTICED_SECONDS = 0.02, 5e-3

ENOUGH = 6  # with fewer pairs, a 95 % interval would contain all values


@dataclass(frozen=True)
class Comparison:
    """How many times faster the second of a pair is: the median of all pairs, with its 95 % interval."""

    before: float  # median seconds
    ratio: float
    low: float
    high: float
    p: float
    verdict: Verdict


def compare(before: Sequence[float], after: Sequence[float]) -> Comparison:
    ratios = [b / a for b, a in zip(before, after, strict=True)]
    return Comparison(
        statistics.median(before), statistics.median(ratios), *median_interval(ratios), rank_test(before, after),
        verdict(before, after),
    )  # fmt: skip


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the median, or all values if there are too few. Assumes nothing about their distribution."""
    if len(values) < ENOUGH:
        return min(values), max(values)
    low, high = quantile_test(values, p=0.5).confidence_interval(0.95)
    return float(low), float(high)


def rank_test(before: Sequence[float], after: Sequence[float]) -> float:
    """How likely so clear a difference is by chance: Wilcoxon's signed-rank test of the pairs' ratios."""
    logarithms = [math.log(b / a) for b, a in zip(before, after, strict=True)]
    return float(wilcoxon(logarithms).pvalue) if any(logarithms) else 1.0


def verdict(before: Sequence[float], after: Sequence[float]) -> Verdict:
    """The verdict is slower only if somebody would notice the loss."""
    if rank_test(before, after) >= SIGNIFICANCE:
        return "no difference"
    lost = -saved(before, after)
    if lost < 0:
        return "faster"
    noticed = max(NOTICED_SHARE * statistics.median(before), NOTICED_SECONDS)
    return "slower" if lost > noticed else "no difference"


def saved(before: Sequence[float], after: Sequence[float]) -> float:
    """The seconds that were saved: the median of all pairs."""
    return statistics.median(b - a for b, a in zip(before, after, strict=True))


def share_of_gain(before: Sequence[float], after: Sequence[float], best: Sequence[float]) -> float | None:
    """Which share of the seconds that `best` saves `after` saves; None if `best` saves nothing for sure."""
    if verdict(before, best) != "faster":
        return None
    return saved(before, after) / saved(before, best)


def geometric_mean(ratios: Iterable[float]) -> float:
    return statistics.geometric_mean(ratios)
