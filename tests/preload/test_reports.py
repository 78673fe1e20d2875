"""Which ranks report: rank 0, and the first rank of a large communicator without it."""

import json
import re

import pytest

from mpis import NOTHING


def run(mpi, compiled, mode, ranks, report=1, **settings):
    done = mpi.run(ranks, [compiled(mpi, "without_first.c"), mode], SHOAL_REPORT=report, **settings)
    assert done.returncode == 0, done.stderr
    return done


def tables(done):
    """The calls in the table of each rank, by the number of ranks."""
    found = {}
    for line in done.stderr.splitlines():
        if title := re.match(r"shoal: exchanges as rank (\d+) saw them(, some of them without rank 0)?$", line):
            calls = found[int(title[1])] = {}
            assert bool(title[2]) == (int(title[1]) != 0)
        elif row := re.match(r"shoal: alltoall +(\d+) +(\d+) ", line):
            calls[int(row[1])] = calls.get(int(row[1]), 0) + int(row[2])
    return found


def test_first_of_the_others_reports(mpi, compiled):
    done = run(mpi, compiled, "blocking", 3)
    assert tables(done) == {1: {2: 5}}
    assert NOTHING in done.stderr.splitlines()


def test_two_reports(mpi, compiled):
    """Each tells all that its rank saw, so that its sums are those of the rank."""
    done = run(mpi, compiled, "world", 3, SHOAL_ALLTOALL="tuna")
    assert tables(done) == {0: {3: 1}, 1: {3: 1, 2: 5}}
    assert NOTHING not in done.stderr


@pytest.mark.parametrize("mode, call", [("nonblocking", "ialltoall"), ("groups", "alltoall")])
def test_calls_that_are_left_to_the_mpi(mpi, compiled, mode, call):
    done = run(mpi, compiled, mode, 5)
    told = re.findall(rf"left to the MPI: {call} \(.*\), (\d) calls of rank (\d)", done.stderr)
    assert told == [("5", "1")], done.stderr
    assert NOTHING in done.stderr.splitlines()


def test_rows_and_columns_have_no_reports_of_their_own(mpi, compiled):
    """They do what those of rank 0 do. A large grid has hundreds of them, so the report would not end."""
    assert tables(run(mpi, compiled, "grid", 9)) == {0: {3: 10}}


def test_files(one_mpi, compiled, tmp_path):
    run(one_mpi, compiled, "blocking", 3, report=tmp_path / "report.json")
    told = {path.name: json.loads(path.read_text()) for path in tmp_path.iterdir()}
    assert {name: one["rank"] for name, one in told.items()} == {"report.json": 0, "report.rank1.json": 1}
    assert told["report.json"]["calls"] == []
    assert [row["calls"] for row in told["report.rank1.json"]["calls"]] == [5]


def test_cost_is_compared_with_all_calls(mpi, compiled, tmp_path):
    """Also with those behind the vote in which the ranks hear that one of them lacks the preload."""
    command, report = [compiled(mpi, "neighbors.c", "-ldl"), 1, "often", 500], tmp_path / "report.json"
    done = mpi.launch(mpi.ranks(2, command, SHOAL_REPORT=report), mpi.ranks(1, command, preload=False), timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(report.read_text())
    in_rows = sum(row["seconds"] for row in told["calls"] + told["left"])
    assert told["left"] and told["learning"]["in_calls"] == pytest.approx(in_rows, rel=1e-4)
