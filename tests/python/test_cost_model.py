"""The cost model: its counts are those of the schedules, its times those that can be worked out by hand."""

import json
import subprocess
import sys

import pytest

import shoal
from mpis import ROOT
from shoal.cost_model import Cluster, predict, waves_of
from shoal.errors import UserError
from shoal.machine import COMMON, Level, Machine
from shoal.platforms import KINDS, make_platform

SPECS = (
    "tuna:radix=2", "tuna:radix=3", "tuna", "tuna:radix=64", "tuna:radices=2x3x5", "tuna:radix=4,inflight=1",
    "spread_out", "scattered:block_count=5", "pairwise", "hierarchical:radix=2", "hierarchical:local=linear",
    "hierarchical:global=radix,global_radix=2", "hierarchical:pattern=staggered,block_count=4",
)  # fmt: skip


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize(("nodes", "ppn"), [(4, 4), (3, 5), (6, 1), (7, 2)])
def test_counts_are_those_of_the_schedules(spec, nodes, ppn):
    at, how = Cluster(nodes, ppn), shoal.parse(spec)
    if "radices" in spec and at.ranks > 30:
        pytest.skip("30 ranks at most")
    waves = waves_of(how, at)
    programs = shoal.generate_all(how, shoal.Problem(layout=f"{nodes}x{ppn}"))
    assert sum(wave.messages for wave in waves) == pytest.approx(programs[0].sent.messages)
    assert sum(wave.local + wave.crossing for wave in waves) == pytest.approx(programs[0].sent.blocks)
    crossing = [len(op.slots) for rank, program in enumerate(programs) for op in program.operations
                if op.kind == "send" and op.peer // ppn != rank // ppn]  # fmt: skip
    assert sum(wave.crossing for wave in waves) == pytest.approx(sum(crossing) / at.ranks)
    if spec.startswith("tuna"):
        assert sum(wave.announced for wave in waves) == programs[0].sent.metadata_messages


def test_times_by_hand():
    machine = Machine(Level(), Level(0.25, 1e-3, 1 / 100), Level(0.5, 1e-3, 1 / 1000), 0)
    assert predict(shoal.parse("spread_out"), Cluster(4, 1), 1, machine) == pytest.approx(3e-3 + 0.5)  # messages
    assert predict(shoal.parse("spread_out"), Cluster(4, 1), 1e6, machine) == pytest.approx(3000 + 0.5)  # the port
    assert predict(shoal.parse("spread_out"), Cluster(1, 4), 1e6, machine) == pytest.approx(3e4 + 0.25)  # memory
    rounds = predict(shoal.parse("tuna:radix=2"), Cluster(8, 1), 0, machine)
    assert rounds == pytest.approx(3 * 0.501)
    published = predict(shoal.parse("tuna:radix=2"), Cluster(8, 1), 0, machine, published=True)
    assert published == pytest.approx(rounds + 2 * 0.501 + 3 * 0.501)  # two rounds for sizes, three for a reduction


def test_many_messages_at_once_and_short_blocks_cost_more():
    machine = Machine(Level(), Level(), Level(0, 1, 0), 0, per_other=0.125, per_copied_block=0.5)
    at = Cluster(8, 1)
    assert predict(shoal.parse("spread_out"), at, 4, machine) == pytest.approx(7 * (1 + 7 * 0.125))
    assert predict(shoal.parse("scattered:block_count=1"), at, 4, machine) == pytest.approx(7 * (1 + 0.125))
    # Four blocks packed and unpacked in each of three rounds.
    assert predict(shoal.parse("tuna:radix=2"), at, 4, machine) == pytest.approx(3 * (1 + 0.125 + 2 * 4 * 0.5))


@pytest.mark.parametrize("sides", ["8", "5", "4x2", "6x3x3", "1"])
def test_a_port_into_a_torus(sides):
    """A node is limited by the fullest link, counted when every node sends a message to every other."""
    rings = [int(side) for side in sides.split("x")]
    fullest = 0.0
    for side in rings:
        forwards = sum(distance for distance in range(side) if distance <= side // 2)
        fullest = max(fullest, forwards / side)  # hops of a message on one of the ring's links in this direction
    machine = make_platform(f"torus:{sides}", 1).machine(0)
    assert machine.network.per_byte == pytest.approx((fullest or 1) / KINDS["torus"].bandwidth)


def test_what_it_does_not_know():
    for spec in ("two_phase", "hierarchical:carriers=1"):
        with pytest.raises(UserError, match=r"a formula for tuna, .*hierarchical"):
            predict(shoal.parse(spec), Cluster(2, 2), 1, COMMON)


def test_every_algorithm_is_predicted(shoal_command, tmp_path):
    """If there is no formula for an algorithm, by counting its schedule."""
    every = [one.name for one in shoal.algorithms() if one.has_schedule and one.collective == "alltoall"]
    names = [name for name in every if name not in ("tree", "shared")]  # for a tree of switches, and for one node
    args = ["--model", "--nodes", 4, "--ppn", 2, "--sizes", 64, "--distribution", "uniform"]
    status, _, err = shoal_command("simulate", *args, "--variants", ";".join(names), "-o", tmp_path)
    assert status == 0, err
    lines = map(json.loads, (tmp_path / "results.jsonl").read_text().splitlines())
    assert {line["variant"]: line["seconds"][0] > 0 for line in lines if "variant" in line} == dict.fromkeys(
        names, True
    )


def predicted(shoal_command, tmp_path, *args):
    status, _, err = shoal_command("simulate", "--model", *args, "-o", tmp_path)
    assert status == 0, err
    lines = map(json.loads, (tmp_path / "results.jsonl").read_text().splitlines())
    return {line["variant"]: line["seconds"][0] for line in lines if "variant" in line}


def test_neighbors_are_predicted_by_counts(shoal_command, tmp_path):
    args = ["--nodes", 4, "--ppn", 4, "--sizes", 64, "--distribution", "partners:6", "--variants", "direct;gathered"]
    found = predicted(shoal_command, tmp_path, *args)
    assert found.keys() == {"direct", "gathered"} and 0 < found["gathered"] < found["direct"]


def test_every_algorithm_for_two_groups_is_predicted(shoal_command, tmp_path):
    every = [one.name for one in shoal.algorithms() if one.collective == "allgather"]
    usual = [name for name in every if name != "torus"]
    args = ["--nodes", 12, "--ppn", 1, "--senders", 4, "--sizes", 1024, "--variants", ";".join(usual)]
    found = predicted(shoal_command, tmp_path, *args, "--message-cost", "1us", "--platform", "fat-tree")
    machine = make_platform("fat-tree", 12).machine(1e-6)
    steps, volume = shoal.steps_and_volume(shoal.parse("root_gathering", "allgather"), shoal.Problem(12, senders=4))
    startup, per_byte = machine.link
    assert found.keys() == set(usual) and min(found.values()) > 0
    assert found["root_gathering"] == pytest.approx(steps * startup + 1.05 * volume * 1024 * per_byte)
    assert predicted(shoal_command, tmp_path, *args[:-1], "torus:shape=3x4")["torus:shape=3x4"] > 0


def test_a_million_ranks(shoal_command, tmp_path):
    args = ["--model", "--nodes", 32768, "--ppn", 32, "--sizes", 16, "--variants", "tuna:radix=2;hierarchical"]
    status, text, _ = shoal_command("simulate", *args, "-o", tmp_path)
    assert status == 0 and "32768 nodes of 32 ranks" in text


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--variants", "tuna", "--distribution", "power"], "know uniform and random blocks, not power"),
        (["--variants", "native"], "native, the MPI's own exchange, has none"),
        (["--variants", "two_phase", "--nodes", "64"], "at most 512 ranks"),
        (["--variants", "direct", "--nodes", "64", "--distribution", "partners:4"], "at most 512 ranks"),
        (["--senders", "2", "--variants", "full"], "give --ppn 1"),
        (
            ["--senders", "3", "--ppn", "1", "--nodes", "5", "--variants", "full:allgather=recursive_doubling"],
            "power of two",
        ),
    ],
)
def test_the_model_refuses_what_it_has_no_counts_for(shoal_command, tmp_path, args, words):
    assert words in shoal_command.refused("simulate", "--model", "-o", tmp_path, *args)


@pytest.mark.parametrize(("script", "words"), [("tuna.py", "within a factor of 2"), ("bruck.py", "64   126   8064")])
def test_scripts_of_the_papers(script, words):
    done = subprocess.run([sys.executable, ROOT / "bench/papers" / script], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and words in done.stdout, done.stderr
