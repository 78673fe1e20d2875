"""mpi4py's own tests of collectives give the same results with Shoal as without, whatever algorithm is forced.

By default this runs the tests of all-to-all exchanges on 3 ranks, with `auto` and with one algorithm, which differs
from MPI to MPI, and with elements of 1 and 16 bytes. With SHOAL_EXHAUSTIVE=1 it runs them on 3 and 4 ranks with
every algorithm of the table and elements of every type, and once more on duplicates of the communicators, and all tests
of collectives with `auto`; also on Open MPI 4.1. Exchanges that do not block, and those among neighbours, have elements
of every size instead: every type took two and a half times as long.
"""

import importlib.metadata
import itertools
import json
import os
import re
import sys
from collections import Counter
from fnmatch import fnmatch

import pytest

from mpis import OTHERS, ROOT, WHEELS, served, warnings

EXHAUSTIVE = os.environ.get("SHOAL_EXHAUSTIVE") == "1"
RANKS = [3, 4] if EXHAUSTIVE else [3]
MPIS = WHEELS + [one for one in OTHERS if EXHAUSTIVE and one.name == "openmpi-4.1"]
# Other tests do not depend on the algorithm. The classes of tests whose names end with Dup repeat those of another.
EXCHANGES = "*lltoall*" if EXHAUSTIVE else "*[!p].test*lltoall*"
TYPES = "all" if EXHAUSTIVE else "bD"  # elements of 1 and 16 bytes; other tests have those of 4 and 8
SIZES = "bhidDG" if EXHAUSTIVE else TYPES  # elements of 1, 2, 4, 8, 16 and 32 bytes
ALL_MODULES = "test_cco_*.py"
MODULES = "test_cco_[bov]*.py"
LEFT_MODULES = "test_cco_[np]*.py"  # nonblocking, persistent, among neighbours
SOME = {"mpich": ["pairwise"], "openmpi": ["tuna:radix=2"]}
NEIGHBORS = ["direct", "gathered", "direct:local=messages", "gathered:carriers=1,local=messages"]
VARIANTS = ["tuna:radix=2", "tuna:radix=3,inflight=1", "bruck:radix=2,variant=basic"]


@pytest.fixture(params=MPIS, ids=lambda mpi: mpi.name, scope="module")
def mpi(request):
    if request.param.missing():
        pytest.skip(request.param.missing())
    return request.param


def suite():
    """The directory of the tests, in the source package of the mpi4py that is installed."""
    try:
        version = importlib.metadata.version("mpi4py")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("mpi4py is not installed")
    directory = ROOT / f".cache/mpi4py-{version}/test"
    if not directory.is_dir():
        pytest.skip(f"there is no {directory}; `make test` fetches it")
    return directory


@pytest.fixture(scope="module")
def expected_of(tmp_path_factory):
    """expected_of(mpi, ranks, files): the outcomes of the tests of exchanges in `files` without Shoal.

    They run once for each MPI and number of ranks.
    """
    known = {}

    def expected_of(mpi, ranks, files):
        if (mpi.name, ranks) not in known:
            output = tmp_path_factory.mktemp(mpi.name) / "expected"
            outcomes = run_suite(mpi, ranks, output, EXCHANGES, ALL_MODULES, preload=False)[1]
            # A test that fails without Shoal, as where it misses one of the types left out, would compare nothing.
            assert not any("failed" in of_rank.values() for of_rank in outcomes), outcomes
            known[mpi.name, ranks] = outcomes
        return [
            {test: how for test, how in of_rank.items() if fnmatch(module_of(test), files)}
            for of_rank in known[mpi.name, ranks]
        ]

    return expected_of


def module_of(test):
    return test.split(".")[0] + ".py"


def run_suite(mpi, ranks, output, pattern, files=MODULES, types=TYPES, **how):
    tests = suite()
    modules = [path.stem for path in sorted(tests.glob(files))]
    runner = ROOT / "tests/preload/rank_results.py"
    # One mpi4py serves all MPIs: this names the one to load. Under the preload it is loaded already.
    where = {"MPI4PY_LIBMPI": mpi.libraries}
    command = [sys.executable, runner, output, tests, pattern, types, *modules]
    run = mpi.run(ranks, command, timeout=900, **where, **how)
    assert run.returncode == 0, run.stdout + run.stderr
    return run, json.loads(output.read_text())


def table(mpi, program):
    """The names of all algorithms, and of those for equal blocks only, as the library tells them."""

    def refusal(value):
        return warnings(mpi.run(1, [program], SHOAL_ALLTOALLV=value))

    names = refusal("?")[0].split("; there are ")[1].split(";")[0].split(", ")
    return names, {name for name in names if any("equal blocks" in line for line in refusal(name))}


def forced(spec, uniform_only):
    how = {"SHOAL_ALLTOALL": spec, "SHOAL_REPORT": 1}
    return how if spec.split(":")[0] in uniform_only else how | {"SHOAL_ALLTOALLV": spec, "SHOAL_ALLTOALLW": spec}


def taken(run, spec):
    """The number of calls of each collective that `spec` served; with `auto`, all that Shoal reported."""
    counts = Counter({"alltoall": 0, "alltoallv": 0, "alltoallw": 0})
    for (collective, how), calls in served(run).items():
        if spec in ["auto", how]:
            counts[collective] += calls
    return counts


def row(mpi, spec, results, counts):
    outcomes = ", ".join(f"{n} {outcome}" for outcome, n in sorted(Counter(results[0].values()).items()))
    return f"{mpi.name:8} {len(results)} ranks  {spec:30} {outcomes:26} {dict(counts)}"


@pytest.mark.parametrize("ranks", RANKS)
def test_same_results(mpi, ranks, compiled, expected_of, tmp_path, subtests):
    names, uniform_only = table(mpi, compiled(mpi, "exchange.c")) if EXHAUSTIVE else ([], set())
    expected = expected_of(mpi, ranks, MODULES)
    assert len(expected) == ranks and "passed" in expected[0].values()
    for spec in names + VARIANTS if EXHAUSTIVE else ["auto", *SOME[mpi.name]]:
        with subtests.test(algorithm=spec):
            run, results = run_suite(mpi, ranks, tmp_path / "results", EXCHANGES, **forced(spec, uniform_only))
            counts = taken(run, spec)
            print(row(mpi, spec, results, counts))
            assert results == expected
            if any("cannot serve" in line for line in warnings(run)):
                pytest.skip(warnings(run)[0])
            assert not warnings(run)
            assert counts["alltoall"] > 0
            assert min(counts["alltoallv"], counts["alltoallw"]) > 0 or spec.split(":")[0] in uniform_only


@pytest.mark.parametrize("ranks", RANKS)
def test_calls_left_to_the_mpi(mpi, ranks, expected_of, tmp_path):
    """The tests of these calls are the same as without Shoal, and have the same outcomes."""
    run, results = run_suite(mpi, ranks, tmp_path / "results", EXCHANGES, LEFT_MODULES, SHOAL_REPORT=1)
    assert results == expected_of(mpi, ranks, LEFT_MODULES)
    assert "shoal: left to the MPI: ialltoallw (nonblocking; set SHOAL_ALLTOALLW=SPEC" in run.stderr


@pytest.mark.parametrize("ranks", RANKS)
def test_requests_and_neighbors(mpi, ranks, compiled, expected_of, tmp_path, subtests):
    """Nonblocking and persistent exchanges, and those among neighbours, with algorithms forced."""
    names, uniform_only = table(mpi, compiled(mpi, "exchange.c")) if EXHAUSTIVE else (SOME[mpi.name], set())
    specs = [name for name in names + VARIANTS * EXHAUSTIVE if name != "native"]
    forms = {f"neighbor_alltoall{form}" for form in ("", "v", "w")}
    among = itertools.islice(itertools.cycle(NEIGHBORS), MPIS.index(mpi), None)  # each MPI begins with another one
    for spec, among_neighbors in zip(specs, among, strict=False):
        how = forced(spec, uniform_only) | {f"SHOAL_{form.upper()}": among_neighbors for form in forms}
        with subtests.test(algorithm=spec, among_neighbors=among_neighbors):
            output = tmp_path / "results"
            how["SHOAL_LAYOUT"] = f"{ranks - 1},1"
            run, results = run_suite(mpi, ranks, output, EXCHANGES, LEFT_MODULES, SIZES, **how)
            print(row(mpi, spec, results, taken(run, spec)))
            assert results == expected_of(mpi, ranks, LEFT_MODULES)
            assert {call for call, by in served(run) if by == among_neighbors} == forms
            if any("cannot serve" in line for line in warnings(run)):
                pytest.skip(warnings(run)[0])
            assert not warnings(run)
            if mpi.name == "openmpi-4.1":  # no persistent calls, and no blocking call before the others
                continue
            assert taken(run, spec)["alltoall"] > 0
            if spec.split(":")[0] in uniform_only:
                continue
            assert min(taken(run, spec).values()) > 0
            why = set(re.findall(r"left to the MPI: (?:ialltoall[vw]?|alltoall[vw]?_init) \((.*)\),", run.stderr))
            assert why <= {"one rank", "before a blocking or persistent call of the same name on this communicator"}


@pytest.mark.skipif(not EXHAUSTIVE, reason="takes minutes; SHOAL_EXHAUSTIVE=1 runs it")
@pytest.mark.parametrize("ranks", RANKS)
def test_all_collectives(mpi, ranks, tmp_path):
    """Also the collectives that Shoal does not take."""
    _, expected = run_suite(mpi, ranks, tmp_path / "expected", "*", ALL_MODULES, preload=False)
    run, results = run_suite(mpi, ranks, tmp_path / "results", "*", ALL_MODULES, SHOAL_REPORT=1)
    print(row(mpi, "auto", results, taken(run, "auto")))
    assert results == expected and not warnings(run)
