"""shoal tune: where it measures, what it writes, and the command on an MPI that is here."""

import random

import pytest

import shoal
from shoal import tuning
from shoal.commands.bench import choose_mpis
from shoal.commands.tune import make_profile
from shoal.errors import UserError


class Machine:
    """Times by formula: small blocks are fastest with b, blocks from `crossing` on with a."""

    def __init__(self, crossing, noise=0.0, repetitions=20):
        self.crossing, self.noise, self.now, self.calls = crossing, noise, 0.0, []
        self.repetitions = repetitions
        self.random = random.Random(1)

    def seconds(self, spec, size):
        startup = {"native": 40e-6, "spread_out": 10e-6 + self.crossing * 1e-9, "tuna:radix=2": 10e-6}[spec]
        slope = {"native": 1e-9, "spread_out": 1e-9, "tuna:radix=2": 2e-9}[spec]
        return startup + slope * size

    def measure(self, kind, sizes, specs, seconds):
        self.calls.append((kind, sizes, specs))
        self.now += 1 + len(sizes) * len(specs) * seconds
        return {
            size: {
                spec: [
                    self.seconds(spec, size) * (1 + self.noise * self.random.random()) for _ in range(self.repetitions)
                ]
                for spec in specs
            }
            for size in sizes
        }


def tuned(machine, budget=100.0):
    table = tuning.Table(["native", "spread_out", "tuna:radix=2"])
    told = []
    tuning.tune(machine.measure, {"alltoall": table}, [8, 1024, 131072], budget, told.append, lambda: machine.now)
    return table, told


def chosen(table, size):
    return shoal.Profile(ranks=8, kinds={"alltoall": table.rows()}).choose("alltoall", size).spec


@pytest.mark.parametrize("crossing", [100, 5000, 20000, 90000])
def test_finds_where_the_winner_changes(crossing):
    machine = Machine(crossing)
    table, _ = tuned(machine)
    regrets = [
        machine.seconds(chosen(table, size), size)
        / min(machine.seconds(spec, size) for spec in ("native", "spread_out", "tuna:radix=2"))
        for size in range(8, 131072, 997)
    ]
    assert max(regrets) < 1.06
    assert machine.now < 60  # nothing was left to find


def test_measures_no_more_than_it_may():
    machine = Machine(5000, noise=0.5)
    _, told = tuned(machine, budget=20)
    assert machine.now < 30
    assert told[-1].doubts > 0  # the time ran out


def test_measures_again_what_noise_leaves_open():
    machine = Machine(20000, noise=0.3)
    table, told = tuned(machine, budget=1000)
    assert 1 < max(table.rounds.values()) <= tuning.MOST_ROUNDS
    assert told[-1].doubts == 0


@pytest.mark.parametrize(("repetitions", "rounds"), [(1, tuning.MOST_ROUNDS), (3, 2), (6, 1)])
def test_measures_again_what_has_too_few_repetitions(repetitions, rounds):
    """Fewer than six tell nothing of the noise."""
    table, told = tuned(Machine(20000, repetitions=repetitions), budget=1000)
    assert set(table.rounds.values()) == {rounds} and told[-1].doubts == 0


def test_leaves_out_what_was_never_in_time():
    table = tuning.Table(["native", "pairwise"])
    table.add({8: {"native": [1.0], "pairwise": [2.0]}, 64: {"pairwise": [2.0]}, 512: {"native": [3.0]}})
    assert table.rows() == [(8, {"native": 1.0}), (512, {"native": 3.0})]


def test_too_few_sizes_in_time_are_no_profile():
    table, full = (tuning.Table(["native"]) for _ in range(2))
    table.add({8: {"native": [1e-6] * 9}})
    full.add({8: {"native": [1e-6] * 9}, 64: {"native": [1e-6] * 9}})
    for few in (table, tuning.Table(["native"])):
        with pytest.raises(UserError, match=r"alltoallv: .*is too much else running on this machine"):
            make_profile(2, {"alltoall": full, "alltoallv": few}, 0.0, {})


def test_candidates_fit_the_ranks():
    for ranks, layout in [(2, "1x2"), (3, "1x3"), (8, "1x8"), (8, "2x4"), (6, "0,3/1,4/2,5"), (5, "5x1")]:
        for uniform in (True, False):
            for spec in tuning.candidates(ranks, layout, uniform=uniform)[1:]:
                problem = shoal.Problem(ranks, layout=layout)
                assert shoal.check_all_ranks(shoal.parse(spec), problem) is None, spec
    for layout in ("1x8", "8"):
        assert "shared" in tuning.candidates(8, layout, uniform=True)
    for layout in ("2x4", "cyclic:2x4", "7,1", "0,2/1,3,4,5,6,7"):
        assert "hierarchical" in tuning.candidates(8, layout, uniform=True)
    assert not {"shared", "hierarchical"} & set(tuning.candidates(8, "8x1", uniform=True))


def test_wrong_use(shoal_command, tmp_path):
    for option in ("-o", "--export"):
        assert f"{tmp_path} is a folder" in shoal_command.refused("tune", "-n", 2, option, tmp_path)
    assert "no folder" in shoal_command.refused("tune", "-n", 2, "-o", "/no/such/place/p.toml")
    assert "2" in shoal_command.refused("tune", "-n", 1)


@pytest.mark.alone
def test_profile_of_this_machine(shoal_command, tmp_path):
    try:
        choose_mpis("mpich5")
    except UserError as error:
        pytest.skip(str(error))
    path = tmp_path / "four.toml"
    status, out, _ = shoal_command("tune", "-n", 4, "--mpi", "mpich5", "--seconds", 1, "-o", path)
    assert status == 0 and f"SHOAL_PROFILE={path}" in out.replace("\n", "")
    profile = shoal.read_profile(str(path))
    assert profile.ranks == 4 and profile.layout == "1x4" and profile.machine and profile.mpi
    assert {"native", "spread_out"} & profile.rows("alltoall")[0][1].keys()
    assert profile.choose("alltoallv", 100).seconds > 0
    assert str(profile) == path.read_text()
