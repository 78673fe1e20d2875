"""shoal try: whether Shoal is worth it for a program."""

import argparse
import json
import os
import shlex
import stat
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.commands.run import Job, algorithms, parser, read
from shoal.errors import UserError
from shoal.measurements import readable_seconds
from shoal.mpi import launch_environment

DESCRIPTION = """\
Tell whether Shoal is worth it for an MPI program: run it without and with Shoal in turn, and compare.

Example: shoal try -n 4 -- ./program argument

Before that it runs the program twice: once to compare every result with the MPI's own, and once to see how much of the
run is all-to-all. You see the program's output only if it fails. Every run reads an input file from its beginning.
The options are those of shoal run, and --pairs."""

LITTLE = 0.05  # of a run: what Shoal could save at most is hard to see
NOTICED = 1.02  # times as fast

OWN = ("SHOAL_REPORT", "SHOAL_VERIFY")  # which a trial sets


@dataclass(frozen=True)
class Run:
    """Seconds of a run, and the report of Shoal, where it had one."""

    seconds: float
    report: dict[str, Any]

    @property
    def exchanges(self) -> int:
        return int(sum(row["calls"] for row in self.report.get("calls", [])))

    @property
    def exchanging(self) -> float:
        return float(sum(row["seconds"] for row in self.report.get("calls", [])))


def try_(words: Sequence[str]) -> None:
    """Tell whether Shoal is worth it for a program: run it without and with Shoal in turn."""
    options = parser("shoal try", DESCRIPTION)
    options.add_argument(
        "--pairs", type=enough_pairs, default=3, help="pairs of runs, without and with Shoal (3 or more; default 3)"
    )
    asked, job = read(options, words)
    settings = algorithms(asked.alltoall, asked.alltoallv, asked.alltoallw, asked.allgather)
    for line in lines(job, settings, asked.pairs, " ".join(words)):
        print("shoal:", line, flush=True)


def enough_pairs(text: str) -> int:
    if not text.isdigit() or int(text) < 3:
        raise argparse.ArgumentTypeError(f"{text}: at least 3")
    return int(text)


def lines(job: Job, settings: dict[str, str], pairs: int, command: str) -> list[str]:
    """What there is to say: the share of exchanges, what was gained, and what to do."""
    trial = Trial(job, 2 + 2 * pairs)
    verified = trial.run(settings | {"SHOAL_VERIFY": "1"})
    if not verified.exchanges:
        return [
            nothing_line(verified),
            "Nothing to gain. Next: a profiler tells where its time goes; shoal run --report tells what Shoal sees.",
        ]
    native = trial.run(algorithms("native", "native", "native", "native"))
    without, with_shoal = trial.pairs(settings, pairs)
    return [
        share_line(native),
        gain_line(without, with_shoal, verified),
        verdict_line(without, with_shoal, native.exchanging / native.seconds, command),
    ]


def nothing_line(run: Run) -> str:
    if not run.report:
        return "Shoal saw no all-to-all of the program."
    left = ", ".join(f"{row['calls']} of {row['call']} ({row['reason']})" for row in run.report["left"])
    if left:
        return f"The program made no all-to-all that Shoal serves; calls of rank 0 that it leaves to the MPI: {left}."
    return "The program made no all-to-all of any kind, and no MPI_Allgather between two groups."


def share_line(native: Run) -> str:
    what = max(native.report["calls"], key=lambda row: row["seconds"])
    return (
        f"{percent(native.exchanging / native.seconds)} of the run is all-to-all: "
        f"{readable_seconds(native.exchanging)} of {readable_seconds(native.seconds)}, in {native.exchanges} calls of "
        f"rank 0, most of it {what['call']} of {what['ranks']} ranks"
    )


def percent(share: float) -> str:
    return "less than 0.1%" if share < 0.001 else f"{share:.1%}" if share < 0.01 else f"{share:.0%}"


def gain_line(without: Sequence[float], with_shoal: Sequence[float], verified: Run) -> str:
    ratios = [before / after for before, after in zip(without, with_shoal, strict=True)]
    compared = verified.report["verified"]
    proof = f"{compared} results compared with the MPI's own, all equal" if compared else "no result was Shoal's"
    return (
        f"The run takes {readable_seconds(statistics.median(without))} without Shoal and "
        f"{readable_seconds(statistics.median(with_shoal))} with it: {statistics.median(ratios):.2f} times as fast "
        f"({min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} pairs); {proof}"
    )


def verdict_line(without: Sequence[float], with_shoal: Sequence[float], share: float, command: str) -> str:
    """A difference is one where every run of one kind took longer than every run of the other."""
    if min(without) > NOTICED * max(with_shoal):
        return f"Worth it. Next: shoal run {command}; SHOAL_WISDOM=FILE keeps what a run learns for the next"
    if min(with_shoal) > NOTICED * max(without):
        return "Not worth it here: slower. Next: leave it out for this program, and please report it with these lines"
    if share < LITTLE:
        return (
            f"Not worth it here: without any all-to-all the run would be {1 / (1 - share):.2f} times as fast at most. "
            "Next: try more ranks, where exchanges take a larger share"
        )
    return (
        "No difference that can be told from noise. Next: a longer run, --pairs 9, or an algorithm by name as in "
        "--alltoallv spread_out (shoal list)"
    )


class Trial:
    """Runs of one program, counted on a terminal."""

    def __init__(self, job: Job, runs: int) -> None:
        self.job, self.runs, self.done = job, runs, 0

    def pairs(self, settings: dict[str, str], number: int) -> tuple[list[float], list[float]]:
        """Seconds without and with Shoal, in turns; which comes first changes, so that none always does."""
        seconds: tuple[list[float], list[float]] = ([], [])
        for pair in range(number):
            for served in (False, True) if pair % 2 == 0 else (True, False):
                seconds[served].append(self.run(settings if served else None).seconds)
        return seconds

    def run(self, settings: dict[str, str] | None) -> Run:
        """Under Shoal with these settings; None: without Shoal."""
        self.done += 1
        if sys.stderr.isatty():
            print(f"\r\033[Krun {self.done} of {self.runs}", end="", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as directory:
            report = Path(directory) / "report.json"
            shoal = {} if settings is None else {"LD_PRELOAD": self.job.preload, "SHOAL_REPORT": str(report)} | settings
            begin = time.perf_counter()
            ended = launch(self.job, shoal)
            seconds = time.perf_counter() - begin
            if sys.stderr.isatty():
                print("\r\033[K", end="", file=sys.stderr, flush=True)
            if ended.returncode != 0:
                sys.stderr.write(ended.stdout)
                how = "without Shoal" if settings is None else f"with {variables(settings)}"
                raise UserError(f"the program ended with status {ended.returncode} {how}".rstrip())
            return Run(seconds, json.loads(report.read_text()) if report.exists() else {})


def variables(settings: dict[str, str]) -> str:
    return "Shoal " + " ".join(f"{name}={shlex.quote(value)}" for name, value in settings.items())


def launch(job: Job, shoal: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    given = stat.S_ISREG(os.fstat(0).st_mode)
    clean = {name: value for name, value in launch_environment().items() if name not in OWN}
    with Path("/proc/self/fd/0" if given else os.devnull).open("rb") as stdin:
        return subprocess.run(
            job.command(shoal), stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", env=clean, check=False,
        )  # fmt: skip
