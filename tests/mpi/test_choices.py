"""Ranks with different profiles, and different settings beside them, choose the same exchange."""

import itertools
import math
import random
import tomllib

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
AT_TIMES = """format = 1
ranks = {ranks}
[alltoallv]
asking = 20
microseconds = [
  {{ block = 8, native = 90, pairwise = 50, "tuna:radix=2" = 60 }},
  {{ block = 4096, native = 900, pairwise = 500, "tuna:radix=2" = 400 }},
]
sparse = [
  {{ block = 8, native = 90, pairwise = 20, "tuna:radix=2" = 60 }},
  {{ block = 4096, native = 900, pairwise = 90, "tuna:radix=2" = 300 }},
]
"""


@pytest.fixture
def profiles(tmp_path):
    """Good and bad ones, by what is with them."""
    texts = {
        "good": PROFILE.format(ranks=RANKS, small="tuna:radix=2"),
        "other": PROFILE.format(ranks=RANKS, small="pairwise"),
        "at times": AT_TIMES.format(ranks=RANKS),
        "for other ranks": PROFILE.format(ranks=RANKS + 1, small="pairwise"),
        "for another MPI": 'mpi = "LAM 7.1"\n' + PROFILE.format(ranks=RANKS, small="pairwise"),
        "broken": "format = 1\nranks = = 4\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: str(tmp_path / name) for name in [*texts, "absent"]} | {"unset": ""}


def run(mpi, settings, tests="Choices.*"):
    """Each rank with settings of its own."""
    command = [mpi.build / "mpi_tests", "--gtest_brief=1", f"--gtest_filter={tests}"]
    done = mpi.launch(*(mpi.ranks(1, command, preload=False, **own) for own in settings), timeout=100)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert f" on {len(settings)} ranks" in done.stdout and " 0 failed" in done.stdout
    return [line for line in done.stderr.splitlines() if line.startswith("shoal: ") and "is measured" in line]


@pytest.mark.parametrize(("kind", "seed"), [(0, 1), (0, 2), (1, 4)])
def test_ranks_with_different_profiles_choose_alike(profiles, kind, seed):
    mpi, chance = mpis.WHEELS[kind], random.Random(seed)
    settings = [
        {"SHOAL_PROFILE": profiles[chance.choice(sorted(profiles))], "SHOAL_WAIT": chance.choice(["auto", "yield"])}
        for _ in range(RANKS)
    ]
    assert len(run(mpi, settings)) <= 1


@pytest.mark.parametrize(("odd", "others"), [(0, "unset"), (RANKS - 1, "unset"), (RANKS - 1, "broken")])
def test_profile_on_one_rank_only(profiles, odd, others):
    """It is not used, and a line says so."""
    mpi = mpis.WHEELS[0]
    settings = [{"SHOAL_PROFILE": profiles["good" if rank == odd else others]} for rank in range(RANKS)]
    (line,) = run(mpi, settings)
    assert ("broken:2:" if others == "broken" else "profiles of ranks differ") in line


@pytest.mark.parametrize(("kind", "odd", "spec"), [(0, 0, "pairwise"), (0, RANKS - 1, "nonsense"), (1, 1, "shared")])
def test_environment_on_one_rank_only(kind, odd, spec):
    """No kind of call takes it, and all ranks say so or use the MPI's own."""
    settings = [{"SHOAL_ALLTOALLV": spec} if rank == odd else {} for rank in range(RANKS)]
    assert run(mpis.WHEELS[kind], settings, "DifferentSettings.*") == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("for other ranks", ["other ranks:2:", "5 ranks", "here are 4", "shoal tune -n 4"]),
        ("for another MPI", ["another MPI:1:", "LAM 7.1", "MPICH"]),
        ("broken", ["broken:2:"]),
        ("absent", ["absent", "cannot be read"]),
    ],
)
def test_profile_that_does_not_fit(profiles, name, words):
    (line,) = run(mpis.WHEELS[0], [{"SHOAL_PROFILE": profiles[name]}] * RANKS)
    assert all(word in line for word in words), line


def test_good_profile_is_taken_in_silence(profiles):
    assert run(mpis.WHEELS[0], [{"SHOAL_PROFILE": profiles["good"]}] * RANKS) == []


def test_sizes_are_asked_for_at_times(profiles):
    assert run(mpis.WHEELS[0], [{"SHOAL_PROFILE": profiles["at times"]}] * RANKS) == []


@pytest.mark.parametrize("profile", ["unset", "good"])
def test_ranks_settle_together_after_trying(profiles, profile):
    assert run(mpis.WHEELS[0], [{"SHOAL_TUNE": "online", "SHOAL_PROFILE": profiles[profile]}] * RANKS) == []


def clear_winner(row, lead):
    """What is `lead` times as fast as all others; None: nothing is."""
    (first, winner), (second, _) = sorted((time, spec) for spec, time in row.items() if spec != "block")[:2]
    return winner if second >= lead * first else None


def check_sizes_between(rows):
    """Where the same exchange is not far ahead (1.3 times; the file's times are rounded) at two of the sizes that are
    always measured, one between them is measured too."""
    by_block = {row["block"]: row for row in rows}
    always = [8, 512, 4096, 32768, 262144]
    between = set(by_block) - set(always)
    for low, high in itertools.pairwise(always):
        middle = round(math.sqrt(low * high))
        strictly, loosely = ({clear_winner(by_block[at], lead) for at in (low, high)} for lead in (1.32, 1.28))
        if len(strictly) == 1 and None not in strictly:
            assert middle not in by_block, (low, high)
        if len(loosely) == 2 or None in loosely:
            assert middle in by_block, (low, high)
        between.discard(middle)
    assert between == set()


def test_what_was_measured_is_kept(tmp_path):
    """Rank 0 alone has to be told where; the file serves the next run, which keeps nothing."""
    path, again = tmp_path / "kept.toml", tmp_path / "again.toml"
    assert run(mpis.WHEELS[0], [{"SHOAL_TUNE_SAVE": path}, *[{}] * (RANKS - 1)]) == []
    kept = tomllib.loads(path.read_text())
    assert kept["ranks"] == RANKS
    for rows in (kept["alltoall"]["microseconds"], kept["alltoallv"]["microseconds"], kept["alltoallv"]["sparse"]):
        check_sizes_between(rows)
    assert run(mpis.WHEELS[0], [{"SHOAL_PROFILE": path, "SHOAL_TUNE_SAVE": again}] * RANKS) == []
    assert not again.exists()
