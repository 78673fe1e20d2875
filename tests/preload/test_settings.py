"""Settings under the preload: after a wrong one, one rank prints one warning, and the MPI's own collectives serve."""

import os
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from mpis import served, warnings

RANKS = 4
WRONG = {
    "unknown algorithm": ({"SHOAL_ALLTOALLV": "tunna"}, ["tunna", "two_phase"]),
    "unknown algorithm, uniform": ({"SHOAL_ALLTOALL": "brock"}, ["brock", "bruck"]),
    "radix too small": ({"SHOAL_ALLTOALLV": "tuna:radix=1"}, ["radix=1", "2 to"]),
    "radix no number": ({"SHOAL_ALLTOALLV": "tuna:radix=two"}, ["radix=two", "2 to"]),
    "radix without value": ({"SHOAL_ALLTOALLV": "tuna:radix"}, ["'radix'", "radix="]),
    "nothing after the colon": ({"SHOAL_ALLTOALLV": "tuna:"}, ["parameter=value"]),
    "unknown parameter": ({"SHOAL_ALLTOALLV": "tuna:base=8"}, ["'base'", "radix"]),
    "only for equal blocks": ({"SHOAL_ALLTOALLV": "bruck:radix=2"}, ["bruck", "equal blocks"]),
    "unknown waiting": ({"SHOAL_WAIT": "politely"}, ["politely", "yield"]),
    "malformed layout": ({"SHOAL_LAYOUT": "2,x"}, ["2,x", "socket, numa, cache"]),
    "unknown switch": ({"SHOAL_VERIFY": "maybe"}, ["maybe", "use 0 or 1"]),
    "no such file": ({"SHOAL_CONFIG": "/nowhere/shoal.toml"}, ["/nowhere/shoal.toml", "cannot be read"]),
    "a directory as file": ({"SHOAL_CONFIG": "/"}, ["SHOAL_CONFIG=/ ", "cannot be read"]),
}
WRONG_FILES = {
    "no equals sign": ("alltoallv tuna\n", ["line 1", "name ="]),
    "unknown name": ("# settings\n\nalltoallq = tuna\n", ["line 3", "alltoallq", "alltoall"]),
    "value out of range": ('alltoallv = "tuna:radix=0"\n', ["line 1", "radix=0", "2 to"]),
}


def exchanges(mpi, compiled, where="world", ranks=RANKS, **settings):
    return mpi.run(ranks, [compiled(mpi, "exchange.c"), where], SHOAL_REPORT=1, **settings)


def right(run):
    assert (run.returncode, run.stdout.split()) == (0, ["faults:", "0"]), run.stderr
    return run


def refused_once(run, *words):
    right(run)
    assert len(warnings(run)) == 1, run.stderr
    assert all(word in warnings(run)[0] for word in words), run.stderr
    assert served(run) == {}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_setting(one_mpi, compiled, case):
    settings, words = WRONG[case]
    refused_once(exchanges(one_mpi, compiled, **settings), *settings, *words)


@pytest.mark.parametrize("case", WRONG_FILES)
def test_wrong_file(one_mpi, compiled, tmp_path, case):
    text, words = WRONG_FILES[case]
    path = tmp_path / "shoal.toml"
    path.write_text(text)
    refused_once(exchanges(one_mpi, compiled, SHOAL_CONFIG=path), str(path), *words)


def test_report_where_settings_are_wrong(one_mpi, compiled):
    """It lists the calls that the MPI's own collectives served, with the reason."""
    for variable in ["SHOAL_ALLTOALLV", "SHOAL_NEIGHBOR_ALLTOALL", "SHOAL_MAX_TEMP"]:
        run = right(exchanges(one_mpi, compiled, **{variable: "tunna"}))
        assert "shoal: left to the MPI: alltoallv (see the warning), " in run.stderr, run.stderr


def test_misspelt_variable(one_mpi, compiled):
    """The variable is ignored, and one line says so."""
    run = right(exchanges(one_mpi, compiled, SHOAL_ALLTOALV="tuna"))
    told = [line for line in run.stderr.splitlines() if "SHOAL_ALLTOALV" in line]
    assert told == ["shoal: unknown setting SHOAL_ALLTOALV (did you mean SHOAL_ALLTOALL?); it is ignored"], run.stderr


def test_setting_that_does_not_fit_the_ranks(mpi, compiled):
    """Shoal leaves to the MPI only the calls that the setting is for."""
    run = right(exchanges(mpi, compiled, SHOAL_ALLTOALLV="tuna:radices=2", SHOAL_ALLTOALL="tuna"))
    assert len(warnings(run)) == 1 and "radices=2" in warnings(run)[0] and "4 ranks" in warnings(run)[0], run.stderr
    assert served(run) == {("alltoall", "tuna"): 3}


def test_topology_without_this_host(mpi, compiled, tmp_path):
    """If no algorithm is named, Shoal notices this only when it sets something up, after many calls."""
    (tmp_path / "topology").write_text("s0 elsewhere[0-7] 1G\n")
    calls = {"mpich": 3000, "openmpi": 10000}[mpi.name]  # Open MPI's are shorter
    run = mpi.run(3, [compiled(mpi, "repeated.c"), 2000, calls], SHOAL_TOPOLOGY=tmp_path / "topology")
    right(run)
    assert len(warnings(run)) == 1 and "elsewhere[0-7]" in warnings(run)[0], run.stderr


def test_wrong_setting_with_many_roots(mpi, compiled):
    """One rank warns, though rank 1 of the world is rank 0 of its half, and every rank is rank 0 of MPI_COMM_SELF."""
    for where in ["halves", "self"]:
        refused_once(exchanges(mpi, compiled, where, SHOAL_ALLTOALLV="tunna"), "tunna")


def test_wrong_setting_where_the_first_rank_makes_no_exchange(one_mpi, compiled):
    refused_once(exchanges(one_mpi, compiled, "odd", SHOAL_ALLTOALLV="tunna"), "tunna")
    run = right(exchanges(one_mpi, compiled, "odd", ranks=6, SHOAL_ALLTOALLV="tuna:radices=2"))
    assert len(warnings(run)) == 1 and "radices=2" in warnings(run)[0] and "3 ranks" in warnings(run)[0], run.stderr
    run = right(exchanges(one_mpi, compiled, "odd", SHOAL_ALLTOALV="tuna"))
    assert run.stderr.count("unknown setting SHOAL_ALLTOALV") == 1, run.stderr


def only_native(run):
    return {algorithm for _, algorithm in served(right(run))} <= {"native"}


ODD = [(0, "tuna:radix=3"), (0, "tunna"), (RANKS - 1, "tuna:radix=3")]


def one_differs(mpi, program, ranks, odd_rank, **settings):
    odd = mpi.ranks(1, [program], SHOAL_REPORT=1, **settings)
    others = mpi.ranks(ranks - 1, [program], SHOAL_REPORT=1)
    return mpi.launch(*([odd, others] if odd_rank == 0 else [others, odd]))


def test_one_rank_differs(one_mpi, compiled, subtests):
    """That rank waits ten seconds for the others, which have nothing to agree on. So these jobs run at once."""
    jobs = {}
    with ThreadPoolExecutor(len(ODD) + 1) as pool:
        program = compiled(one_mpi, "exchange.c")
        for rank, value in ODD:
            job = pool.submit(one_differs, one_mpi, program, RANKS, rank, SHOAL_ALLTOALLV=value)
            jobs[f"{value} on rank {rank}"] = job
        job = pool.submit(one_differs, one_mpi, compiled(one_mpi, "allgather.c"), 5, 0, SHOAL_ALLGATHER="ring")
        jobs["between groups"] = job
    for name, job in jobs.items():
        with subtests.test(name):
            run = job.result()
            assert only_native(run)
            assert len(warnings(run)) == 1 and "the same SHOAL_ variables" in warnings(run)[0], run.stderr


def promising_wisdom(one_mpi, compiled, path):
    """Writes wisdom by which `shared` is faster than the MPI's own in all exchanges; returns its path."""
    right(exchanges(one_mpi, compiled, SHOAL_WISDOM=path))
    learnt = 'calls = 90000, microseconds = { "native" = [900, 9], "shared" = [1, 9] }'
    text, rows = re.subn(r"calls = \d+, microseconds = {[^}]*}", learnt, path.read_text())
    assert rows
    path.write_text(text)
    return path


def test_second_job_begins_with_what_the_first_learnt(one_mpi, compiled, tmp_path):
    path = promising_wisdom(one_mpi, compiled, tmp_path / "wisdom")
    assert {algorithm for _, algorithm in served(right(exchanges(one_mpi, compiled, SHOAL_WISDOM=path)))} == {"shared"}


@pytest.mark.skipif(len(os.sched_getaffinity(0)) == 1, reason="needs two cores")
def test_wisdom_that_fits_some_ranks_is_used_by_none(one_mpi, compiled, tmp_path):
    """Wisdom holds for a number of ranks and cores, and here one rank believes that it is alone on one core."""
    path = promising_wisdom(one_mpi, compiled, tmp_path / "wisdom")
    command, how = [compiled(one_mpi, "exchange.c")], {"SHOAL_WISDOM": path, "SHOAL_REPORT": 1}
    bound = one_mpi.ranks(1, ["taskset", "-c", min(os.sched_getaffinity(0)), *command], **how, MPI_LOCALNRANKS=1)
    run = one_mpi.launch(bound, one_mpi.ranks(RANKS - 1, command, **how), timeout=60)
    assert only_native(run), run.stderr


@pytest.mark.parametrize("ranks_here, counted", [(3, 11), (1, 1)], ids=["on one node", "maybe on several nodes"])
def test_wisdom_counts_communicators_of_which_it_knows_the_nodes(one_mpi, compiled, tmp_path, ranks_here, counted):
    """On the first of 11 communicators the ranks tell each other where they are, because of the wisdom."""
    path = tmp_path / "wisdom"
    run = one_mpi.run(3, [compiled(one_mpi, "copies.c")], SHOAL_WISDOM=path, MPI_LOCALNRANKS=ranks_here)
    assert run.returncode == 0, run.stderr
    assert f"ranks = 3, nodes = 1, bytes = 4, communicators = {counted}, calls = {3 * counted}," in path.read_text()


def test_wisdom_that_never_ends(one_mpi, compiled, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    run = exchanges(one_mpi, compiled, SHOAL_WISDOM=pipe)
    assert only_native(run)
    assert f"{pipe} is not a regular file" in run.stderr


def test_all_ranks_differ(mpi, compiled):
    command = [compiled(mpi, "exchange.c")]
    odd = mpi.ranks(1, command, SHOAL_ALLTOALL="tuna", SHOAL_ALLTOALLV="tuna")
    others = mpi.ranks(RANKS - 1, command, SHOAL_ALLTOALL="tuna:radix=3", SHOAL_ALLTOALLV="tuna:radix=3")
    refused_once(mpi.launch(odd, others), "differ")


def test_verify_on_one_rank(mpi, compiled):
    """The MPI's own collectives serve so few calls, so there is nothing to compare."""
    command = [compiled(mpi, "exchange.c")]
    run = right(mpi.launch(mpi.ranks(1, command, SHOAL_VERIFY=1), mpi.ranks(RANKS - 1, command)))
    assert not warnings(run)


def test_waiting_and_report_may_differ(mpi, compiled):
    """These settings change nothing that ranks must agree on."""
    command, how = [compiled(mpi, "exchange.c")], {"SHOAL_ALLTOALL": "tuna", "SHOAL_ALLTOALLV": "tuna"}
    first = mpi.ranks(1, command, SHOAL_WAIT="sleep", SHOAL_REPORT=1, **how)
    run = right(mpi.launch(first, mpi.ranks(RANKS - 1, command, SHOAL_WAIT="spin", **how)))
    assert not warnings(run)
    assert served(run) == {("alltoall", "tuna"): 3, ("alltoallv", "tuna"): 2}


@pytest.mark.parametrize("wait", ["auto", "spin", "yield", "sleep"])
def test_waiting(one_mpi, compiled, wait):
    run = right(exchanges(one_mpi, compiled, SHOAL_ALLTOALLV="two_phase", SHOAL_WAIT=wait))
    assert served(run)["alltoallv", "two_phase"] == 2


def test_file(one_mpi, compiled, tmp_path):
    """The environment wins over the file; comments and quotes are TOML's."""
    path = tmp_path / "shoal.toml"
    path.write_text('# ours\nalltoall = "bruck"  # for equal blocks\nalltoallv = "two_phase"\nreport = 1\n')
    command = [compiled(one_mpi, "exchange.c")]
    run = right(one_mpi.run(RANKS, command, SHOAL_CONFIG=path, SHOAL_ALLTOALLV="tuna:radix=3"))
    assert served(run) == {("alltoall", "bruck"): 3, ("alltoallv", "tuna:radix=3"): 2}


def test_verify(mpi, compiled):
    run = right(exchanges(mpi, compiled, SHOAL_ALLTOALL="tuna", SHOAL_ALLTOALLV="tuna", SHOAL_VERIFY=1))
    assert "shoal: verified 5 exchanges" in run.stderr
    assert served(run) == {("alltoall", "tuna"): 3, ("alltoallv", "tuna"): 2}


def test_verify_finds_a_difference(mpi, compiled):
    """A library under Shoal makes the MPI's own collective wrong, so Shoal's result differs from it.

    In one job of some hundred, MPICH's launcher does not see that a rank has aborted, without Shoal too.
    """
    wrong = compiled(mpi, "wrong_mpi.c", "-shared", "-fPIC")
    settings = {"SHOAL_ALLTOALLV": "tuna", "SHOAL_VERIFY": 1}
    run = mpi.run(RANKS, [compiled(mpi, "exchange.c")], before=[wrong], timeout=20, **settings)
    assert run.returncode != 0
    assert "verification failed on rank" in run.stderr


def test_nothing_is_written_unasked(mpi, compiled):
    run = right(mpi.run(RANKS, [compiled(mpi, "exchange.c")]))
    assert run.stderr == ""


def test_report(one_mpi, compiled):
    run = right(exchanges(one_mpi, compiled, SHOAL_ALLTOALL="linear", SHOAL_ALLTOALLV="tuna:radix=2"))
    lines = [line.split() for line in run.stderr.splitlines() if line.startswith("shoal: ")]
    assert lines[0][:4] == ["shoal:", "loaded", "for", "libmpi.so.12;"]
    assert lines[2] == ["shoal:", "call", "ranks", "calls", "sent", "time", "per", "call", "algorithm"]
    rows = {words[1]: words for words in lines[3:]}
    assert rows["alltoall"][2:6] + rows["alltoall"][-1:] == ["4", "3", "144", "B", "linear"]
    assert rows["alltoallv"][2:6] + rows["alltoallv"][-1:] == ["4", "2", "32", "B", "tuna:radix=2"]
    assert len(lines) == 5


# Ranks that are not bound share no socket if there are several, and the only one otherwise. So `socket` gives one node.
@pytest.mark.parametrize("layout, between", [("4", False), ("1,1,1,1", True), ("socket", False)])
def test_phases(mpi, compiled, layout, between):
    """The phases add up to no more than the time of a call, and tell messages between nodes from others."""
    how = {"SHOAL_ALLTOALL": "tuna", "SHOAL_ALLTOALLV": "hierarchical", "SHOAL_LAYOUT": layout}
    run = right(mpi.run(RANKS, [compiled(mpi, "exchange.c")], SHOAL_REPORT="phases", **how))
    assert served(run) == {("alltoall", "tuna"): 3, ("alltoallv", "hierarchical"): 2}
    lines = run.stderr.splitlines()
    calls = [line for line in lines if line.startswith("shoal: all")]
    told = [line.removeprefix("shoal:   of that ") for line in lines if line.startswith("shoal:   of that ")]
    for call, line in zip(calls, told, strict=True):
        phases = {part.rsplit(" ", 2)[0]: float(part.split()[-2]) for part in line.split(", ")}
        assert list(phases) == ["prepare", "metadata", "data", "replace", "rearrange", "inter-node"]
        assert (phases["inter-node"] > phases["data"]) == between
        assert sum(phases.values()) <= float(call.split()[-3]) + 1
