"""shoal try: what it says of a program, and that it says so of runs that took place."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

import mpis
from shoal.commands import try_
from shoal.commands.run import Job

MPI = mpis.WHEELS[0]
PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <string.h>
int main(int count, char **words) {
  MPI_Init(&count, &words);
  int out[8] = {0}, in[8], rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  FILE *runs = fopen("runs", "a");
  if (rank == 0) fprintf(runs, "%c", getchar());
  fclose(runs);
  const int exchanges = count > 1 && strcmp(words[1], "left") ? 500 : 0;
  for (int i = 0; i < exchanges; ++i) MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Request left = MPI_REQUEST_NULL;
  if (count > 1 && !exchanges) MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &left);
  MPI_Wait(&left, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return count > 2;
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

    def trial(*arguments):
        words = [Path(try_.sys.prefix) / "bin/shoal", "try", "-n", "2", *arguments]
        with (tmp_path / "input").open() as file:
            return subprocess.run(
                list(map(str, words)),
                capture_output=True,
                text=True,
                cwd=tmp_path,
                stdin=file,
                env=clean,
                check=False,
            )

    return trial


@pytest.mark.alone
def test_three_lines(trial, tmp_path):
    done = trial("--alltoall", "spread_out", "--", "./program", "exchange")
    assert done.returncode == 0, done.stderr
    share, gain, verdict = done.stdout.splitlines()
    assert re.match(r"shoal: (less than )?[\d.]+% of the run is all-to-all: ", share)
    assert re.search(r" in 500 calls of rank 0, .* alltoall of 2 ranks$", share)
    assert re.search(r": \d+\.\d\d times as fast \(\d+\.\d\d to \d+\.\d\d in 3 pairs\); 500 results compared", gain)
    assert " Next: " in verdict
    assert (tmp_path / "runs").read_text() == "x" * 8  # verified, timed, three pairs; each read its input


def test_program_without_exchanges(trial, tmp_path):
    done = trial("--", "./program")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("shoal: The program made no all-to-all of any kind") and "Next: " in done.stdout
    assert (tmp_path / "runs").read_text() == "x"


def test_program_whose_exchanges_are_left_to_the_mpi(trial):
    done = trial("--", "./program", "left")
    assert done.returncode == 0, done.stderr
    assert "that Shoal serves; calls of rank 0 that it leaves to the MPI: 1 of ialltoall (nonblocking" in done.stdout


def test_program_that_fails(trial):
    done = trial("--", "./program", "exchange", "fail")
    assert (done.returncode, done.stdout) == (2, "")
    assert "ended with status" in done.stderr and "SHOAL_VERIFY=1" in done.stderr


@pytest.mark.parametrize(
    ("without", "with_shoal", "share", "says"),
    [
        ([1.3, 1.2, 1.25], [1.1, 1.0, 1.15], 0.4, "Worth it. Next: shoal run -n 4 ./p"),
        ([1.0, 1.1, 1.05], [1.2, 1.3, 1.25], 0.4, "slower"),
        ([0.99, 1.01, 1.0], [1.0, 1.0, 1.0], 0.04, "1.04 times as fast at most"),
        ([0.9, 1.3, 1.1], [1.0, 1.0, 1.0], 0.4, "noise"),
        # Each pair is slower, but a run without Shoal took longer than one with it.
        ([0.6, 0.8, 0.7], [0.75, 1.0, 0.9], 0.4, "noise"),
    ],
)
def test_verdicts(without, with_shoal, share, says):
    assert says in try_.verdict_line(without, with_shoal, share, "-n 4 ./p")


@pytest.mark.parametrize(("share", "says"), [(0.5, "50%"), (0.002, "0.2%"), (0.0001, "less than 0.1%")])
def test_shares(share, says):
    assert try_.percent(share) == says


def test_every_call_that_can_be_named_is_the_mpis_own_for_the_share(monkeypatch):
    """What rank 0 spends in exchanges is told of the MPI's own."""
    seen = []

    def run(_, settings):
        seen.append(settings)
        row = {"call": "alltoall", "ranks": 4, "algorithm": "native", "calls": 1, "bytes": 8, "seconds": 0.5}
        return try_.Run(1.0, {"calls": [row], "verified": 0})

    monkeypatch.setattr(try_.Trial, "run", run)
    try_.lines(Job([], 1, None, [], [], {}, ""), {}, 3, "-n 4 ./p")
    assert seen[1].keys() >= {f"SHOAL_{call}" for call in ("ALLTOALL", "ALLTOALLV", "ALLTOALLW", "ALLGATHER")}


def test_runs_take_turns(monkeypatch):
    seen = []

    def run(_, settings):
        seen.append(settings is not None)
        return try_.Run(1.0, {})

    monkeypatch.setattr(try_.Trial, "run", run)
    try_.Trial(Job([], 1, None, [], [], {}, ""), 8).pairs({}, 3)
    assert seen == [False, True, True, False, False, True]


def test_few_pairs_are_refused(shoal_command):
    assert "at least 3" in shoal_command.refused("try", "-n", 2, "--pairs", 2, "--", "/bin/ls")


def test_report_is_json_of_all_that_was_called():
    row = {"call": "alltoall", "ranks": 4, "algorithm": "native", "calls": 3, "bytes": 8, "seconds": 0.5}
    run = try_.Run(2.0, json.loads(json.dumps({"calls": [row, row]})))
    assert (run.exchanges, run.exchanging) == (6, 1.0)
    assert try_.share_line(run) == (
        "50% of the run is all-to-all: 1 s of 2 s, in 6 calls of rank 0, most of it alltoall of 4 ranks"
    )
