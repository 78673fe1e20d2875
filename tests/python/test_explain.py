"""shoal explain and the model: what is predicted, fitted, refused."""

import random

import pytest

import shoal
from shoal import machine
from shoal.machine import COMMON, Sample

PROFILE = """format = 1
ranks = 4
layout = "1x4"
[alltoall]
microseconds = [{ block = 8, native = 9, pairwise = 3 }, { block = 64, native = 9, pairwise = 30 }]
[alltoallv]
asking = 50
microseconds = [{ block = 8, native = 9, pairwise = 3 }, { block = 64, native = 9, pairwise = 3 }]
"""


def explained(shoal_command, *args):
    return shoal_command.json("explain", *args)


def test_predicts_by_the_counts_of_schedules(shoal_command):
    told = explained(shoal_command, "alltoallv", "--ranks", 64, "--layout", "8x8", "--sizes", "uniform:0-512")
    assert told["chosen"].startswith("hierarchical") and told["mean_block"] == 256
    problem = shoal.Problem(64, layout="8x8")
    load = shoal.load_of(shoal.parse(told["chosen"]), problem)
    assert told["seconds"] == pytest.approx(COMMON.seconds(load, 256))
    flat = COMMON.seconds(shoal.load_of(shoal.parse("spread_out"), problem), 256)
    assert told["seconds"] <= told["next_seconds"] <= flat
    assert f"{load.network.messages} messages between nodes" in told["why"]
    text = shoal_command.output("explain", "alltoallv", "--layout", "8x8", "--sizes", "uniform:0-512")
    assert told["chosen"] in text and "Why: " in text and f"Next: {told['next']}, " in text


def test_levels_are_priced_apart_and_used_as_is_best(shoal_command):
    layout = "group:4 node:4 socket:2 core:4"
    small = explained(shoal_command, "alltoall", "--layout", layout, "--sizes", 64)
    assert small["chosen"].startswith("hierarchical:") and "messages between groups" in small["why"]
    large = explained(shoal_command, "alltoall", "--layout", layout, "--sizes", 1 << 20)
    assert not large["chosen"].startswith("tuna") and large["seconds"] > 1000 * small["seconds"]
    load = shoal.load_of(shoal.parse(small["chosen"]), shoal.Problem(layout=layout))
    assert small["seconds"] == pytest.approx(COMMON.seconds(load, 64))
    cheaper = machine.Machine(COMMON.memory, COMMON.node, COMMON.network, COMMON.copy)  # groups cost what nodes do
    assert COMMON.seconds(load, 64) > cheaper.seconds(load, 64)


def test_every_algorithm_is_priced(monkeypatch, shoal_command):
    priced = set()
    monkeypatch.setattr(
        shoal, "load_of", lambda how, at, real=shoal.load_of: priced.add(how.algorithm.name) or real(how, at)
    )
    explained(shoal_command, "alltoall", "-n", 8, "--sizes", 64)
    assert priced == {one.name for one in shoal.algorithms() if one.has_schedule and one.collective == "alltoall"}


def test_says_what_decides_in_a_job(shoal_command):
    told = explained(shoal_command, "alltoall", "--layout", "2x3", "--sizes", 64)
    assert told["in_jobs"] == (
        "its own calls decide between native, hierarchical:local=shared, spread_out and tuna:radix=2"
    )
    levels = explained(shoal_command, "alltoall", "--layout", "node:2 socket:2 core:2", "--sizes", 64)
    best = COMMON.best_levels(shoal.Problem(layout="node:2 socket:2 core:2"), 64)
    assert best in levels["in_jobs"]
    assert "In a job: its own calls decide" in shoal_command.output("explain", "alltoall", "-n", 8, "--sizes", 64)


def test_among_neighbors(shoal_command):
    asked = ["--graph", "torus:4x4", "--layout", "4x4", "--sizes", 512]
    told = explained(shoal_command, "neighbor_alltoall", *asked)
    problem = shoal.Problem(layout="4x4", neighbors=shoal.grid_neighbors([4, 4], closed=True))
    loads = {name: shoal.load_of(shoal.parse(name, "neighbor_alltoall"), problem) for name in ("direct", "gathered")}
    seconds = {name: COMMON.seconds(load, 512) for name, load in loads.items()}
    assert told["chosen"] == min(seconds, key=seconds.__getitem__)
    assert {told["chosen"]: told["seconds"], told["next"]: told["next_seconds"]} == pytest.approx(seconds)
    assert "2 messages between nodes" in told["why"] and told["ranks"] == 16
    assert told["in_jobs"] == "its own calls decide between native, gathered and direct"
    text = shoal_command.output("explain", "neighbor_alltoallv", *asked, "--empty", 0.5)
    assert "neighbor_alltoallv, 16 ranks as 4x4, neighbours as in torus:4x4, blocks of 512 bytes" in text
    assert "50% of all empty" in text and "Next: " in text
    alone = explained(shoal_command, "neighbor_alltoallw", "--graph", "torus:4", "--layout", "1x4", "--sizes", 8)
    assert alone["chosen"] == "direct" and alone["in_jobs"].endswith("native and direct")


def test_between_two_groups_it_says_what_jobs_pick(shoal_command):
    """The example of the test of the model in C++, which jobs ask."""
    told = explained(shoal_command, "allgather", "--senders", 6, "--receivers", 2, "--sizes", 1000)
    assert (told["chosen"], told["next"], told["ranks"]) == ("circulant", "full", 8)
    assert (told["seconds"], told["next_seconds"]) == pytest.approx((66.3e-6, 86.3e-6))
    assert told["why"] == "3 steps, volume 6; full has 4 steps, volume 6"
    assert told["in_jobs"] == "the model picks circulant; its own calls decide between native and circulant"
    text = shoal_command.output("explain", "allgatherv", "--senders", 6, "--receivers", 2, "--sizes", "uniform:0-1000")
    assert "allgatherv, 6 ranks to 2, network full, messages of at most 1000 bytes" in text
    assert "20 us for a step" in text


def test_between_two_groups_on_other_networks_and_machines(shoal_command, tmp_path):
    asked = ["allgather", "--senders", 4, "--receivers", 12, "--sizes", 1 << 20]
    assert explained(shoal_command, *asked, "--network", "ring")["chosen"].startswith("ring:segments=")
    torus = explained(shoal_command, *asked, "--network", "torus:4x4")
    assert (torus["chosen"], torus["next"]) == ("torus:shape=4x4", "")
    (path := tmp_path / "machine.toml").write_text(machine.to_toml(COMMON))
    here = explained(shoal_command, *asked, "--model", path)
    how, at = shoal.parse(here["chosen"], "allgather"), shoal.Problem(16, senders=4)
    assert here["seconds"] == pytest.approx(shoal.seconds_between_groups(how, at, 1 << 20, COMMON.link))
    assert here["in_jobs"] == explained(shoal_command, *asked)["in_jobs"]  # jobs do not know that machine


def test_small_blocks_travel_in_few_messages_and_large_ones_straight(shoal_command):
    small = explained(shoal_command, "alltoall", "-n", 256, "--sizes", 1)
    large = explained(shoal_command, "alltoall", "-n", 256, "--sizes", 1 << 20)
    assert small["chosen"].startswith("tuna:radi")
    assert large["chosen"] in ("spread_out", "scattered:block_count=4", "pairwise")


def test_by_profile_it_says_what_a_job_would_take(shoal_command, tmp_path):
    path = tmp_path / "p.toml"
    path.write_text(PROFILE)
    told = explained(shoal_command, "alltoall", "--sizes", 8, "--profile", path)
    assert (told["chosen"], told["next"], told["ranks"]) == ("pairwise", "native", 4)
    assert told["seconds"] == pytest.approx(3e-6)
    assert explained(shoal_command, "alltoall", "--sizes", 64, "--profile", path)["chosen"] == "native"
    unasked = explained(shoal_command, "alltoallv", "--sizes", 8, "--profile", path)
    assert unasked["chosen"] == "pairwise"


def test_mostly_empty_exchanges_have_times_of_their_own(shoal_command, tmp_path):
    path = tmp_path / "p.toml"
    path.write_text(
        PROFILE + "sparse = [{ block = 8, native = 2, pairwise = 3 }, { block = 64, native = 2, pairwise = 3 }]\n"
    )
    asked = ["alltoallv", "--sizes", 64, "--profile", path]
    assert explained(shoal_command, *asked)["chosen"] == "pairwise"
    told = explained(shoal_command, *asked, "--empty", 0.9)
    assert (
        told["chosen"] == "native" and told["seconds"] == pytest.approx(2e-6) and "90 % of blocks empty" in told["why"]
    )


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["alltoall", "-n", 4, "--sizes", 8, "--empty", 0.9], ["--empty", "alltoallv"]),
        (["alltoal", "-n", 4, "--sizes", 8], ["unknown alltoal; choose alltoall, alltoallv, "]),
        (["allgather", "-n", 4, "--sizes", 8], ["between two groups; give --senders and --receivers"]),
        (["allgather", "--senders", 4, "--receivers", 4, "--sizes", 8, "--empty", 0.5], ["--empty means nothing for"]),
        (["allgather", "--senders", 4, "--receivers", 4, "--sizes", 8, "--layout", "8x1"], ["no schedule looks at"]),
        (["allgather", "--senders", 4, "--receivers", 4, "--sizes", 8, "--network", "mesh"], ["'mesh'", "torus:"]),
        (["allgather", "--senders", 4, "--receivers", 4, "--sizes", 8, "--graph", "torus:8"], ["--graph", "allgather"]),
        (["neighbor_alltoallv", "-n", 4, "--sizes", 8], ["neighbor_alltoallv exchanges among", "--graph torus:8"]),
        (["neighbor_alltoall", "--graph", "torus:4", "--sizes", 8, "--profile", "/p"], ["--profile means nothing"]),
        (["neighbor_alltoall", "--graph", "torus:4", "--sizes", 8, "--layout", "1x5"], ["4 ranks, not 5"]),
        (["alltoallw", "--sizes", 8, "--profile", "/p"], ["--profile means nothing for alltoallw"]),
        (["alltoall", "-n", 4, "--sizes", 8, "--senders", 2], ["--senders means nothing for alltoall"]),
        (["alltoall", "-n", 4, "--sizes", "much"], ["--sizes much", "uniform:0-512"]),
        (["alltoall", "-n", 4, "--sizes", "uniform:9-8"], ["uniform:9-8"]),
        (["alltoall", "--sizes", 8], ["--ranks"]),
        (["alltoall", "--sizes", 8, "--layout", "2xx"], ["2xx"]),
        (["alltoall", "--sizes", 8, "--profile", "/no/such"], ["/no/such", "shoal tune"]),
        (["alltoall", "-n", 4, "--sizes", 8, "--model", "/no/such"], ["/no/such", "shoal model fit"]),
        (["alltoall", "--sizes", 8, "--model", "/a", "--profile", "/b"], ["not both"]),
    ],
)
def test_wrong_use(shoal_command, args, words):
    line = shoal_command.refused("explain", *args)
    assert all(word in line for word in words), line


def test_profile_of_other_ranks_is_refused(shoal_command, tmp_path):
    (tmp_path / "p.toml").write_text(PROFILE)
    line = shoal_command.refused("explain", "alltoall", "-n", 5, "--sizes", 8, "--profile", tmp_path / "p.toml")
    assert "for 4 ranks" in line and "shoal tune -n 5" in line


# ---- fitting --------------------------------------------------------------------------------------------------------


def samples(noise=0.0):
    """Samples of exchanges, with the times of the common machine."""
    chance, problem = random.Random(3), shoal.Problem(16, layout="4x4")
    found = []
    for spec in ("spread_out", "pairwise", "scattered:block_count=4", "tuna:radix=2", "tuna:radix=4", "hierarchical"):
        load = shoal.load_of(shoal.parse(spec), problem)
        for block in (8, 1024, 65536):
            found.append(Sample(spec, block, load, COMMON.seconds(load, block) * (1 + noise * chance.uniform(-1, 1))))
    return found


def test_fit_explains_a_machine_that_is_as_the_model_says():
    found = machine.fit(samples(), "test")
    assert max(machine.errors(found, samples())) < 1e-6
    assert machine.fit(samples(), "test").prices[:3] == (0.0, 0.0, 0.0)  # nothing went through memory


def test_fit_tells_its_error():
    noisy = samples(noise=0.2)
    found = machine.fit(noisy, "test")
    assert 0.01 < max(machine.errors(found, noisy)) < 0.3
    assert max(machine.errors_unseen(noisy)) >= max(machine.errors(found, noisy))


def test_machine_is_the_same_when_written_and_read(tmp_path):
    path = tmp_path / "machine.toml"
    path.write_text(machine.to_toml(COMMON))
    assert machine.read(path).prices == COMMON.prices
    assert machine.read(path).groups == COMMON.groups
    path.write_text(machine.to_toml(machine.replace(COMMON, groups=None)))
    assert machine.read(path).groups is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace("per_message", "per_massage", 1), ["memory.per_massage", "memory.per_message"]),
        (lambda text: text.replace("[copy]", "[copies]"), ["copies.per_byte"]),
        (lambda text: text.replace("[groups]\nlatency", "[groups]\nwait"), ["groups.wait", "groups.latency"]),
        (lambda text: text.replace("5e-07", "-1", 1), ["memory.latency", "0 or more"]),
        (lambda text: text.replace("5e-07", "true", 1), ["memory.latency", "0 or more"]),
        (lambda text: text.replace("5e-07", "nan", 1), ["memory.latency", "0 or more"]),
        (lambda text: text + "[copy]", ["machine.toml"]),
        (lambda text: "speed = 3\n" + text, ["speed"]),
    ],
)
def test_wrong_machine(shoal_command, tmp_path, change, words):
    path = tmp_path / "machine.toml"
    path.write_text(change(machine.to_toml(COMMON)))
    line = shoal_command.refused("explain", "alltoall", "-n", 4, "--sizes", 8, "--model", path)
    assert all(word in line for word in words), line
