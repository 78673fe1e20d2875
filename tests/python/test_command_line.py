"""The command itself: help, errors, start."""

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import shoal
from shoal.cli import COMMANDS, make_app

SHOAL = Path(sys.prefix) / "bin/shoal"


def test_help_lists_the_commands(shoal_command):
    text = shoal_command.output("--help")
    assert all(f" {name} " in text for name in COMMANDS)
    assert re.findall(r"─ (\w+) ─", text) == ["Options", "Use", "Measure", "Understand", "Model"]


def test_version(shoal_command):
    assert shoal_command.output("--version") == f"shoal {shoal.__version__}\n"


def test_is_a_module():
    done = subprocess.run([sys.executable, "-m", "shoal", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"shoal {shoal.__version__}\n"


def all_commands():
    """All commands; of a command with commands of its own, these."""
    for name in COMMANDS:
        groups = make_app([name]).registered_groups
        within = groups[0].typer_instance.registered_commands if groups else []
        yield from [[name, command.name or command.callback.__name__] for command in within] or [[name]]


@pytest.mark.parametrize("words", list(all_commands()), ids=" ".join)
def test_help_has_an_example(shoal_command, words):
    assert f"Example: shoal {' '.join(words)}" in shoal_command.output(*words, "--help")


@pytest.mark.parametrize("words", [one for one in all_commands() if one[0] not in ("run", "try")], ids=" ".join)
def test_help_breaks_lines_where_the_terminal_ends(shoal_command, monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "70")
    lines = [line.strip() for line in shoal_command.output(*words, "--help").partition("\u256d")[0].splitlines()]
    early = [a for a, b in pairwise(lines) if a and b and len(a) + 1 + len(b.split()[0]) <= 66]
    assert early == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("bench --senders 1 --distributions random", "--senders already sets --distributions; leave one out"),
        ("bench --list-suites --suite tuna-radix", "--suite means nothing with --list-suites"),
        ("bench --collective alltoallw --distributions random", "--distributions means nothing with --collective"),
        ("bench --collective exchange --phases", "--phases means nothing with --collective exchange"),
        ("bench --rate 100M", "--rate means nothing without --emulate"),
        ("bench --ranks 4 --ranks 8", "--ranks is given twice; leave one out"),
        ("topology show line:2x2 --root s0 --root s1", "--root is given twice"),
        ("run -n 2 --alltoall tuna --alltoall bruck -- true", "--alltoall is given twice"),
        ("try -n 2 --ranks 4 -- true", "--ranks is given twice"),
        ("emulate line:2x2 --alltoall tuna --alltoall bruck -- true", "--alltoall is given twice"),
        ("tune -n 2 --mpi mpich5,openmpi5", "--mpi mpich5,openmpi5: name one"),
        ("model fit -n 2 --mpi mpich5,openmpi5", "--mpi mpich5,openmpi5: name one"),
        ("tune -n 2 --export rules -o profile", "--export already sets --output"),
        ("explain alltoall --sizes 8 --profile x --layout 1x2", "--profile already sets --layout"),
        ("check --layout 2,2 --ranks 4", "--layout already sets --ranks"),
        ("check --collective allgather --layout 2,2", "--layout means nothing with --collective allgather"),
        ("check --collective alltoall --graph torus:4", "--graph means nothing with --collective alltoall"),
        ("plan full --senders 2 --receivers 2 --layout 2,2", "--layout means nothing with --senders"),
        ("plan tuna -n 4 --emit c --json", "--emit already sets --json"),
        ("plan tuna -n 4 --block 8", "--block means nothing without --emit goal"),
        ("simulate --suite bruck-256 --ppn 16", "--suite already sets --ppn"),
        ("simulate --suite bruck-256 --sizes 8", "--suite already sets --sizes"),
        ("simulate --suite polaris-16384 --message-cost 1us", "--suite already sets --message-cost"),
        ("simulate --senders 4 --distribution random", "--senders already sets --distribution"),
        ("simulate --senders 4 --layout 16x16", "--layout means nothing with --senders"),
        ("simulate --variants tuna --selector ompi", "--selector means nothing without the variant native"),
        ("simulate --computing", "--computing means nothing without a program"),
        ("simulate --sizes 8 -- program", "--sizes means nothing for a program"),
        ("simulate --model --selector ompi", "--selector means nothing with --model"),
    ],
)
def test_no_option_is_dropped(shoal_command, words, says):
    """An option that means nothing is refused, even with its default value."""
    assert says in shoal_command.refused(*words.split())


def test_unknown(shoal_command):
    assert "'frob'" in shoal_command.refused("frob")
    assert "shoal list --help" in shoal_command.refused("list", "--frob")


def test_installed_command():
    done = subprocess.run([SHOAL, "plan", "tuna", "--ranks", "0"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("shoal: ") and "Traceback" not in done.stderr


def test_run_loads_little():
    """Loading any of these takes as long as loading all that `shoal run` needs."""
    heavy = {"typer", "rich", "inspect", "asyncio"}
    code = f"import sys, shoal.cli, shoal.commands.run; print({heavy} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_only_the_report_loads_what_draws():
    """Loading matplotlib or scipy takes a command longer than all else before its work."""
    loads = "make_app(COMMANDS.keys() - {'report'}); print({'matplotlib', 'scipy'} & sys.modules.keys())"
    code = f"import sys; from shoal.cli import COMMANDS, make_app; {loads}"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_version_loads_no_command():
    say = "atexit.register(lambda: print('scipy' in sys.modules))"
    code = f"import atexit, sys; from shoal.cli import main; {say}; main(['--version'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"shoal {shoal.__version__}\nFalse\n"
