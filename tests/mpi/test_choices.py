"""Ranks that have different profiles, and also different settings, choose the same exchange."""

import random

import pytest

import mpis

RANKS = 4
PROFILE = """format = 1
ranks = {ranks}
[alltoall]
microseconds = [{{ block = 8, native = 9, "{small}" = 3 }}, {{ block = 4096, native = 9, "{small}" = 30 }}]
[alltoallv]
asking = 0.1
microseconds = [{{ block = 8, native = 90, "{small}" = 3 }}, {{ block = 4096, native = 9, "{small}" = 300 }}]
"""


@pytest.fixture
def profiles(tmp_path):
    """Good and bad profiles, by what is the matter with them."""
    texts = {
        "good": PROFILE.format(ranks=RANKS, small="tuna:radix=2"),
        "other": PROFILE.format(ranks=RANKS, small="pairwise"),
        "for other ranks": PROFILE.format(ranks=RANKS + 1, small="pairwise"),
        "for another MPI": 'mpi = "LAM 7.1"\n' + PROFILE.format(ranks=RANKS, small="pairwise"),
        "broken": "format = 1\nranks = = 4\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: str(tmp_path / name) for name in [*texts, "absent"]} | {"unset": ""}


def run(mpi, settings, tests="Choices.AreSettledTogether"):
    """Runs the tests, with settings of its own on each rank. Returns the lines that Shoal wrote."""
    command = [mpi.build / "mpi_tests", "--gtest_brief=1", f"--gtest_filter={tests}"]
    done = mpi.launch(*(mpi.ranks(1, command, preload=False, **own) for own in settings))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert f" on {len(settings)} ranks" in done.stdout and " 0 failed" in done.stdout
    return [line for line in done.stderr.splitlines() if line.startswith("shoal: ")]


@pytest.mark.parametrize(("kind", "seed"), [(0, 1), (0, 2), (1, 4)])
def test_ranks_with_different_profiles_choose_alike(profiles, kind, seed):
    mpi, chance = mpis.WHEELS[kind], random.Random(seed)
    named = sorted(name for name in profiles if name != "unset")
    settings = [
        {"SHOAL_PROFILE": profiles[chance.choice(named)], "SHOAL_WAIT": chance.choice(["auto", "yield"])}
        for _ in range(RANKS)
    ]
    run(mpi, settings, "Choices.*:-Choices.AreThereForExchangesOfASizeThatIsHardlyKnown")  # that one takes most time


@pytest.mark.parametrize("odd", [0, RANKS - 1])
def test_profile_differs_on_one_rank(profiles, odd):
    """The profile is not used, and a line says so."""
    settings = [{"SHOAL_PROFILE": profiles["good" if rank == odd else "broken"]} for rank in range(RANKS)]
    lines = run(mpis.WHEELS[0], settings)
    assert any("profiles of ranks differ" in line for line in lines)


def test_profile_on_one_rank_only(profiles):
    """The profile is not used, and a line says so."""
    settings = [{"SHOAL_PROFILE": profiles["good"]}, *[{}] * (RANKS - 1)]
    lines = run(mpis.WHEELS[0], settings)
    assert any("profiles of ranks differ" in line for line in lines)


@pytest.mark.parametrize(("kind", "odd", "spec"), [(0, 0, "pairwise"), (0, RANKS - 1, "nonsense"), (1, 1, "shared")])
def test_environment_on_one_rank_only(kind, odd, spec):
    """No kind of call takes the setting: calls fail on all ranks, or are the MPI's own."""
    settings = [{"SHOAL_ALLTOALLV": spec} if rank == odd else {} for rank in range(RANKS)]
    lines = run(mpis.WHEELS[kind], settings, "DifferentSettings.*")
    assert lines == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("for another MPI", ["another MPI:1:", "LAM 7.1", "MPICH"]),
        ("broken", ["broken:2:"]),
        ("absent", ["absent", "cannot be read"]),
    ],
)
def test_profile_that_does_not_fit(profiles, name, words):
    lines = run(mpis.WHEELS[0], [{"SHOAL_PROFILE": profiles[name]}] * RANKS)
    assert len(lines) == 1 and all(word in lines[0] for word in words), lines


@pytest.mark.parametrize("name", ["good", "for other ranks"])
def test_good_profile_is_taken_in_silence(profiles, name):
    assert run(mpis.WHEELS[0], [{"SHOAL_PROFILE": profiles[name]}] * RANKS) == []
