"""shoal topology: what is drawn and printed, the JSON form, the generated file, wrong input."""

import json
import os
from pathlib import Path

import pytest

import shoal

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
VECTORS = json.loads((Path(__file__).resolve().parent.parent / "vectors" / "vectors-tree.json").read_text())
FIGURE_1 = (
    "SwitchName=s0 Nodes=n[0-2]\nSwitchName=s1 Switches=s[0,2,3] Nodes=n5\nSwitchName=s2\nSwitchName=s3 Nodes=n[3-4]\n"
)
SPEEDS = "hub s[0-1] 2.5G\ns0 n[0-3] 1G\ns1 n[4-7] 1G\nhub n8 100M\n"


@pytest.fixture
def topology(tmp_path):
    """topology(text): a file with this text."""

    def topology(text):
        path = tmp_path / "topology.conf"
        path.write_text(text)
        return path

    return topology


@pytest.mark.parametrize(
    "name, text, args",
    [
        ("topology_show_figure_1", FIGURE_1, ["show"]),
        ("topology_show_speeds", SPEEDS, ["show"]),
        ("topology_schedule_figure_1", FIGURE_1, ["schedule", "--root", "s1"]),
        ("topology_schedule_one_switch", "SwitchName=s0 Nodes=n[0-6]", ["schedule"]),
        ("topology_show_one_machine", "machine n0", ["show"]),
    ],
)
def test_text_is_golden(shoal_command, topology, name, text, args):
    path = GOLDEN / f"{name}.txt"
    printed = shoal_command.output("topology", args[0], topology(text), *args[1:])
    if os.environ.get("SHOAL_GOLDEN") == "write":
        path.write_text(printed)
    assert printed == path.read_text()


@pytest.mark.parametrize("entry", VECTORS["topologies"], ids=lambda entry: entry["name"])
def test_json_is_the_vectors(shoal_command, topology, entry):
    root = ["--root", entry["root"]] if entry["root_given"] else []
    plan = shoal_command.json("topology", "schedule", topology(entry["slurm"]), *root)
    assert list(plan) == ["machines", "root", "phases", "synchronisations"]
    assert plan["machines"] == entry["machines"]
    assert plan["root"] == entry["root"]
    assert len(plan["phases"]) == entry["num_phases"]
    assert plan["phases"] == entry.get("phases", plan["phases"])
    assert len(plan["synchronisations"]) == entry["sync"]["after_exact"]
    assert plan["synchronisations"] == entry["sync"].get("list", plan["synchronisations"])


def test_generate_tells_what_it_did(shoal_command, topology, tmp_path):
    output = tmp_path / "alltoall.c"
    printed = shoal_command.output("topology", "generate", topology(FIGURE_1), "-o", output, "--window", 1)
    assert "Bound: 9 phases; most loaded link s1 - s0, 3 x 3 messages" in printed
    assert (
        "9 phases (bound 9); 108 pairs of messages of different ranks share a link, 33 need synchronisation, "
        "26 after reduction" in printed
    )
    text = output.read_text()
    assert "Bound: 9 phases" in text and '"n0", "n1", "n2", "n3", "n4", "n5",' in text


def test_ranks_are_placed(shoal_command, topology):
    path = topology(FIGURE_1)
    plan = shoal_command.json("topology", "schedule", path, "--hosts", "n[3-5],n3")
    assert plan["machines"] == ["n3", "n4", "n5", "n3"]
    plan = shoal_command.json("topology", "schedule", path, "--json", "--ranks-per-machine", 2)
    assert plan["machines"][:3] == ["n0", "n0", "n1"]
    assert len(plan["phases"]) == 36


@pytest.mark.parametrize(
    "text, args, says",
    [
        ("SwitchName=s0 Nodes=n[0-", [], "topology.conf:1: 'n[0-' has a bracket without its partner"),
        ("a b\nb c\na c", [], "topology.conf:3: the link a - c closes a cycle with a - b - c"),
        ("switch s0", [], "topology.conf: no machine; expected at least one"),
        (FIGURE_1, ["--root", "s9"], "the topology has no switch 's9' to be the root"),
        (FIGURE_1, ["--root", "s3"], "s3 cannot be the root: a branch has 4 of 6 ranks"),
        (FIGURE_1, ["--hosts", "n[0-6]"], "rank 6 is on host 'n6', which the topology does not have"),
    ],
)
def test_wrong_input(shoal_command, topology, text, args, says):
    assert says in shoal_command.refused("topology", "show", topology(text), *args)


def test_files_that_cannot_be_used(shoal_command, topology, tmp_path):
    refused, path, output = shoal_command.refused, topology(FIGURE_1), tmp_path / "missing" / "alltoall.c"
    assert "nowhere: cannot be read; expected a topology file" in refused("topology", "show", tmp_path / "nowhere")
    assert "alltoall.c cannot be written: No such file" in refused("topology", "generate", path, "-o", output)
    assert "there is no synchronisation 'some'" in refused("topology", "schedule", path, "--sync", "some")


def test_schedules_of_a_network():
    network = shoal.parse_topology(FIGURE_1)
    tree = shoal.Tree(network)
    programs = shoal.generate_all(shoal.parse("tree"), network.problem())
    assert shoal.check(programs) is None and tree.contention(programs) is None
    ring = shoal.generate_all(shoal.parse("pairwise"), shoal.Problem(6))
    assert "finds all streams" in tree.contention(ring)


def test_sizes_known_in_advance():
    network = shoal.parse_topology("s0 n[0-2] 1G\ns0 s1 1G\ns1 n[3-5] 1G\n")
    tree = shoal.Tree(network)
    sizes = [0 if sender == receiver else 1000 * (sender + 1) for sender in range(6) for receiver in range(6)]
    plan, seconds = shoal.plan_sizes(tree, sizes)
    bound = tree.sized_seconds(sizes)
    assert bound <= seconds <= 1.2 * bound
    assert shoal.check([plan.program(rank) for rank in range(6)]) is None
    with pytest.raises(ValueError, match="5 sizes are given; for 6 ranks there are 36"):
        shoal.plan_sizes(tree, sizes[:5])


def test_files_are_read_and_written():
    network = shoal.parse_topology(SPEEDS)
    assert ("s0", False) in network.nodes and ("n8", True) in network.nodes
    again = shoal.parse_topology(network.to_edge_list())
    assert (again.nodes, again.links) == (network.nodes, network.links)
    assert shoal.parse_topology(network.to_slurm()).machines == network.machines
    assert shoal.fold_host_list(shoal.expand_host_list("n[08-11],m")) == "n[08-11],m"


def test_plan_on_a_topology(shoal_command, topology):
    path = topology(FIGURE_1)
    assert "Tokens, messages without blocks" in shoal_command.output("plan", "tree", "--topology", path)
    assert "Tokens" not in shoal_command.output("plan", "tree:sync=none", "--topology", path)
    plan = shoal_command.json("plan", "tree", "--topology", path)
    assert (plan["algorithm"], plan["ranks"]) == ("tree", 6)
    assert shoal_command.output("plan", "tree", "--topology", path, "--emit", "json").startswith('{"algorithm": "tree"')
    text = shoal_command.output("plan", "tree", "--topology", path, "--emit", "c")
    assert text.startswith("/*\n * tree on 6 ranks") and '"n0", "n1"' in text
    goal = shoal_command.output("plan", "pairwise", "--ranks", 3, "--emit", "goal", "--block", 64)
    assert goal.startswith("num_ranks 3\n") and "send 64b to 1 tag 0" in goal


@pytest.mark.parametrize(
    "args, says",
    [
        (["tree", "--ranks", 4], "tree cannot serve 4 ranks: it needs the topology of the switches"),
        (["pairwise", "--ranks", 4, "--emit", "pdf"], "unknown --emit pdf; choose c, goal or json"),
        (["ring", "--senders", 2, "--receivers", 3, "--emit", "c"], "--emit c writes an MPI_Alltoall"),
        (["pairwise", "--ranks", 4, "--rank", 1, "--emit", "c"], "needs the programs of all ranks"),
    ],
)
def test_plan_refuses(shoal_command, args, says):
    assert says in shoal_command.refused("plan", *args)


def test_plan_takes_the_ranks_from_the_topology(shoal_command, topology):
    assert "leave out --ranks" in shoal_command.refused("plan", "tree", "--ranks", 6, "--topology", topology(FIGURE_1))
