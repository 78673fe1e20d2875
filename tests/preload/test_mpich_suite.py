"""MPICH's own tests of collectives end the same with Shoal as without, whatever algorithm is forced.

tools/mpich-tests fetches and builds them. They run only with SHOAL_EXHAUSTIVE=1, on 4, 5, 8 and 10 ranks: with every
algorithm the tests that exchange all-to-all or among neighbours, or gather between groups; and with `auto` all tests of
the suite's lists. A test that does not pass without Shoal, perhaps because it does not end in time, proves nothing and
is skipped.
"""

import os
from collections import Counter

import pytest

from mpis import ROOT, served, warnings

pytestmark = pytest.mark.skipif(os.environ.get("SHOAL_EXHAUSTIVE") != "1", reason="takes minutes; SHOAL_EXHAUSTIVE=1")
RANKS = [4, 5, 8, 10]
# Tests that call MPI_Alltoall(v, w) among ranks of one communicator, and MPI_Allgather(v) between two groups.
ALLTOALL = ["coll/alltoall1", "coll/alltoallv", "coll/alltoallv0", "coll/coll13", "errors/coll/noalias2"]
ALLTOALL += ["coll/alltoallw1", "coll/alltoallw2", "coll/alltoallw_zeros"]
# Tests of persistent and nonblocking exchanges. The MPI serves the nonblocking ones, because no blocking call of the
# same name comes before.
REQUESTS = ["coll/p_alltoall", "coll/p_alltoallv", "coll/p_alltoallw"]
REQUESTS += ["coll/nballtoall1", "coll/nonblocking", "coll/nonblocking2", "coll/nonblocking3"]
NEIGHBORS = [f"coll/{how}neighb_alltoall{form}" for how in ("", "p_") for form in ("", "v", "w")]
ALLGATHER = ["coll/icallgather", "coll/icallgatherv"]
CASES = [("alltoall", ALLTOALL), ("alltoall", REQUESTS), ("neighbor_alltoall", NEIGHBORS), ("allgather", ALLGATHER)]
VARIANTS = {"alltoall": ["tuna:radix=2", "tuna:radix=3,inflight=1", "bruck:radix=2,variant=basic"], "allgather": []}
VARIANTS |= {"neighbor_alltoall": ["direct:local=messages", "gathered:carriers=1,local=messages"]}
QUICK, SLOWEST = 40, 400  # seconds that a test may take without Shoal, and with it


def suite(mpi):
    directory = ROOT / ".cache/mpich-tests" / mpi.name
    if not (directory / "coll/alltoall1").exists():
        pytest.skip(f"there is no {directory}; tools/mpich-tests {mpi.name} {mpi.home} makes it")
    return directory


def outcome(run):
    """Whether a test passed or failed. What else a failed test prints changes from run to run."""
    return "passed" if run.returncode == 0 and "No Errors" in run.stdout else "failed"


class Plain:
    """Whether tests pass without Shoal; each is run once."""

    def __init__(self):
        self.known = {}

    def __call__(self, mpi, test, ranks, *arguments):
        key = mpi.name, test, ranks, arguments
        if key not in self.known:
            command = [suite(mpi) / test, *arguments]
            self.known[key] = outcome(mpi.run(ranks, command, timeout=QUICK, preload=False)) == "passed"
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


def forced(collective, spec, equal_only, ranks):
    name = collective.upper()
    how = {f"SHOAL_{name}": spec, "SHOAL_REPORT": 1}
    for form in "" if spec.split(":")[0] in equal_only else "V" if collective == "allgather" else "VW":
        how[f"SHOAL_{name}{form}"] = spec
    return how | ({"SHOAL_LAYOUT": f"{ranks - 2},2"} if collective == "neighbor_alltoall" else {})


@pytest.mark.parametrize("collective, tests", CASES, ids=["alltoall", "requests", "neighbors", "allgather"])
@pytest.mark.parametrize("ranks", RANKS)
def test_every_algorithm(mpi, plain, compiled, subtests, ranks, collective, tests):
    names, equal_only = algorithms(mpi, collective, compiled(mpi, "exchange.c"))
    for spec in names + VARIANTS[collective]:
        ends, calls, why_not = Counter(), Counter(), []
        with subtests.test(algorithm=spec):
            for test in [one for one in tests if plain(mpi, one, ranks)]:
                run = mpi.run(
                    ranks, [suite(mpi) / test], timeout=SLOWEST, **forced(collective, spec, equal_only, ranks)
                )
                ends[outcome(run)] += 1
                calls.update({of: n for (of, by), n in served(run).items() if spec in ("auto", by)})
                why_not += warnings(run)
                assert outcome(run) == "passed", f"{test}: {run.stdout}{run.stderr}"
            print(f"{mpi.name} {ranks} {spec}: {dict(ends)} {dict(calls)} {why_not[:1]}", flush=True)
            assert calls or why_not


def listed():
    """Every test of the suite's own lists with its arguments; they are the same for each MPI."""
    for part in ["coll", "errors/coll"]:
        for file in sorted((ROOT / ".cache/mpich-tests").glob(f"*/{part}/testlist"))[:1]:
            for line in file.read_text().splitlines():
                words = line.partition("#")[0].split()
                if words:
                    yield " ".join([f"{part}/{words[0]}", *(w[4:] for w in words[2:] if w.startswith("arg="))])


@pytest.mark.parametrize("test", dict.fromkeys(listed()))
@pytest.mark.parametrize("ranks", RANKS)
def test_whole_list(mpi, ranks, test, plain):
    """With the algorithms that Shoal chooses."""
    program, *arguments = test.split()
    if not (suite(mpi) / program).exists():
        pytest.skip("was not built")
    if not plain(mpi, program, ranks, *arguments):
        pytest.skip("does not pass without Shoal")
    run = mpi.run(ranks, [suite(mpi) / program, *arguments], timeout=SLOWEST)
    assert outcome(run) == "passed", run.stdout + run.stderr
