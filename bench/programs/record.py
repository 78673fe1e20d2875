"""What was measured, in a file of JSON lines: one line for each turn, so that an interruption loses at most one."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from programs.launch import Took
from shoal.errors import UserError


@dataclass
class Record:
    """One case at one place: the times by turn and way, the best spec found, and ways that failed, with the reasons."""

    place: str
    case: str
    ranks: int = 0
    best: str = ""
    turns: dict[int, dict[str, Took]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def add(self, line: dict[str, Any]) -> None:
        self.best = line.get("best", self.best)
        self.failed |= line.get("failed", {})
        if "turn" in line:
            took = {way: Took(**times) for way, times in line["took"].items()}
            self.turns[line["turn"]] = self.turns.get(line["turn"], {}) | took

    def times(self, way: str, what: str) -> list[float]:
        """The times of one measure (whole, own or exchanging) by turn; empty if some launch did not tell."""
        every = [getattr(took[way], what) for _, took in sorted(self.turns.items()) if way in took]
        return [] if None in every else every


class Log:
    """All records, in memory and in the file, as they grow."""

    def __init__(self, path: Path, resume: bool) -> None:
        self.path = path
        self.records: dict[tuple[str, str], Record] = {}
        self.preloads: dict[str, str] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if not resume:
            path.write_text("")
        for line in path.read_text().splitlines() if path.exists() else []:
            try:
                self._take(json.loads(line))
            except json.JSONDecodeError:
                continue  # the line was cut off

    def begin(self, provenance: dict[str, Any]) -> None:
        """Notes the provenance. Refuses to continue what another build of Shoal began."""
        for path, build in provenance["preloads"].items():
            if self.preloads.get(path, build) != build:
                raise UserError(f"{self.path} is of another {path}; leave out --resume, or give another folder with -o")
        self.write({"provenance": provenance})

    def of(self, place: str, case: str) -> Record:
        return self.records.setdefault((place, case), Record(place, case))

    def write(self, line: dict[str, Any]) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(line, default=asdict) + "\n")
        self._take(json.loads(json.dumps(line, default=asdict)))

    def _take(self, line: dict[str, Any]) -> None:
        self.preloads |= line.get("provenance", {}).get("preloads", {})
        if "case" in line:
            self.of(line["place"], line["case"]).add(line)
