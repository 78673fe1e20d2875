"""What surrounds a program's exchanges: tools that are loaded beside Shoal, rounding, its error handlers."""

import pytest


@pytest.mark.parametrize("flags", [[], ["-DOF_SSE"]], ids=["standard", "sse"])
@pytest.mark.parametrize("ranks, sizes", [(2, (64, 512, 2048, 8192)), (4, (100, 1000, 4000)), (4, (2048,))])
def test_ranks_round_differently(mpi, compiled, ranks, sizes, flags):
    """What ranks compute from agreed times is the same on all of them."""
    run = mpi.run(ranks, [compiled(mpi, "rounding.c", *flags, "-lm"), 3000, *sizes])
    assert (run.returncode, run.stdout) == (0, "faults: 0\n"), run.stderr


def test_wisdom_of_ranks_that_round_differently(one_mpi, compiled, tmp_path):
    """A job that exchanges other sizes writes what an earlier one learnt again, to the last digit."""
    wisdom, earlier = tmp_path / "wisdom.toml", []
    for size in (2048, 16):
        run = one_mpi.run(4, [compiled(one_mpi, "rounding.c", "-lm"), 3000, size], SHOAL_WISDOM=wisdom)
        assert (run.returncode, run.stdout, run.stderr) == (0, "faults: 0\n", "")
        entries = [line for line in wisdom.read_text().splitlines() if "microseconds" in line]
        assert len(entries) == len(earlier) + 2 and set(earlier) < set(entries)
        earlier = entries


@pytest.mark.parametrize("is_first", [True, False])
def test_tools_that_wrap_dlopen(mpi, compiled, is_first):
    tool = [compiled(mpi, "wrapped_dlopen.c", "-shared", "-fPIC")]
    beside = {"before": tool} if is_first else {"behind": tool}
    run = mpi.run(2, [compiled(mpi, "exchange.c")], **beside, SHOAL_ALLTOALL="tuna", SHOAL_REPORT=1)
    assert (run.returncode, run.stdout.split()) == (0, ["faults:", "0"]), run.stderr
    assert "tuna" in run.stderr


FORMS = ["ALLTOALL", "ALLGATHER", "NEIGHBOR_ALLTOALL"]


def named(*algorithms):
    return {f"SHOAL_{form}": algorithm for form, algorithm in zip(FORMS, algorithms, strict=True)}


@pytest.mark.parametrize(
    "settings",
    [
        {},
        named("shared", "full", "direct"),
        named("tuna:radix=2", "ring", "gathered"),
        named("native", "native", "native"),
    ],
)
@pytest.mark.parametrize("calls", [2, 40, 1000])  # only counted, learnt from, and served
@pytest.mark.parametrize("case", ["all", "neighbors", "groups"])
def test_error_handler_that_frees_its_communicator(mpi, compiled, case, calls, settings):
    run = mpi.run(2, [compiled(mpi, "freed_by_handler.c"), case, calls], timeout=60, **settings)
    assert (run.returncode, run.stdout) == (0, "handled: 1, freed: 1\n"), run.stderr


def test_error_handler_that_exchanges(mpi, compiled):
    run = mpi.run(3, [compiled(mpi, "handler_exchanges.c")])
    assert (run.returncode, run.stdout.splitlines()) == (0, ["faults: 0, handled: 12"] * 3), run.stderr
