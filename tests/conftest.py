"""All tests: of the core (C++), over MPI, under the preload, of the Python package. The summary has a line a part.

`make test` runs the files side by side. Tests that measure have the mark `alone`: while one runs, no other test does.
"""

import fcntl
import json
import os
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest

import mpis

os.environ |= mpis.QUICK  # for all processes that tests start, also without mpis
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # commands that tests start load what the first one has compiled
os.environ.pop("COLUMNS", None)  # tables are as wide as they need to be, on any terminal
OUTCOMES = ("passed", "failed", "error", "skipped")


@contextmanager
def room(alone):
    """A room that tests share, or that one test has alone.

    A test that waits for the room holds the gate, so that no other test overtakes it.
    """
    locks = mpis.ROOT / "build/locks"
    locks.mkdir(parents=True, exist_ok=True)
    with (locks / "gate").open("w") as gate, (locks / "room").open("w") as taken:
        fcntl.flock(gate, fcntl.LOCK_EX)
        fcntl.flock(taken, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(gate, fcntl.LOCK_UN)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    with room(item.get_closest_marker("alone") is not None):
        return (yield)


def pytest_terminal_summary(terminalreporter):
    parts = {}
    for outcome in OUTCOMES:
        for report in terminalreporter.getreports(outcome):
            part = Path(report.nodeid.split("::")[0]).relative_to("tests").parts[0]
            parts.setdefault(part.removesuffix(".py"), Counter())[outcome] += 1
    terminalreporter.section("parts")
    for part, counts in sorted(parts.items()):
        terminalreporter.line(f"{part}: " + ", ".join(f"{counts[o]} {o}" for o in OUTCOMES if counts[o]))


class Command:
    """Runs `shoal` the way people do, in this process."""

    def __init__(self, captured):
        self.captured = captured

    def __call__(self, *args):
        """(exit status, standard output, standard error)"""
        from shoal.cli import main

        with pytest.raises(SystemExit) as ended:
            main([str(arg) for arg in args])
        return ended.value.code, *self.captured.readouterr()

    def output(self, *args):
        status, out, err = self(*args)
        assert (status, err) == (0, ""), err
        return out

    def json(self, *args):
        return json.loads(self.output(*args, "--json"))

    def refused(self, *args):
        """Expects that the command refuses the arguments. Returns the one line that says what is wrong."""
        status, out, err = self(*args)
        assert (status, out) == (2, "")
        assert err.startswith("shoal: ") and err.count("\n") == 1, err
        return err


@pytest.fixture
def shoal_command(capfd):
    return Command(capfd)
