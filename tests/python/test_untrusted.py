"""Topology files and profiles come from elsewhere: nothing is executed or written because of what is in one."""

import re

import pytest

from mpis import ROOT

TOUCH = "touch${IFS}executed"
NAMES = [
    f"n;{TOUCH}",
    f"$({TOUCH})",
    f"`{TOUCH}`",
    "n|sh",
    "n&",
    "a'b",
    'a"b',
    "a\\b",
    "a??/b",
    "*/x/*",
    "%n",
    "~",
    "n\x1b]0;t\x07",
]
PROFILE = 'shoal = "{0}"\nmpi = "{0}"\nmachine = "{0}"\nranks = 4\nlayout = "{0}"\n'
# Files of src/ that may write a file or start a process: for SHOAL_WISDOM, _RECORD and _REPORT, and shared memory.
WRITERS = {"select/wisdom.cpp", "calls/traffic.cpp", "calls/reporter.cpp", "transport/shared_memory.cpp"}
WRITES = re.compile(
    r"\b(o?fstream \w|(fopen|popen|system|exec[vl]p?e?|fork|posix_spawnp?|creat|mkstemp|memfd_create|unlink"
    r"|rename|mkdir|openat|tmpfile)\("
    r"|dlopen\((?![^;]*RTLD_NOLOAD))|(?<!\w)::open\((?![^;]*O_RDONLY)"
)


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """hostile(text): a file with this text, where the command runs. At the end the directory must hold nothing else."""
    monkeypatch.chdir(tmp_path)

    def hostile(text):
        (tmp_path / "given").write_text(text)
        return "given"

    yield hostile
    assert [path.name for path in tmp_path.iterdir()] == ["given"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("line", ["s0 {}", "{} n0", "SwitchName=s0 Nodes={}", "SwitchName={} Nodes=n[0-3]"])
def test_names_that_mean_something_elsewhere(shoal_command, hostile, name, line):
    given = hostile("s0 n8\n" * ("=" not in line) + line.format(name) + "\n")
    for command in (["show", given], ["schedule", given], ["generate", given, "-o", "written.c"]):
        assert "given:" in shoal_command.refused("topology", *command)


@pytest.mark.parametrize("value", [f"$({TOUCH})", f"`{TOUCH}`", "../../x", "/etc/passwd"])
def test_profiles(shoal_command, hostile, value):
    profile = hostile(PROFILE.format(value))
    shoal_command.refused("explain", "alltoallv", "--ranks", 4, "--sizes", "uniform:0-512", "--profile", profile)


def test_only_what_the_user_names_is_written():
    """Only the files of WRITERS do so in src/."""
    found = set()
    for path in (ROOT / "src").rglob("*.[ch]pp"):
        code = re.sub(r"//.*|\"(\\.|[^\"\\])*\"", "", path.read_text())
        if WRITES.search(code) and path.name != "c_template.hpp":
            found.add(path.relative_to(ROOT / "src").as_posix())
    assert found == WRITERS
