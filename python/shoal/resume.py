"""What an interrupted benchmark left: the cases that are complete, so that only the others are measured."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.errors import UserError


def label_of(
    mpi: str, ranks: int, seconds: float, network: str, phases: bool = False, collective: str = "alltoall"
) -> str:
    """What must be the same for results to belong to one benchmark; written into the provenance of every launch."""
    facts = (mpi, f"{ranks} ranks", f"{seconds:g} s a variant", network, "phases" if phases else "",
             collective if collective != "alltoall" else "")  # fmt: skip
    return ", ".join(fact for fact in facts if fact)


@dataclass
class Earlier:
    """The lines of an earlier run, by launch and case."""

    provenance: dict[str, str] = field(default_factory=dict)
    cases: dict[tuple[str, str, int], dict[str, str]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "Earlier":
        """Reads the file. A last line that was cut off is left out, and variants whose repetitions all started late."""
        found, label = cls(), ""
        for line in path.read_text().splitlines() if path.is_file() else []:
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                continue
            try:
                label = found.add(record, label, line)
            except (TypeError, KeyError, AttributeError) as error:
                raise UserError(f"{path} is not what shoal bench writes; give another folder with -o") from error
        if found.cases and "" in found.provenance:
            raise UserError(f"{path} does not say how it was measured; give another folder with -o")
        return found

    def add(self, record: dict[str, Any], label: str, line: str) -> str:
        """Adds a line, and returns the label of the lines that follow."""
        if "provenance" in record:
            label = record["provenance"].get("launch", "")
            self.provenance[label] = line
        elif record["seconds"]:
            case = self.cases.setdefault((label, record["distribution"], record["size"]), {})
            case[record["variant"]] = line
        return label

    def without(self, measured: Collection[tuple[str, str, int]]) -> list[str]:
        """All lines but those of cases that are measured again."""
        kept = []
        for label, head in self.provenance.items():
            cases = [lines for case, lines in self.cases.items() if case[0] == label and case not in measured]
            kept += [head, *(line for lines in cases for line in lines.values())] if cases else []
        return kept

    def complete(self, label: str, distribution: str, size: int, variants: Iterable[str]) -> list[str]:
        """The lines of this case, or none if a variant is missing."""
        lines = self.cases.get((label, distribution, size), {})
        needed = [name for name in variants if name in lines or may_be_left_out(name, distribution) is False]
        return [lines[name] for name in needed] if all(name in lines for name in needed) else []

    def keep(self, label: str, cases: Sequence[tuple[str, int]], variants: Sequence[str]) -> "Kept":
        """What to keep of these cases, which are distributions and sizes, and which of them are missing."""
        lines = {case: self.complete(label, *case, variants) for case in cases}
        done = [line for case in cases for line in lines[case]]
        head = [self.provenance[label]] if done else []
        return Kept([*head, *done], [case for case in cases if not lines[case]])


@dataclass(frozen=True)
class Kept:
    lines: list[str]
    missing: list[tuple[str, int]]

    def launches(self) -> list[tuple[list[str], list[int]]]:
        """Distributions and sizes to measure together, such that all cases of each launch are missing."""
        by_sizes: dict[tuple[int, ...], list[str]] = {}
        for distribution in dict.fromkeys(name for name, _ in self.missing):
            sizes = tuple(size for name, size in self.missing if name == distribution)
            by_sizes.setdefault(sizes, []).append(distribution)
        return [(names, list(sizes)) for sizes, names in by_sizes.items()]


def may_be_left_out(variant: str, distribution: str) -> bool:
    """Whether the driver leaves this variant out: with other blocks it leaves out variants that need equal ones."""
    return distribution != "uniform" and variant.startswith(("bruck", "preloaded"))
