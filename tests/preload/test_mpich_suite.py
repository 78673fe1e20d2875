"""MPICH's own tests of collectives end the same with Shoal as without, whatever algorithm is forced.

tools/mpich-tests fetches and builds them. Only with SHOAL_EXHAUSTIVE=1: every test that exchanges all-to-all or gathers
between groups, with every algorithm, on 4, 5, 8 and 10 ranks; and all others of the list with `auto`.
"""

import os
from collections import Counter

import pytest

from mpis import ROOT, served, warnings

pytestmark = pytest.mark.skipif(os.environ.get("SHOAL_EXHAUSTIVE") != "1", reason="takes minutes; SHOAL_EXHAUSTIVE=1")
RANKS = [4, 5, 8, 10]
# What calls MPI_Alltoall(v) among ranks of one communicator, and MPI_Allgather(v) between two groups.
ALLTOALL = ["coll/alltoall1", "coll/alltoallv", "coll/alltoallv0", "coll/coll13", "errors/coll/noalias2"]
ALLGATHER = ["coll/icallgather", "coll/icallgatherv"]
# Without Shoal already these crash, or fail to end in minutes on few cores; none makes a call that Shoal serves.
LEFT_OUT = {"nonblocking2", "nonblocking3", "gather_big", "uoplong", "bcast"}
VARIANTS = {"alltoall": ["tuna:radix=2", "tuna:radix=3,inflight=1", "bruck:radix=2,variant=basic"], "allgather": []}
SLOWEST = 600  # seconds, on a machine that is busy


def suite(mpi):
    directory = ROOT / ".cache/mpich-tests" / mpi.name
    if not (directory / "coll/alltoall1").exists():
        pytest.skip(f"there is no {directory}; tools/mpich-tests {mpi.name} {mpi.home} makes it")
    return directory


def outcome(run):
    """What a test says. Of a failed one only that it failed: what else it prints changes from run to run."""
    return "passed" if run.returncode == 0 and "No Errors" in run.stdout else "failed"


def serves(mpi, test):
    """Open MPI looks at few arguments: tests that want wrong ones reported do not end there."""
    return mpi.name != "openmpi" or not test.startswith("errors/")


class Plain:
    """Runs without Shoal, each made once."""

    def __init__(self):
        self.known = {}

    def __call__(self, mpi, test, ranks, *arguments):
        key = mpi.name, test, ranks, arguments
        if key not in self.known:
            command = [suite(mpi) / test, *arguments]
            self.known[key] = outcome(mpi.run(ranks, command, timeout=SLOWEST, preload=False))
        return self.known[key]


@pytest.fixture(scope="module")
def plain():
    return Plain()


def algorithms(mpi, collective, program):
    """All names, and those that serve only calls with equal blocks."""

    def refusal(value):
        variable = f"SHOAL_{collective.upper()}V"
        return warnings(mpi.run(1, [program], **{variable: value}))

    names = refusal("?")[0].split("; there are ")[1].split(";")[0].split(", ")
    return names, {name for name in names if any("equal blocks" in line for line in refusal(name))}


def forced(collective, spec, equal_only):
    name = collective.upper()
    both = {f"SHOAL_{name}": spec, "SHOAL_REPORT": 1}
    return both if spec.split(":")[0] in equal_only else both | {f"SHOAL_{name}V": spec}


@pytest.mark.parametrize("collective, tests", [("alltoall", ALLTOALL), ("allgather", ALLGATHER)])
@pytest.mark.parametrize("ranks", RANKS)
def test_every_algorithm(mpi, plain, compiled, subtests, ranks, collective, tests):
    names, equal_only = algorithms(mpi, collective, compiled(mpi, "exchange.c"))
    for spec in names + VARIANTS[collective]:
        ends, calls, why_not = Counter(), Counter(), []
        with subtests.test(algorithm=spec):
            for test in [one for one in tests if serves(mpi, one)]:
                run = mpi.run(ranks, [suite(mpi) / test], timeout=SLOWEST, **forced(collective, spec, equal_only))
                ends[outcome(run)] += 1
                calls.update({of: n for (of, by), n in served(run).items() if spec in ("auto", by)})
                why_not += warnings(run)
                assert outcome(run) == plain(mpi, test, ranks), f"{test}: {run.stdout}{run.stderr}"
            print(f"{mpi.name} {ranks} {spec}: {dict(ends)} {dict(calls)} {why_not[:1]}", flush=True)
            assert calls or why_not


def listed(directory):
    """(test, ranks, arguments) of the suite's own lists."""
    for part in ["coll", "errors/coll"]:
        for line in (directory / part / "testlist").read_text().splitlines():
            words = line.partition("#")[0].split()
            if len(words) >= 2 and words[0] not in LEFT_OUT and (directory / part / words[0]).exists():
                arguments = [word.removeprefix("arg=") for word in words[2:] if word.startswith("arg=")]
                yield f"{part}/{words[0]}", int(words[1]), arguments


def test_whole_list(mpi, plain):
    """As listed, with what Shoal chooses."""
    ends, different = Counter(), []
    for test, ranks, arguments in listed(suite(mpi)):
        if not serves(mpi, test):
            continue
        expected = plain(mpi, test, ranks, *arguments)
        got = outcome(mpi.run(ranks, [suite(mpi) / test, *arguments], timeout=SLOWEST))
        ends[got] += 1
        if got != expected:
            different.append(f"{test} on {ranks} {arguments}: {expected} without, {got} with Shoal")
    print(f"{mpi.name:8} whole list: {dict(ends)}", flush=True)
    assert not different
