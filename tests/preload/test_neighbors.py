"""Exchanges among neighbours under the preload deliver the same bytes as the MPI's own, on every MPI.

With SHOAL_EXHAUSTIVE=1 the tests of learning use more random graphs and make twice as many calls.
"""

import os
import re

import pytest

import mpis
from mpis import left, served, warnings

# Debian's MPICH 4.0.2 hangs in MPI_Neighbor_alltoallw, also without Shoal.
EVERY = [*mpis.WHEELS, *(one for one in mpis.OTHERS if one.name != "mpich-debian"), mpis.INTEL, mpis.STANDARD]
EXHAUSTIVE = os.environ.get("SHOAL_EXHAUSTIVE") == "1"
OFTEN = 3 if EXHAUSTIVE else 1  # random graphs with hundreds of calls each
FORMS = ["neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw"]


@pytest.fixture(params=EVERY, ids=lambda mpi: mpi.name, scope="module")
def every_mpi(request):
    if request.param.missing():
        pytest.skip(request.param.missing())
    return request.param


def asked(spec):
    return {f"SHOAL_{form.upper()}": spec for form in FORMS}


def run(mpi, ranks, compiled, *parts, graphs=10, may_warn=False, **settings):
    if "impi" in mpi.name:  # programs for it were linked to MPICH
        settings["LD_LIBRARY_PATH"] = mpi.libraries
    done = mpi.run(ranks, [compiled(mpi, "neighbors.c", "-ldl"), graphs, *parts], SHOAL_REPORT=1, **settings)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "faults: 0", done.stdout + done.stderr
    assert may_warn or not warnings(done)
    return done


def calls_of(done):
    return int(done.stdout.splitlines()[-2].removeprefix("calls: "))


@pytest.mark.parametrize("spec", ["direct", "gathered", "gathered:carriers=1,local=messages"])
@pytest.mark.parametrize("layout", ["4", "2,2", "0,2/1,3"])
def test_as_the_mpis_own(mpi, compiled, spec, layout):
    done = run(mpi, 4, compiled, **asked(spec), SHOAL_LAYOUT=layout)
    assert set(served(done)) == {(form, spec) for form in FORMS}
    assert sum(served(done).values()) == calls_of(done) and not left(done)


@pytest.mark.parametrize("spec", ["direct", "gathered"])
def test_on_every_mpi(every_mpi, compiled, spec):
    done = run(every_mpi, 4, compiled, graphs=3, **asked(spec), SHOAL_LAYOUT="2x2")
    assert sum(served(done).values()) == calls_of(done)


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_few_ranks(mpi, compiled, ranks):
    done = run(mpi, ranks, compiled, **asked("gathered"))
    assert sum(served(done).values()) == calls_of(done)


@pytest.mark.parametrize("spec", ["direct", "gathered", "gathered:carriers=1,local=messages"])
def test_requests(mpi, compiled, spec):
    done = run(mpi, 4, compiled, "requests", graphs=4, **asked(spec), SHOAL_LAYOUT="2,2")
    assert set(served(done)) == {(form, spec) for form in FORMS}
    if mpi.name == "openmpi":  # it matches parallel edges in another order in calls that do not block
        return
    assert sum(served(done).values()) == calls_of(done) and not left(done)


def test_requests_that_are_left(mpi, compiled):
    """With 3 ranks, because between 2 ranks Open MPI's own nonblocking exchanges mix up edges."""
    nonblocking, persistent = {f"i{form}" for form in FORMS}, {f"{form}_init" for form in FORMS}
    for settings in ({}, asked("native")):
        done = run(mpi, 3, compiled, "requests", graphs=1, **settings)
        assert nonblocking | persistent <= set(left(done))
    done = run(mpi, 3, compiled, "requests", graphs=1, **asked("direct"), SHOAL_MAX_TEMP="64M")
    assert nonblocking <= set(left(done))  # the limit would have to be agreed on, and no rank may wait there


def test_verified(mpi, compiled):
    done = run(mpi, 3, compiled, **asked("gathered"), SHOAL_LAYOUT="2,1", SHOAL_VERIFY=1)
    assert f"shoal: verified {calls_of(done)} exchanges" in done.stderr


@pytest.mark.parametrize("spec", ["direct", "gathered"])
def test_requests_are_verified(mpi, compiled, spec):
    """Open MPI's own serve where two ranks have several edges between them."""
    done = run(mpi, 4, compiled, "requests", graphs=4, **asked(spec), SHOAL_LAYOUT="2,2", SHOAL_VERIFY=1)
    both = re.search(r"verified (\d+) exchanges.*verified (\d+) runs of requests", done.stderr, re.DOTALL)
    assert sum(served(done).values()) == sum(map(int, both.groups()))
    assert int(both[2]) > 0


def test_others_where_one_is_named(mpi, compiled):
    done = run(mpi, 2, compiled, graphs=1, SHOAL_NEIGHBOR_ALLTOALLV="gathered")
    asked_for = {("neighbor_alltoallv", "gathered")}
    assert set(served(done)) == asked_for | {(name, "native") for name in FORMS if name != "neighbor_alltoallv"}


def rounds_of(mpi):
    """So many rounds of five calls that ranks try something. Small calls of Open MPI are short, so it takes more."""
    return (1500 if "openmpi" in mpi.name else 150) * (2 if EXHAUSTIVE else 1)


@pytest.mark.parametrize("layout", ["4", "2,2", "0,2/1,3"])
def test_learnt(mpi, compiled, layout):
    """Hundreds of calls on each communicator, with other sizes now and then, and all-to-alls of all ranks between."""
    done = run(mpi, 4, compiled, "often", rounds_of(mpi), graphs=OFTEN, SHOAL_LAYOUT=layout)
    assert {spec for name, spec in served(done) if name in FORMS} <= {"native", "direct", "gathered"}
    assert sum(served(done).values()) == calls_of(done) and not left(done)


@pytest.mark.parametrize("ranks", [1, 3, 5])
def test_few_ranks_learn(mpi, compiled, ranks):
    run(mpi, ranks, compiled, "often", rounds_of(mpi), graphs=OFTEN)


def test_verified_where_it_is_learnt(mpi, compiled):
    run(mpi, 3, compiled, "often", rounds_of(mpi), graphs=1, SHOAL_VERIFY=1)


@pytest.mark.parametrize("layout,spec", [("4", "direct"), ("2,2", "gathered")])
def test_what_an_earlier_job_learnt(mpi, compiled, tmp_path, layout, spec):
    """It serves from the first call on, also within a limit on scratch memory."""
    wisdom = tmp_path / "wisdom"
    run(mpi, 4, compiled, "often", rounds_of(mpi), graphs=0, SHOAL_WISDOM=wisdom, SHOAL_LAYOUT=layout)
    learnt = wisdom.read_text()
    nodes, times = len(layout.split(",")), f'{{ "native" = [1000, 500], "{spec}" = [1, 500] }}'
    learnt, rows = re.subn(  # a busy machine may have kept that job from finding out its nodes
        r'(call = "neighbor.*)nodes = .*, (bytes = \d+), .* },',
        rf"\1nodes = {nodes}, \2, communicators = 1, calls = 1000, microseconds = {times} }},",
        learnt,
    )
    assert rows
    wisdom.write_text(learnt)
    for limit in ({}, {"SHOAL_MAX_TEMP": "64M"}):
        done = run(mpi, 4, compiled, graphs=0, SHOAL_WISDOM=wisdom, SHOAL_LAYOUT=layout, **limit)
        assert {(form, spec) for form in FORMS} <= set(served(done))


def test_an_earlier_job_knows_of_exchanges_of_which_ranks_send_unlike_much(mpi, compiled, tmp_path):
    """Each rank knows only what it sends itself, so no rank may look up the wisdom for that size alone."""
    wisdom, star = tmp_path / "wisdom", compiled(mpi, "star.c")
    mpi.run(8, [star, 0], SHOAL_WISDOM=wisdom)
    shape = "ranks = 8, nodes = 1, bytes = {}, communicators = 1, calls = 1000, microseconds"
    slower, faster = (
        '{ "native" = [5, 500], "direct" = [500, 500] }',
        '{ "native" = [1000, 500], "direct" = [1, 500] }',
    )
    rows = [
        f'{{ call = "neighbor_alltoallv", {shape.format(64)} = {slower} }},',
        f'{{ call = "neighbor_alltoall", {shape.format(4096)} = {faster} }},',  # what the hub alone sends
    ]
    head = wisdom.read_text().partition("exchanges = [")[0]
    wisdom.write_text("\n".join([head + "exchanges = [", *rows, "]\n"]))
    done = mpi.run(8, [star, 6000], timeout=60, SHOAL_WISDOM=wisdom)
    assert done.returncode == 0 and done.stdout == "faults: 0\n", done.stdout + done.stderr


def test_scratch_memory_is_limited(mpi, compiled):
    """Blocks that others carry take scratch memory, and those that go straight to their receivers take none."""
    enough = run(mpi, 4, compiled, graphs=1, **asked("gathered"), SHOAL_LAYOUT="2,2", SHOAL_MAX_TEMP="64M")
    assert {spec for _, spec in served(enough)} == {"gathered"} and not left(enough)
    limit = {"SHOAL_LAYOUT": "2,2", "SHOAL_MAX_TEMP": 1}
    scarce = run(mpi, 4, compiled, graphs=1, may_warn=True, **asked("gathered"), **limit)
    assert re.search("gathered may need .* SHOAL_MAX_TEMP allows 1; using direct, which needs none", scarce.stderr)
    assert {spec for _, spec in served(scarce)} == {"direct", "native"} and not left(scarce)


def test_counts_for_nobody_take_no_memory(mpi, compiled):
    limit = {"SHOAL_LAYOUT": "2,2", "SHOAL_MAX_TEMP": "64M", "SHOAL_REPORT": 1}
    done = mpi.run(4, [compiled(mpi, "nobody.c")], timeout=60, **asked("gathered"), **limit)
    assert (done.returncode, done.stdout) == (0, "faults: 0\n"), done.stdout + done.stderr
    assert served(done) == {("neighbor_alltoallv", "gathered"): 5}, done.stderr


def test_left_where_some_ranks_lack_the_preload(mpi, compiled):
    """The report gives the reason, as for other calls."""
    command = [compiled(mpi, "neighbors.c", "-ldl"), 1]
    parts = [mpi.ranks(2, command, SHOAL_REPORT=1, **asked("direct")), mpi.ranks(1, command, preload=False)]
    done = mpi.launch(*parts, timeout=60)
    assert done.stdout.splitlines()[-1] == "faults: 0", done.stdout + done.stderr
    assert not served(done) and set(left(done)) == set(FORMS)
    assert done.stderr.count("(some ranks of the job run without Shoal's preload)") == len(FORMS), done.stderr


def test_unknown_algorithm(one_mpi, compiled):
    done = one_mpi.run(2, [compiled(one_mpi, "neighbors.c", "-ldl"), 1], SHOAL_NEIGHBOR_ALLTOALL="tuna")
    assert done.stdout.splitlines()[-1] == "faults: 0"
    assert "there is no algorithm 'tuna'; there are direct, gathered, native" in done.stderr


def test_functions_of_the_library(mpi, compiled):
    flags = ["-DLINKED", f"-I{mpis.ROOT}/include", f"-L{mpi.build}", "-lshoal", f"-Wl,-rpath,{mpi.build}", "-ldl"]
    program = compiled(mpi, "neighbors.c", *flags)
    for settings in (asked("gathered"), asked("gathered") | {"SHOAL_VERIFY": 1}, {}):
        done = mpi.run(4, [program, 5], preload=False, SHOAL_LAYOUT="2x2", SHOAL_REPORT=1, **settings)
        assert done.returncode == 0, done.stdout + done.stderr
        assert set(served(done)) == {(form, "gathered" if settings else "native") for form in FORMS}


@pytest.mark.parametrize("binding", ["MPIFH", "MPI", "F08"])
def test_fortran(fortran_mpi, compiled, binding):
    program = compiled(fortran_mpi, "family.F90", f"-DBINDING_{binding}", "-fallow-argument-mismatch")
    done = fortran_mpi.run(2, [program], **asked("gathered"), SHOAL_REPORT=1)
    assert done.stdout.split() == ["faults:", "0"], done.stdout + done.stderr
    # One blocking and one nonblocking call. Debian's MPICH serves the nonblocking one itself.
    times = 1 if "mpich" in fortran_mpi.name else 2
    assert served(done) == {(form, "gathered"): times for form in FORMS} | {("alltoallw", "native"): 2}
