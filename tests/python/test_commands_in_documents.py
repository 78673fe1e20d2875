"""Every command in a document is run as it stands there, except for its size, or is named here with a reason not to.

Commands are the lines of code blocks without a language and of indented blocks, and `shoal ...` with options elsewhere.
They run one after the other in one directory, because some read what others wrote. Those of the guides run in every
test run. Those behind figures (benchmarks and papers) run with SHOAL_EXHAUSTIVE=1, at a size that gives no figures.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import mpis
from mpis import ROOT

GUIDES = [
    "README.md",
    "CONTRIBUTING.md",
    "docs/tutorial.md",
    "docs/settings.md",
    "docs/choosing.md",
    "docs/tuning.md",
    "docs/simulation.md",
]
GUIDES += ["docs/benchmarking.md", "docs/add-an-algorithm.md"]
DOCUMENTS = [*GUIDES, *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md")))]
DOCUMENTS = list(dict.fromkeys(DOCUMENTS))
SIMULATED = ROOT / ".venv/lib/shoal/smpi/libshoal_simulated.so"
OVERSUBSCRIBE = {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}

# Commands that no test runs, and why.
NOT_RUN = {
    r"make (test|build|build-smpi|reference)": "made what runs this test; the last is tests/python/test_reference.py",
    r"make wheel|.*/pip install shoal-\*\.whl|python3.* -m venv ~/.*|export PATH.*": "tests/install/test_wheel.py",
    r"make (demo|check-all|sanitize|simgrid|wheel-aarch64)": "minutes; run before a release, figures in docs/trust.md",
    r"make programs.*": "installs programs; hours. Its command is run",
    r"tools/(mpich-tests|fuzz) .*": "fetches sources, minutes of a core; results in docs/trust.md",
    r"(apt-get install|sysctl|\.venv/bin/pip install) .*": "changes the machine",
    r"(SHOAL_EXHAUSTIVE=1 )?\.venv/bin/python -m pytest .*": "tests of their own",
    r"SHOAL_EXHAUSTIVE=1 build/core/core_tests .*": "a test of its own, minutes",
    r"shoal (check|plan) star .*|SHOAL_ALLTOALLV=star .*": "the reader's; tests/unit/example_algorithm_test.cpp",
    r"shoal (bench|simulate) --suite .*": "an experiment as large as its name says; tests/python/test_bench.py has all",
}

# By command: options that replace those in documents, for a size at which figures mean nothing. A command that lacks
# one of them gets it, except those of SMALLER.
SMALL = {
    "bench": {"--ranks": "4", "--sizes": "64", "--seconds": "0.01"},
    "run": {"--ranks": "4"},
    "try": {"--ranks": "2"},
    "mpiexec": {"--ranks": "4"},
    "tune": {"--ranks": "4", "--seconds": "1"},
    "fit": {"--ranks": "4"},
    "simulate": {"--nodes": "4", "--ppn": "2", "--sizes": "64"},
    "check": {"--ranks": "1-12"},
    "regret.py": {"--ranks": "4", "--seconds": "0.02"},
    "applications.py": {"--ranks": "2", "--turns": "1", "--programs": "'closure road:50;fft 6x7'"},
    "programs": {"--mpi": "mpich5", "--pairs": "1", "--only": "'alltoall 30 x 64 B, 8'"},
    "aapc.py": {"--networks": "line:2x2", "--repetitions": "1"},
    "start_time.py": {"--pairs": "2"},
    "programs.py": {"--nodes": "2", "--ppn": "2", "--calls": "6"},
    "levels.py": {"--nodes": "4", "--ppn": "2", "--sizes": "64"},
    "search.py": {"--nodes": "4", "--ppn": "4", "--sizes": "64"},
    "regret_simulated.py": {"--platform": "dragonfly", "--nodes": "2", "--ppn": "4", "--distributions": "uniform"},
}
SMALLER = {"--senders": "1"}
ALIASES = {"-n": "--ranks"}
# Words that stand for something of the reader's, and what the tests use instead.
MEANT = {
    "./your_program": "./program",
    "NAME": "tuna",
    "/path/to/": "./",
    "torus:256": "torus:4",
    ".venv/bin/shoal": "shoal",
}


def blocks(text):
    """(language, lines) of the code blocks; indented ones are those after a blank line."""
    language, lines, before = None, [], ""
    for line in [*text.splitlines(), ""]:
        if line.startswith("```") or (language == "indented" and not line.startswith("    ")):
            if language is not None:
                yield language, lines
            language, lines = (line[3:] if line.startswith("```") and language is None else None), []
        elif language is None and line.startswith("    ") and not before.strip():
            language, lines = "indented", [line]
        elif language is not None:
            lines.append(line)
        before = line


def commands(document):
    text = (ROOT / document).read_text()
    for language, lines in blocks(text):
        if language in ("", "indented"):
            for line in "\n".join(lines).replace("\\\n", " ").splitlines():
                command = re.sub(r"\s+", " ", re.sub(r"(^|\s)# .*", "", line)).strip()
                if command:
                    yield command
    yield from re.findall(r"`(shoal [^`]* -[^\s`]+ [^`]+)`", text)


def reason_not_to(command):
    return next((reason for pattern, reason in NOT_RUN.items() if re.fullmatch(pattern, command)), None)


def made_small(command):
    """The command with the options of SMALL, and with the words of MEANT replaced."""
    for word, meant in MEANT.items():
        command = command.replace(word, meant)
    words = shlex.split(command, posix=False)
    name = next((part for word in words if (part := word.rpartition("/")[2]) in SMALL), None)
    if name is None:
        return command
    options = SMALL[name] | SMALLER
    if "--emulate" in words:
        del options["--ranks"]
    for place, word in enumerate(words):
        if (option := ALIASES.get(word, word)) in options:
            small = options.pop(option)
            words[place + 1] = small if words[place + 1] != "1" else "1"  # which cannot be smaller
    return " ".join([*words, *(f"{option} {value}" for option, value in options.items() if option not in SMALLER)])


PROGRAM = """
#include <mpi.h>
int main(int count, char **words) {
  MPI_Init(&count, &words);
  int out[64] = {0}, in[64], ones[64], places[64];
  for (int i = 0; i < 64; ++i) ones[i] = 1, places[i] = i;
  for (int i = 0; i < 5; ++i)
    MPI_Alltoallv(out, ones, places, MPI_INT, in, ones, places, MPI_INT, MPI_COMM_WORLD);
  return MPI_Finalize();
}
"""


class Reader:
    """A reader who has a program, a file of settings and a checkout, and types what documents say."""

    def __init__(self, directory):
        self.directory = directory
        self.exported = {}
        self.typed = set()
        (directory / "program.c").write_text(PROGRAM)
        (directory / "shoal.conf").write_text('alltoallv = "tuna:radix=4"\n')
        (directory / "FILE").write_text("0,1,2,3\n" * 4)
        (directory / "docs/pictures").mkdir(parents=True)
        for name in (".venv", "build", "bench"):
            (directory / name).symlink_to(ROOT / name)
        for mpi in mpis.WHEELS:
            mpi.compile(directory / "program.c", directory / f"program-{mpi.name}")

    def type(self, command):
        """Runs the command, unless it has run before. Returns what goes wrong, or None."""
        if command in self.typed:
            return None
        self.typed.add(command)
        if command.startswith("export "):
            self.exported |= [command.removeprefix("export ").split("=", 1)]
            return None
        mpi = mpis.WHEELS["OMPI_" in command]
        path = os.pathsep.join([str(Path(sys.executable).parent), str(mpi.home / "bin"), os.environ["PATH"]])
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("SHOAL_", "LD_"))}
        env = clean | mpis.OPEN_MPI | OVERSUBSCRIBE | self.exported | {"PATH": path}
        line = ["timeout", "300", "bash", "-c", command.replace("./program", f"./program-{mpi.name}")]
        for _ in range(3):
            done = subprocess.run(line, cwd=self.directory, env=env, capture_output=True, text=True, check=False)
            if "the machine is busy" not in done.stderr:  # which is no fault of the command
                break
        return None if done.returncode == 0 else f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}"


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    for mpi in mpis.WHEELS:
        if mpi.missing():
            pytest.skip(mpi.missing())
    return Reader(tmp_path_factory.mktemp("reader"))


def lacks(command):
    """What this command needs and this machine lacks, or None."""
    if re.search("simulate(?!.*--(model|events))", command) and not SIMULATED.exists():
        return "SimGrid: make build-smpi"
    if re.search("shoal emulate|--emulate|aapc", command) and os.geteuid() != 0:
        return "root, for network namespaces"
    return None


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands(document, reader, subtests):
    if document not in GUIDES and os.environ.get("SHOAL_EXHAUSTIVE") != "1":
        pytest.skip("a command of each figure takes minutes in all; SHOAL_EXHAUSTIVE=1")
    reader.exported = {}
    for command in commands(document):
        if not reason_not_to(command):
            with subtests.test(command=command):
                if lacks(command):
                    pytest.skip(lacks(command))
                assert not reader.type(made_small(command))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_nothing_else_is_shown(document):
    """A line that is no command of ours belongs in a block with a language, or in NOT_RUN with a reason."""
    known = re.compile(r'(\w+=("[^"]*"|\S+) )*(\.venv/bin/)?(shoal|mpiexec|python (bench/|-c )|export SHOAL_)')
    assert [line for line in commands(document) if not known.match(line) and not reason_not_to(line)] == []


@pytest.mark.parametrize("pattern", NOT_RUN)
def test_exceptions_are_of_use(pattern):
    assert any(re.fullmatch(pattern, command) for document in DOCUMENTS for command in commands(document))
