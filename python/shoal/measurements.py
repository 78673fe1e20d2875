"""What `shoal_bench` measured: read, summarised and compared."""

import json
import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Verdict = Literal["faster", "slower", "no difference"]

# Two variants are said to differ if so large a difference would come by chance less often than this.
SIGNIFICANCE = 0.01

BLOCKS = {
    "uniform": "equal blocks",
    "random": "random blocks, up to the size shown",
    "strips": "strips of matrices by alltoallw",
}


@dataclass(frozen=True)
class Case:
    """One exchange that variants compete in; size in bytes, see `shoal bench --help` for distributions."""

    mpi: str  # with all that makes its results others than those of its all-to-alls on this machine
    ranks: int
    distribution: str
    size: int


@dataclass(frozen=True)
class Series:
    """All repetitions of one variant of a case, in seconds, and what it ran in the end."""

    variant: str
    ran: str
    seconds: tuple[float, ...]
    modelled: bool = False  # whether the times are a simulator's, which are the same every time
    least: float = 0.0  # the least seconds that the links of an emulated network allow; 0 if that is not known
    predicted: float = 0.0  # seconds by the cost model, beside those that were simulated; 0 if there are none
    phases: dict[str, float] = field(default_factory=dict)  # seconds of an exchange, mean of all ranks, if recorded

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def interval(self, confidence: float = 0.95) -> tuple[float, float] | None:
        """A confidence interval of the median, from order statistics: it assumes nothing of the distribution. None if
        there are so few repetitions that even all of them may lie on one side of the median."""
        ordered, n = sorted(self.seconds), len(self.seconds)
        if 2 * 0.5**n > 1 - confidence:
            return None
        from scipy.stats import binom

        low = int(binom.ppf((1 - confidence) / 2, n, 0.5))
        return ordered[max(0, low - 1)], ordered[min(n - 1, n - low)]

    def percentile(self, percent: float) -> float:
        """The time that this percentage of the repetitions does not exceed."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(percent / 100 * len(ordered)))]

    def speedup_over(self, other: "Series") -> float:
        return other.median / self.median

    def verdict_against(self, other: "Series") -> Verdict:
        """Whether this is faster or slower, by a rank test, because repetitions are far from normally distributed."""
        if self.modelled:
            return (
                "faster" if self.median < other.median else "slower" if self.median > other.median else "no difference"
            )
        from scipy.stats import mannwhitneyu  # takes a second to load, and not all who read times compare them

        if mannwhitneyu(self.seconds, other.seconds).pvalue >= SIGNIFICANCE:
            return "no difference"
        return "faster" if self.median < other.median else "slower"


@dataclass(frozen=True)
class ProgramRun:
    """A whole program that was simulated. Times are in seconds; those of exchanges are the mean of all ranks."""

    program: str
    native: str  # the MPI whose choices the MPI's own exchanges follow
    shoal: bool  # whether Shoal served
    ranks: int
    on: str
    seconds: float
    exchanging: float
    calls: int
    learning: float  # what learning cost, by the ledger
    gained: float
    told: tuple[str, ...]  # Shoal's report


@dataclass
class Results:
    """Cases in the order they were measured, with the provenance of every run."""

    provenance: list[dict[str, Any]] = field(default_factory=list)
    cases: dict[Case, dict[str, Series]] = field(default_factory=dict)
    programs: list[ProgramRun] = field(default_factory=list)

    def add_lines(self, lines: Iterable[str]) -> None:
        """Adds JSON lines of `shoal_bench`; other output of a run is skipped."""
        for line in lines:
            if not line.startswith("{"):
                continue
            record = json.loads(line)
            if "provenance" in record:
                self.provenance.append(dict(record["provenance"]))
            elif "program" in record:
                self.programs.append(ProgramRun(**record | {"told": tuple(record["told"])}))
            elif record["seconds"]:
                self._add(record)

    def _add(self, record: dict[str, Any]) -> None:
        case = Case(measured_on(self.provenance[-1]), record["ranks"], record["distribution"], record["size"])
        series = Series(
            record["variant"], record["ran"], tuple(record["seconds"]), record.get("modelled", False),
            record.get("least", 0.0), record.get("predicted", 0.0), record.get("phases", {}),
        )  # fmt: skip
        self.cases.setdefault(case, {})[series.variant] = series

    @classmethod
    def read(cls, paths: Sequence[Path]) -> "Results":
        results = cls()
        for path in paths:
            results.add_lines(path.read_text().splitlines())
        return results


def measured_on(provenance: dict[str, Any]) -> str:
    """The MPI, the emulated cluster if there is one, and the collective if it is no all-to-all."""
    facts = short_name(provenance["mpi"]), provenance.get("network"), provenance.get("collective")
    return ", ".join(fact for fact in facts if fact)


def short_name(version: str) -> str:
    """A short name such as Open MPI 5.0.11, from all that an MPI library says of its version. A modelled cluster keeps
    its name."""
    if version.startswith("modelled"):
        return version
    match = re.search(r"(MPICH|Open MPI|Intel\(R\) MPI)\D*([\d.]+)", version)
    return " ".join(match.groups()) if match else version[:24]


def blocks_of(cases: list[Case]) -> str:
    kind = cases[0].distribution
    if kind.startswith("partners:"):
        return f"blocks to {kind.removeprefix('partners:')} others"
    if kind.startswith(("grid:", "torus:")):
        return f"blocks to neighbours in {kind}"
    return f"messages of {kind} ranks" if " to " in kind else BLOCKS.get(kind, f"{kind} blocks")


def readable_seconds(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 0.9995:  # from here on it would be printed as 1000 of the next smaller unit
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def readable_bytes(size: int) -> str:
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:g} {unit}"
    return f"{size} B"
