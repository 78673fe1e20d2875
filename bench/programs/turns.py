"""Launches a case in turns: without Shoal, with Shoal, and with the spec that is best for the case."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from programs.cases import Case
from programs.launch import LaunchError, Place, Took, launch
from programs.record import Log, Record

LONG = 5.0  # if a launch takes more seconds, each candidate is tried only once
SECOND = "second run"  # which begins with what the first run learnt


@dataclass(frozen=True)
class Plan:
    pairs: int
    tries: int  # for each candidate
    wisdom: bool


def measure(place: Place, case: Case, plan: Plan, log: Log) -> Record:
    """Measures what the log lacks of the case, and writes after every turn. A failure ends the case, except a
    candidate's."""
    record, key = log.of(place.label, case.name), {"place": place.label, "case": case.name}
    if not record.best:
        best, tried, failed = find_best(place, case, plan.tries)
        log.write(key | {"best": best, "tried": tried, "failed": failed})
    for turn in range(plan.pairs):
        missing = [way for way in ways(record.best, plan) if way not in record.turns.get(turn, {})]
        try:
            if missing and not record.failed.keys() & set(ways(record.best, plan)):
                log.write(key | {"turn": turn, "took": take_turns(place, case, missing, turn)})
        except LaunchError as error:
            log.write(key | {"failed": dict([error.args])})
    return record


def ways(best: str, plan: Plan) -> list[str]:
    return list(dict.fromkeys(["native", "auto", best, *([SECOND] if plan.wisdom else [])]))


def take_turns(place: Place, case: Case, every: Sequence[str], turn: int) -> dict[str, Took]:
    """Launches every way once. The order is reversed in every other turn, so that no way always comes first."""
    order = every if turn % 2 == 0 else every[::-1]
    return {way: run(place, case, way) for way in order}


def run(place: Place, case: Case, way: str) -> Took:
    try:
        return run_twice(place, case) if way == SECOND else launch(place, case, way)
    except LaunchError as error:
        raise LaunchError(way, str(error)) from error


def run_twice(place: Place, case: Case) -> Took:
    with tempfile.TemporaryDirectory() as directory:
        wisdom = Path(directory) / "wisdom"
        launch(place, case, "auto", wisdom)
        return launch(place, case, "auto", wisdom)


def find_best(place: Place, case: Case, tries: int) -> tuple[str, dict[str, float], dict[str, str]]:
    """The spec whose exchanges took least (or whose program, if exchanges are not timed), all times, and failures."""
    tried: dict[str, float] = {}
    failed: dict[str, str] = {}
    longest = 0.0
    for _ in range(tries):
        for spec in (*case.candidates, *(case.between_nodes if place.emulated else ())):
            try:
                took = run(place, case, spec)
                seconds = took.whole if took.exchanging is None else took.exchanging
                tried[spec] = min(seconds, tried.get(spec, seconds))
                longest = max(longest, took.whole)
            except LaunchError as error:
                failed |= dict([error.args])
        if longest > LONG:
            break
    return min(tried, key=lambda spec: tried[spec], default="native"), tried, failed
