"""Programs that use communicators and end in unusual ways, and programs with a device runtime."""

import re

import pytest

import mpis
from mpis import left, served, warnings

TUNA = {"SHOAL_ALLTOALL": "tuna", "SHOAL_ALLTOALLV": "tuna", "SHOAL_REPORT": 1}


@pytest.mark.parametrize(
    "case, calls",
    [
        ("early_callback", 1),  # the callback's exchange is the MPI's own, whenever it runs
        ("late_callback", 1),
        ("uneven_callback", 2),  # one of them by rank 0 alone
        ("never_freed", 3),
        ("freed_in_callback", 1),
        ("reused", 20),
        ("attribute", 1),  # Shoal's communicator does not get the program's attributes
        ("session", None),  # Shoal needs MPI_Init
        ("session_first", 1),  # the one on the world
        ("no_environment", 1),
    ],
)
def test_lifetime(mpi, compiled, case, calls):
    run = mpi.run(3, [compiled(mpi, "lifetimes.c"), case], **TUNA)
    assert run.returncode == 0, run.stderr
    verdicts = [line for line in run.stdout.splitlines() if "faults" in line]
    assert verdicts and all(line.endswith("faults: 0") for line in verdicts), run.stdout
    assert len(verdicts) == (1 + 3 * ("callback" in case) if case != "session" else 3)
    assert served(run) == ({("alltoall", "tuna"): calls} if calls else {})


def test_hundreds_of_communicators(mpi, compiled):
    """Shoal only counts their first calls, and may not notice that a new one has the number of a freed one."""
    run = mpi.run(3, [compiled(mpi, "lifetimes.c"), "crowded"])
    assert (run.returncode, run.stdout) == (0, "faults: 0\n"), run.stderr


def test_status_of_a_rank_that_exits(mpi, compiled):
    """MPICH's launcher gives the status of the rank that it ends itself if that ends first, without Shoal too."""
    command = [compiled(mpi, "lifetimes.c"), "exits"]
    statuses = [(mpi.run(2, command, preload=False).returncode, mpi.run(2, command).returncode) for _ in range(3)]
    assert any(without == served != 0 for without, served in statuses), statuses


# How often the functions of each attribute are called.
CALLBACKS = {"free": 3, "disconnect": 3, "copy": 9, "self": 1, "world": 1}


@pytest.mark.parametrize("numbers", [(2, 0, 0), (0, 1, 2), (2, 1, 2)], ids=str)
@pytest.mark.parametrize("case", CALLBACKS)
def test_exchanges_in_functions_of_attributes(mpi, compiled, case, numbers):
    """MPICH itself looks up attributes wrongly while it deletes them."""
    run = mpi.run(2, [compiled(mpi, "callbacks.c"), case, *numbers], **TUNA)
    are_called = case != "world" or mpi.name == "mpich"  # Open MPI never deletes the attributes of MPI_COMM_WORLD
    times = CALLBACKS[case] * (numbers[0] + numbers[2]) * are_called
    assert (run.returncode, run.stdout) == (0, f"faults: 0, exchanges in functions: {times}\n" * 2), run.stderr


@pytest.mark.parametrize("asked", [{}, {"SHOAL_ALLTOALL": "shared"}, {"SHOAL_ALLTOALL": "tuna"}], ids=str)
def test_exchanges_while_a_communicator_is_duplicated(mpi, compiled, asked):
    """Open MPI then needs the communicator for that alone, so the ranks cannot agree on it."""
    run = mpi.run(4, [compiled(mpi, "duplicated.c"), 5, 1 if asked else 200], SHOAL_REPORT=1, **asked)
    assert (run.returncode, run.stdout) == (0, "faults: 0\n"), run.stderr
    assert ("MPI_Comm_idup was called" in run.stderr) == (mpi.name == "openmpi")


@pytest.mark.parametrize("case", ["early_freed", "freed_before_late"])
def test_freed_while_ranks_vote(mpi, compiled, case):
    run = mpi.run(4, [compiled(mpi, "lifetimes.c"), case])
    assert (run.returncode, run.stdout) == (0, "faults: 0\n"), run.stderr


def test_room_for_one_buffered_message(mpi, compiled):
    """Open MPI takes back the room of a message only while it makes progress."""
    run = mpi.run(3, [compiled(mpi, "buffered.c"), 300, 1_000_000], SHOAL_ALLTOALL="shared")
    assert (run.returncode, run.stdout) == (0, "calls: 300\n"), run.stderr


@pytest.mark.parametrize("asked", [{}, TUNA])
def test_mpi_ends_as_the_program_exits(mpi, compiled, asked):
    run = mpi.run(2, [compiled(mpi, "at_exit.cpp", "-lstdc++")], **asked)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("spec", ["shared", "hierarchical:local=shared", "tuna"])
def test_what_the_program_has_under_way_moves(mpi, compiled, spec):
    """As it does in the MPI's own exchanges, of which two or three are enough."""
    run = mpi.run(3, [compiled(mpi, "progress.c")], SHOAL_ALLTOALL=spec)
    assert run.returncode == 0 and int(run.stdout.split()[-1]) < 50, run.stdout + run.stderr


@pytest.mark.parametrize("where, taken", [("world", True), ("halves", True), ("self", True), ("inter", False)])
def test_communicator(mpi, compiled, where, taken):
    """Also if the world is never used. Shoal leaves inter-communicators to the MPI, and only the report says so."""
    run = mpi.run(4, [compiled(mpi, "exchange.c"), where], **TUNA)
    assert (run.returncode, run.stdout.split()) == (0, ["faults:", "0"]), run.stderr
    assert served(run) == ({("alltoall", "tuna"): 3, ("alltoallv", "tuna"): 2} if taken else {})
    if not taken:
        assert left(run) == {"alltoall": 3, "alltoallv": 2} and len(run.stderr.splitlines()) == 3


def test_more_communicators_than_shoal_takes(one_mpi, compiled):
    """512 of 600 get a communicator of Shoal's own. The others keep the MPI's collectives, on all ranks alike."""
    run = one_mpi.run(2, [compiled(one_mpi, "exchange.c"), "many"], **TUNA)
    assert (run.returncode, run.stdout.split()) == (0, ["faults:", "0"]), run.stderr
    calls = served(run)
    assert (calls["alltoall", "tuna"], calls["alltoallv", "tuna"]) == (3 * 512, 2 * 512)
    assert not warnings(run) and left(run) == {"alltoall": 3 * 88, "alltoallv": 2 * 88}
    (reason,) = set(re.findall(r"left to the MPI: \w+ \((.*)\)", run.stderr))
    assert reason == "Shoal has its limit of 512 communicators in use"
    assert len([line for line in run.stderr.splitlines() if line.startswith("shoal: ")]) < 10, "bounded"


@pytest.mark.parametrize("algorithm", ["auto", "tuna", "shared"])
def test_ranks_started_apart(mpi, compiled, monkeypatch, algorithm):
    """Spawned ranks have no preload here. The MPI serves exchanges with them, and no rank waits for them in Shoal."""
    monkeypatch.setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
    program = compiled(mpi, "apart.c")
    settings = {} if algorithm == "auto" else {"SHOAL_ALLTOALL": algorithm}
    run = mpi.run(2, [program, program], **settings)
    assert (run.returncode, run.stdout) == (0, "right\n"), run.stderr
    assert len(warnings(run)) == (0 if algorithm == "auto" else 1), run.stderr


def test_spawned_ranks_that_seem_to_be_of_the_world(compiled):
    """MPICH 4.0 takes spawned ranks for ranks of the world."""
    mpich = next(one for one in mpis.OTHERS if one.name == "mpich-4.0")
    if mpich.missing():
        pytest.skip(mpich.missing())
    program = compiled(mpich, "apart.c")
    run = mpich.run(2, [program, program], timeout=60)
    assert (run.returncode, run.stdout) == (0, "right\n"), run.stderr


LACKING = "some ranks of the job run without Shoal's preload"


@pytest.mark.parametrize("preloaded", [(True, False), (False, True), (True, True)])
def test_job_of_two_parts(mpi, compiled, preloaded):
    """Rank 0 reports, so there is a report only if it has the preload."""
    command = [compiled(mpi, "apart.c")]
    parts = [mpi.ranks(2, command, preload=preload, SHOAL_REPORT=1) for preload in preloaded]
    run = mpi.launch(*parts, timeout=60)
    assert (run.returncode, run.stdout) == (0, "right\n"), run.stderr
    assert (LACKING in run.stderr) == (preloaded == (True, False)), run.stderr


def test_parts_that_connect(mpi, compiled):
    if mpi.name == "mpich":
        pytest.skip("its MPI_Open_port fails here, without Shoal too")
    run = mpi.run(4, [compiled(mpi, "apart.c"), "connect"], timeout=60)
    assert (run.returncode, run.stdout) == (0, "right\n"), run.stderr


def test_forked_processes_report_nothing(mpi, compiled):
    if mpi.name == "mpich":
        pytest.skip("it ends programs whose forked processes end behind MPI_Finalize")
    run = mpi.run(2, [compiled(mpi, "lifetimes.c"), "forks"], **TUNA)
    assert run.returncode == 0, run.stderr
    assert len([line for line in run.stderr.splitlines() if line.startswith("shoal: ")]) == 2, run.stderr
    assert run.stderr.count("shoal: loaded for") == 1


def test_script_between(mpi, compiled):
    """A shell that starts the program loads the preload too, and works as usual."""
    script = 'test "$(echo on the way)" = "on the way" && exec "$0"'
    run = mpi.run(2, ["sh", "-c", script, compiled(mpi, "exchange.c")], **TUNA)
    assert (run.returncode, run.stdout.split()) == (0, ["faults:", "0"]), run.stderr
    assert served(run) == {("alltoall", "tuna"): 3, ("alltoallv", "tuna"): 2}


def device_program(mpi, compiled, kind="cuda"):
    """(the program, a device runtime for it)"""
    library = {"cuda": "libcuda.so.1", "hip": "libamdhip64.so.6"}[kind]
    runtime = compiled(mpi, f"fake_{kind}.c", "-shared", "-fPIC").with_name(library)
    runtime.unlink(missing_ok=True)
    runtime.symlink_to(f"fake_{kind}")
    return compiled(mpi, "device.c", "-rdynamic", "-ldl"), runtime


@pytest.mark.parametrize("kind, loaded", [("cuda", "preloaded"), ("cuda", "early"), ("hip", "early")])
def test_device_memory(mpi, compiled, kind, loaded):
    """If one rank gives device memory, the MPI's own collective serves all ranks. Shoal serves host memory.

    Shoal serves nothing while HIP holds an error that the program has not seen: if Shoal asked HIP, it would be lost.
    """
    program, runtime = device_program(mpi, compiled, kind)
    before, arguments = ([runtime], []) if loaded == "preloaded" else ([], [runtime, loaded])
    run = mpi.run(3, [program, *arguments], before=before, **TUNA)
    own = 7 if kind == "hip" else 0
    assert (run.returncode, run.stdout.strip()) == (0, f"faults: 0, asked: 1, error: {own}"), run.stderr
    assert served(run) == {("alltoall", "tuna"): 1, ("alltoallv", "tuna"): 2}


@pytest.mark.parametrize("algorithm", ["tuna", "shared", "linear"])
def test_device_runtime_behind_the_first_exchanges(mpi, compiled, algorithm):
    """The other ranks do not know of it, so Shoal serves the call, and the MPI packs what lies on the device."""
    program, runtime = device_program(mpi, compiled)
    asked = {"SHOAL_ALLTOALL": algorithm, "SHOAL_ALLTOALLV": algorithm, "SHOAL_REPORT": 1}
    run = mpi.run(3, [program, runtime, "late"], **asked)
    assert (run.returncode, run.stdout.strip()) == (0, "faults: 0, asked: 1, error: 0"), run.stderr
    assert served(run) == {("alltoall", algorithm): 3, ("alltoallv", algorithm): 4}


def test_device_memory_without_runtime(mpi, compiled):
    run = mpi.run(3, [device_program(mpi, compiled)[0]], **TUNA)
    assert (run.returncode, run.stdout.strip()) == (0, "faults: 0, asked: 0, error: 0"), run.stderr
    assert served(run) == {("alltoall", "tuna"): 3, ("alltoallv", "tuna"): 4}


def test_device_runtime_on_one_rank(mpi, compiled):
    """The other ranks cannot know by themselves that device memory is possible."""
    program, runtime = device_program(mpi, compiled)
    run = mpi.launch(mpi.ranks(2, [program], **TUNA), mpi.ranks(1, [program], before=[runtime], **TUNA))
    assert (run.returncode, run.stdout.strip()) == (0, "faults: 0, asked: 0, error: 0"), run.stderr
    assert served(run) == {("alltoall", "tuna"): 1, ("alltoallv", "tuna"): 2}


def calls_before_vote(mpi):
    """The number for few ranks that send little (src/learn/first_calls.cpp)."""
    return 384 if mpi.name.startswith("openmpi") else 96


def test_communicators_in_turn(mpi, compiled):
    """All begin their first agreement before any of these has ended, and only few may be made."""
    assert 0 < agreements(mpi, compiled, 100, calls_before_vote(mpi) + 34) < 20


def test_communicator_behind_one_that_is_used_no_more(mpi, compiled):
    """The vote on the first one never ends. The ranks must agree on the second one all the same."""
    assert agreements(mpi, compiled, 2, 10 * calls_before_vote(mpi), calls_before_vote(mpi)) > 2


def test_repeating_calls(mpi, compiled):
    """Shoal counts most of them separately, and all ranks agree in the same calls all the same."""
    assert agreements(mpi, compiled, 4 * calls_before_vote(mpi), program="repeating.c", ranks=3) > 1


def test_threads_learn_beside_each_other(mpi, compiled):
    """With three ranks, because two ranks of Open MPI, with a core each, take ten seconds, also without Shoal."""
    done = mpi.run(3, [compiled(mpi, "threads.c", "-lpthread"), 1000], SHOAL_REPORT=1)
    assert (done.returncode, done.stdout) == (0, "faults: 0\n"), done.stdout + done.stderr
    assert sum(calls for (name, _), calls in served(done).items() if name.startswith("alltoall")) == 3000


def test_ranks_with_different_levels_of_threads(mpi, compiled):
    """Ranks with one thread know the order of votes, and ranks with several threads do not."""
    program = compiled(mpi, "thread_levels.c")
    done = mpi.launch(mpi.ranks(1, [program, 0], SHOAL_REPORT=1), mpi.ranks(2, [program, 1], SHOAL_REPORT=1))
    assert (done.returncode, done.stdout) == (0, "faults: 0\n"), done.stdout + done.stderr
    assert "different numbers of calls" not in done.stderr


def test_error_of_an_agreement_is_told_once(mpi, compiled):
    done = mpi.run(3, [compiled(mpi, "failed_agreement.c", "-rdynamic", "-ldl")])
    assert (done.returncode, done.stdout) == (0, "handled 1, errors 1, wrong 0\n"), done.stdout + done.stderr


def agreements(mpi, compiled, *arguments, program="in_turn.c", ranks=2):
    done = mpi.run(ranks, [compiled(mpi, program, "-rdynamic", "-ldl"), *arguments])
    faults, number = re.fullmatch(r"faults (\d+), agreements (\d+)\n", done.stdout).groups()
    assert int(faults) == 0
    return int(number)
