"""shoal try: whether Shoal is worth it for a program."""

import argparse
import json
import os
import select
import shlex
import shutil
import stat
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.children import child
from shoal.commands.run import Job, algorithm_settings, algorithms, parser, read
from shoal.errors import UserError
from shoal.measurements import readable_seconds
from shoal.mpi import knows_hosts, launch_environment

DESCRIPTION = """\
Tell whether Shoal is worth it for an MPI program: run it without and with Shoal in turn, and compare.

Example: shoal try -n 4 -- ./program argument

It takes three pairs of runs, and two runs before them: one compares results with the MPI's own, and one sees how much
of the run is all-to-all. You see the program's output only if it fails. Every run reads standard input from its
beginning. Besides --pairs it takes the options of shoal run, except
--report."""

LITTLE = 0.05  # the share of a run below which it is hard to see even the most that Shoal could save
NOTICED = 1.02  # times as fast: a smaller difference does not count
# From so many pairs on, runs differ if a rank test finds their difference no more probable by chance than this. Three
# pairs can reach 0.1 and no less.
PROBABLE = {3: 0.1, 5: 0.05, 9: 0.01}

OWN = ("SHOAL_REPORT", "SHOAL_VERIFY")  # variables that a trial sets itself


@dataclass(frozen=True)
class Run:
    """The seconds of a run, and a report of Shoal's; empty if the run had none."""

    seconds: float
    report: dict[str, Any]

    @property
    def rank(self) -> int:
        """Whose report it is."""
        return int(self.report.get("rank", 0))

    @property
    def exchanges(self) -> int:
        return int(sum(row["calls"] for row in self.report.get("calls", [])))

    @property
    def exchanging(self) -> float:
        return seconds_in(self.report, "calls")

    @property
    def left(self) -> str:
        """Calls of this rank that Shoal leaves to the MPI."""
        rows = self.report.get("left", [])
        return ", ".join(
            f"{row['calls']} of {row['call']} ({row['reason']}), {readable_seconds(row['seconds'])}" for row in rows
        )


def seconds_in(report: dict[str, Any], kind: str) -> float:
    return float(sum(row["seconds"] for row in report.get(kind, [])))


def report_of(first: Path) -> dict[str, Any]:
    """Of the rank that spends most time in exchanges: rank 0, or the first rank of a communicator without rank 0."""
    paths = [first, *sorted(first.parent.glob(f"{first.stem}.rank*.json"))]
    reports = [json.loads(path.read_text()) for path in paths]
    return max(reports, key=lambda report: (seconds_in(report, "calls"), seconds_in(report, "left")))


def try_(words: Sequence[str]) -> None:
    """Tell whether Shoal is worth it for a program: run it without and with Shoal in turn."""
    options = parser("shoal try", DESCRIPTION)
    options.add_argument(
        "--pairs", type=enough_pairs, default=3, help="pairs of runs, without and with Shoal (3 or more; default 3)"
    )
    asked, job = read(options, words)
    settings = algorithms(vars(asked))
    with standard_input() as given:
        for line in lines(Trial(job, 2 + 2 * asked.pairs, given), settings, asked.pairs, next_words(words, job)):
            print("shoal:", line, flush=True)


def next_words(words: Sequence[str], job: Job) -> str:
    """The words for shoal run: the same without --pairs, which is Shoal's option only in front of the program."""
    begin = len(words) - len(job.program)
    kept: list[str] = []
    for word in words[:begin]:
        if kept[-1:] == ["--pairs"]:
            kept.pop()
        elif not word.startswith("--pairs="):
            kept.append(word)
    return shlex.join([*kept, *words[begin:]])


def enough_pairs(text: str) -> int:
    if not text.isdigit() or int(text) < 3:
        raise argparse.ArgumentTypeError(f"{text}: at least 3")
    return int(text)


def lines(trial: "Trial", settings: dict[str, str], pairs: int, command: str) -> list[str]:
    """What there is to say: the share of exchanges, what was gained, and what to do."""
    verified = trial.run(settings | {"SHOAL_VERIFY": "1"})
    by_the_mpi = {one.variable: "native" for one in algorithm_settings()}
    native = trial.run(by_the_mpi) if verified.exchanges else verified
    if not native.exchanges:
        return [
            nothing_line(native),
            "Next: profile the program. (If fewer than half of its ranks exchange, without rank 0, time it with and "
            "without shoal run.)",
        ]
    without, with_shoal = trial.pairs(settings, pairs)
    return [
        share_line(native),
        gain_line(without, with_shoal, verified),
        verdict_line(without, with_shoal, native.exchanging / native.seconds, command),
    ]


def nothing_line(run: Run) -> str:
    if run.left:
        return f"Rank {run.rank} made no all-to-all that Shoal serves; Shoal leaves these calls to the MPI: {run.left}"
    return "Rank 0 made no all-to-all of any kind, and no MPI_Allgather between two groups"


def share_line(native: Run) -> str:
    what = max(native.report["calls"], key=lambda row: row["seconds"])
    left = f"; Shoal leaves these calls to the MPI: {native.left}" if native.left else ""
    return (
        f"{percent(native.exchanging / native.seconds)} of the run is all-to-all that Shoal serves: "
        f"{readable_seconds(native.exchanging)} of {readable_seconds(native.seconds)}, in {native.exchanges} calls of "
        f"rank {native.rank}, most of it {what['call']} of {what['ranks']} ranks{left}"
    )


def percent(share: float) -> str:
    return "less than 0.1%" if share < 0.001 else f"{share:.1%}" if share < 0.01 else f"{share:.0%}"


def gain_line(without: Sequence[float], with_shoal: Sequence[float], verified: Run) -> str:
    compared = verified.report["verified"]
    proof = f"{compared} results compared with the MPI's own, all equal" if compared else "no result was Shoal's"
    return (
        f"The run takes {spread(without)} without Shoal and {spread(with_shoal)} with it: "
        f"{gain_of(without, with_shoal):.2f} times as fast (medians of {len(without)} runs each); {proof}"
    )


def spread(seconds: Sequence[float]) -> str:
    shortest, longest = readable_seconds(min(seconds)), readable_seconds(max(seconds))
    return f"{readable_seconds(statistics.median(seconds))} ({shortest} to {longest})"


def gain_of(without: Sequence[float], with_shoal: Sequence[float]) -> float:
    return statistics.median(without) / statistics.median(with_shoal)


def verdict_line(without: Sequence[float], with_shoal: Sequence[float], share: float, command: str) -> str:
    gain, most = gain_of(without, with_shoal), 1 / max(1e-9, 1 - share)
    if not 1 / NOTICED < gain < NOTICED and differ(without, with_shoal):
        if gain > NOTICED * most:
            return f"Noise: all-to-all allows {most:.2f} times as fast at most. Next: a longer run, or --pairs 9"
        if gain > 1:
            return f"Worth it. SHOAL_WISDOM=FILE keeps what a run learns for later runs. Next: shoal run {command}"
        if share < LITTLE:
            return (
                "Not worth it here: slower. The share of all-to-all is small, so the cause is Shoal's start-up or "
                "noise. Next: leave Shoal out for this program"
            )
        return "Not worth it here: slower. Next: leave it out for this program, and please report it with these lines"
    if share < LITTLE:
        return (
            f"Not worth it here: without any all-to-all the run would be {most:.2f} times as fast at most. "
            "Next: try more ranks, where exchanges take a larger share"
        )
    return (
        f"No difference that can be told from noise; {len(without)} pairs show only large differences. Next: a longer "
        "run, --pairs 9, or an algorithm by name as in --alltoallv spread_out (shoal list)"
    )


def differ(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether they differ by a rank test, since times of runs are far from normally distributed."""
    from scipy.stats import mannwhitneyu  # takes a second to load

    probable = max((pairs, limit) for pairs, limit in PROBABLE.items() if pairs <= len(one))[1]
    return bool(mannwhitneyu(one, other, method="exact").pvalue <= probable + 1e-9)


@contextmanager
def standard_input() -> Iterator[Path]:
    """What every run reads from its beginning: the file that is given, or a copy of what comes through a pipe."""
    try:
        kind = os.fstat(0).st_mode
    except OSError:  # standard input is closed
        kind = 0
    if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind):
        with tempfile.NamedTemporaryFile() as copy, open(0, "rb", closefd=False) as given:
            if not select.select([0], [], [], 0)[0]:
                print("shoal: waiting for the end of standard input; if there is none, add </dev/null", file=sys.stderr)
            shutil.copyfileobj(given, copy)
            copy.flush()
            yield Path(copy.name)
    else:
        yield Path("/proc/self/fd/0" if stat.S_ISREG(kind) else os.devnull)


class Trial:
    """Runs of one program. On a terminal one sees how many have been made."""

    def __init__(self, job: Job, runs: int, given: Path = Path(os.devnull)) -> None:
        self.job, self.runs, self.given, self.done = job, runs, given, 0

    def pairs(self, settings: dict[str, str], number: int) -> tuple[list[float], list[float]]:
        """Seconds without and with Shoal, in turns. Which comes first changes, so that neither always does."""
        seconds: tuple[list[float], list[float]] = ([], [])
        for pair in range(number):
            for served in (False, True) if pair % 2 == 0 else (True, False):
                seconds[served].append(self.run(settings if served else None).seconds)
        return seconds

    def run(self, settings: dict[str, str] | None) -> Run:
        """Runs the program under Shoal with these settings, or without Shoal if they are None."""
        self.done += 1
        self.tell(f"run {self.done} of {self.runs}")
        with self.folder() as folder:
            report = folder / "report.json"
            begin = time.perf_counter()
            status = self.launch(settings, report, folder / "output")
            seconds = time.perf_counter() - begin
            self.tell("")
            if status != 0:
                self.explain(settings, status, folder)
            if settings is None:
                return Run(seconds, {})
            if not report.exists():
                raise UserError(
                    "no report came back: Shoal was not loaded (the program has no MPI, is static, or clears "
                    f"LD_PRELOAD), it ended without MPI_Finalize, or rank 0 cannot write {folder.parent}"
                )
            return Run(seconds, report_of(report))

    def tell(self, text: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """A folder for a run. It is where the program starts if rank 0 may be on another machine, which has a /tmp of
        its own."""
        is_elsewhere = bool(self.job.launcher) or knows_hosts(self.job.options)
        where = Path.cwd() if is_elsewhere else None
        with tempfile.TemporaryDirectory(prefix="shoal-try-", dir=where) as folder:
            yield Path(folder)

    def launch(self, settings: dict[str, str] | None, report: Path, output: Path) -> int:
        """Launches a run, and returns its exit status."""
        shoal = {"LD_PRELOAD": self.job.others}
        if settings is not None:
            shoal = {"LD_PRELOAD": self.job.preload, "SHOAL_REPORT": str(report)} | settings
        clean = {name: value for name, value in launch_environment().items() if name not in OWN}
        clean |= {"LD_PRELOAD": self.job.others} | (self.job.libraries | shoal if self.job.mpi else {})
        with self.given.open("rb") as stdin, output.open("wb") as said:
            options = {"stdin": stdin, "stdout": said, "stderr": subprocess.STDOUT, "env": clean}
            with child(self.job.command(shoal), **options) as started:
                return started.wait()

    def explain(self, settings: dict[str, str] | None, status: int, folder: Path) -> None:
        """Says why this run failed: by the program itself, or only with Shoal."""
        output = folder / "output"
        if settings is not None:
            alone = self.launch(None, folder / "none", folder / "alone")
            if alone != 0:
                output, status, settings = folder / "alone", alone, None
        sys.stderr.write(output.read_text(errors="replace"))
        if settings is None:
            raise UserError(f"the program ended with status {status} without Shoal")
        raise UserError(
            f"the program ended with status {status} with {variables(settings)}, and with 0 without Shoal; "
            "please report it with these lines"
        )


def variables(settings: dict[str, str]) -> str:
    return "Shoal " + " ".join(f"{name}={shlex.quote(value)}" for name, value in settings.items())
