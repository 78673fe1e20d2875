"""shoal try: what it says of a program, and that it says so of runs that took place."""

import json
import os
import re
import select
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import mpis
from shoal.commands import try_
from shoal.commands.run import Job

MPI = mpis.WHEELS[0]
SHOAL = Path(sys.prefix) / "bin/shoal"
PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
  MPI_Init(&count, &words);
  if (count > 1 && !strcmp(words[1], "unreported")) _exit(0);
  int out[8] = {0}, in[8], rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  FILE *runs = fopen("runs", "a");
  if (rank == 0) fprintf(runs, "%c", getchar());
  fclose(runs);
  MPI_Comm all = MPI_COMM_WORLD;
  if (count > 1 && !strcmp(words[1], "without_first")) MPI_Comm_split(all, rank ? 0 : MPI_UNDEFINED, rank, &all);
  const int exchanges = count > 1 && strcmp(words[1], "left") ? 500 : 0;
  for (int i = 0; i < exchanges && all != MPI_COMM_NULL; ++i) MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, all);
  MPI_Request left = MPI_REQUEST_NULL;
  if (count > 1 && !exchanges) MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &left);
  MPI_Wait(&left, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return count > 2 && (strcmp(words[2], "with") || getenv("SHOAL_VERIFY"));
}
"""


@pytest.fixture
def trial(tmp_path):
    """Tries the program with these arguments; its input is a file."""
    if MPI.missing():
        pytest.skip(MPI.missing())
    (tmp_path / "program.c").write_text(PROGRAM)
    (tmp_path / "input").write_text("x")
    MPI.compile(tmp_path / "program.c", tmp_path / "program")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SHOAL_", "LD_"))}

    def trial(*arguments, ranks=2, given=None, **environment):
        words = [SHOAL, "try", "-n", ranks, *arguments]
        with (tmp_path / "input").open() as file:
            return subprocess.run(
                list(map(str, words)), capture_output=True, text=True, cwd=tmp_path, env=clean | environment,
                check=False, **({"stdin": file} if given is None else {"input": given}),
            )  # fmt: skip

    return trial


@pytest.mark.alone
def test_three_lines(trial, tmp_path):
    done = trial("--alltoall", "spread_out", "--", "./program", "exchange")
    assert done.returncode == 0, done.stderr
    share, gain, verdict = done.stdout.splitlines()
    assert re.match(r"shoal: (less than )?[\d.]+% of the run is all-to-all that Shoal serves: ", share)
    assert re.search(r" in 500 calls of rank 0, .* alltoall of 2 ranks$", share)
    assert re.search(r": \d+\.\d\d times as fast \(medians of 3 runs each\); 500 results compared", gain)
    assert " Next: " in verdict
    assert (tmp_path / "runs").read_text() == "x" * 8  # runs: verified, timed, three pairs; each read its input


def test_program_without_exchanges(trial, tmp_path):
    """What comes through a pipe is read like a file."""
    done = trial("--", "./program", given="y")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("shoal: Rank 0 made no all-to-all of any kind") and "Next: " in done.stdout
    assert "Nothing to gain" not in done.stdout
    assert (tmp_path / "runs").read_text() == "y"


def test_program_whose_exchanges_are_left_to_the_mpi(trial):
    done = trial("--", "./program", "left")
    assert done.returncode == 0, done.stderr
    assert "Shoal leaves these calls to the MPI: 1 of ialltoall (nonblocking" in done.stdout


def test_program_that_fails(trial):
    done = trial("--", "./program", "exchange", "fail")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == "shoal: the program ended with status 1 without Shoal"


def test_program_that_fails_with_shoal_alone(trial):
    done = trial("--", "./program", "exchange", "with")
    assert (done.returncode, done.stdout) == (2, "")
    assert "ended with status 1 with Shoal SHOAL_VERIFY=1, and with 0 without Shoal" in done.stderr


def test_no_report_is_no_answer(trial):
    done = trial("--", "./program", "unreported")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("shoal: no report came back: ") and "MPI_Finalize" in done.stderr


LAUNCHER = """#!/bin/sh
echo "$LD_PRELOAD" >>launched
shift 2
exec env "$@"
"""
WRITES_REPORT = """#!/bin/sh
echo "$LD_PRELOAD $(test -t 0 || cat)" >>preloaded
row='{"call": "alltoall", "ranks": 2, "algorithm": "native", "calls": 1, "bytes": 8, "seconds": 0.001}'
case $SHOAL_REPORT in $PWD/*) echo "{\\"calls\\": [$row], \\"left\\": [], \\"verified\\": 0}" >"$SHOAL_REPORT";; esac
"""


@pytest.mark.parametrize("given", ["module", "closed"])
def test_runs_without_shoal_have_no_preload_of_it(tmp_path, given):
    """Even if a module has set LD_PRELOAD. With a launcher the report is written where the program starts."""
    if MPI.missing():
        pytest.skip(MPI.missing())
    for name, text in (("launcher", LAUNCHER), ("script", WRITES_REPORT)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    line = f"exec {SHOAL} try --launcher './launcher -x 1' -- ./script" + (" <&-" if given == "closed" else "")
    preload = f"{MPI.preload}:libc.so.6" if given == "module" else "libc.so.6"
    command = ["sh", "-c", line]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env=os.environ | {"LD_PRELOAD": preload}, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    runs = [one.split() for one in (tmp_path / "preloaded").read_text().splitlines()]
    assert [one == ["libc.so.6"] for one in runs] == [False, False, True, False, False, True, True, False]
    assert set((tmp_path / "launched").read_text().split()) == {"libc.so.6"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["launched", "launcher", "preloaded", "script"]


@pytest.mark.parametrize(("told", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ends_what_it_started(tmp_path, told, status):
    """A shell makes its background jobs ignore interrupts, so the test sets signals back first."""
    (tmp_path / "program").write_text("#!/bin/sh\necho $$ >started\nexec sleep 60\n")
    (tmp_path / "program").chmod(0o755)
    os.mkfifo(tmp_path / "started")
    with subprocess.Popen(
        ["env", "--default-signal", SHOAL, "try", "--launcher", "env", "--", "./program"], stderr=subprocess.PIPE,
        text=True, cwd=tmp_path, stdin=subprocess.DEVNULL,
    ) as trial:  # fmt: skip
        process = os.pidfd_open(int((tmp_path / "started").read_text()))
        trial.send_signal(told)
        assert (trial.wait(), trial.stderr.read()) == (status, "")
    assert select.select([process], [], [], 10)[0], "the program goes on"
    os.close(process)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["program", "started"]


@pytest.mark.parametrize(
    ("without", "with_shoal", "share", "says"),
    [
        ([1.3, 1.2, 1.25], [1.1, 1.0, 1.15], 0.4, "Worth it. SHOAL_WISDOM=FILE keeps"),
        ([1.0, 1.1, 1.05], [1.2, 1.3, 1.25], 0.4, "slower"),
        ([0.99, 1.01, 1.0], [1.0, 1.0, 1.0], 0.04, "1.04 times as fast at most"),
        ([0.9, 1.3, 1.1], [1.0, 1.0, 1.0], 0.4, "noise; 3 pairs show only large differences"),
        # Each pair is slower, but a run without Shoal took longer than one with it.
        ([0.6, 0.8, 0.7], [0.75, 1.0, 0.9], 0.4, "noise"),
        # Of more pairs a few may overlap.
        (
            [1.3, 1.2, 1.25, 1.22, 1.28, 1.24, 1.31, 1.26, 1.0],
            [1.1, 1.01, 1.15, 1.05, 1.06, 1.07, 1.08, 1.09, 1.16],
            0.4,
            "Worth it",
        ),
        ([1.3, 1.2, 1.25, 1.02], [1.1, 1.0, 1.15, 1.05], 0.4, "noise"),
        ([1.3, 1.2, 1.25], [1.1, 1.0, 1.15], 0.01, "Noise: all-to-all allows 1.01 times as fast at most"),
        ([1.0, 1.1, 1.05], [1.2, 1.3, 1.25], 0.04, "start-up or noise"),
        ([1.3, 1.2, 1.25], [1.1, 1.0, 1.15], 1.0, "Worth it"),
    ],
)
def test_verdicts(without, with_shoal, share, says):
    line = try_.verdict_line(without, with_shoal, share, "-n 4 ./p")
    assert says in line
    assert "shoal run" not in line or line.endswith("shoal run -n 4 ./p"), "it is pasted to the end of the line"


@pytest.mark.parametrize(("share", "says"), [(0.5, "50%"), (0.002, "0.2%"), (0.0001, "less than 0.1%")])
def test_shares(share, says):
    assert try_.percent(share) == says


def test_every_call_that_can_be_named_is_the_mpis_own_for_the_share(monkeypatch):
    """The time that rank 0 spends in exchanges is measured with the MPI's own."""
    seen = []

    def run(_, settings):
        seen.append(settings)
        row = {"call": "alltoall", "ranks": 4, "algorithm": "native", "calls": 1, "bytes": 8, "seconds": 0.5}
        return try_.Run(1.0, {"calls": [row], "verified": 0})

    monkeypatch.setattr(try_.Trial, "run", run)
    try_.lines(try_.Trial(Job([], 1, None, [], [], {}, ""), 8), {}, 3, "-n 4 ./p")
    assert seen[1].keys() >= {f"SHOAL_{call}" for call in ("ALLTOALL", "ALLTOALLV", "ALLTOALLW", "ALLGATHER")}


def test_runs_take_turns(monkeypatch):
    seen = []

    def run(_, settings):
        seen.append(settings is not None)
        return try_.Run(1.0, {})

    monkeypatch.setattr(try_.Trial, "run", run)
    try_.Trial(Job([], 1, None, [], [], {}, ""), 8).pairs({}, 3)
    assert seen == [False, True, True, False, False, True]


def test_the_report_is_an_option_of_run(shoal_command):
    assert "--report is no option of shoal try" in shoal_command.refused("try", "-n", 2, "--report", "--", "/bin/ls")


def test_few_pairs_are_refused(shoal_command):
    assert "at least 3" in shoal_command.refused("try", "-n", 2, "--pairs", 2, "--", "/bin/ls")


def test_report_is_json_of_all_that_was_called():
    row = {"call": "alltoall", "ranks": 4, "algorithm": "native", "calls": 3, "bytes": 8, "seconds": 0.5}
    left = {"call": "ialltoall", "reason": "nonblocking", "calls": 2, "seconds": 0.25}
    run = try_.Run(2.0, json.loads(json.dumps({"calls": [row, row], "left": [left]})))
    assert (run.exchanges, run.exchanging) == (6, 1.0)
    assert try_.share_line(run) == (
        "50% of the run is all-to-all that Shoal serves: 1 s of 2 s, in 6 calls of rank 0, most of it alltoall of 4 "
        "ranks; Shoal leaves these calls to the MPI: 2 of ialltoall (nonblocking), 250 ms"
    )


def test_report_is_of_the_rank_that_exchanges_most(tmp_path):
    def write(rank, calls, left):
        name = f"report.rank{rank}.json" if rank else "report.json"
        told = {"calls": [{"calls": 1, "seconds": calls}], "left": [{"seconds": left}], "rank": rank}
        (tmp_path / name).write_text(json.dumps(told))

    def told():
        return try_.Run(1.0, try_.report_of(tmp_path / "report.json")).rank

    write(0, 0, 0)
    assert told() == 0
    write(12, 0, 0.5)
    assert told() == 12, "it has calls at least, which Shoal leaves to the MPI"
    write(3, 0.25, 0)
    assert told() == 3
    write(0, 0.5, 0)
    assert told() == 0


def test_program_whose_first_rank_exchanges_nothing(trial):
    done = trial("--", "./program", "without_first", ranks=3)
    assert done.returncode == 0, done.stderr
    assert " in 500 calls of rank 1, most of it alltoall of 2 ranks" in done.stdout


def test_ratio_is_of_the_medians_that_are_printed():
    assert try_.gain_line([1.0, 4.0, 2.0], [1.0, 0.5, 4.0], try_.Run(1.0, {"verified": 0})) == (
        "The run takes 2 s (1 s to 4 s) without Shoal and 1 s (500 ms to 4 s) with it: 2.00 times as fast (medians of "
        "3 runs each); no result was Shoal's"
    )


@pytest.mark.parametrize("pairs", [["--pairs", "9"], ["--pairs=9"], []])
def test_next_command_can_be_typed(pairs):
    job = Job(["/bin/p", "a b", "--pairs", "2"], 1, None, [], [], {}, "")
    for separated in (["--"], []):
        words = ["-n", "1", *pairs, *separated, "p", "a b", "--pairs", "2"]
        assert try_.next_words(words, job) == shlex.join(["-n", "1", *separated, *words[-4:]])
