"""shoal plan: golden text for small plans, the JSON form that other programs read, wrong input."""

import os
from collections import defaultdict
from pathlib import Path

import pytest

import shoal
from shoal import graphs

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
PLANS = {
    "plan_tuna_radix3_8_ranks": ["tuna:radix=3", "--ranks", 8],
    "plan_tuna_radix3_8_ranks_rank_2": ["tuna:radix=3", "--ranks", 8, "--rank", 2],
    "plan_bruck_basic_5_ranks_rank_1": ["bruck:radix=2,variant=basic", "--ranks", 5, "--rank", 1],
    "plan_two_phase_4_ranks": ["two_phase", "--ranks", 4],
    "plan_scattered_6_ranks_rank_0": ["scattered:block_count=2", "--ranks", 6, "--rank", 0],
    "plan_exclusive_or_6_ranks": ["exclusive_or", "--ranks", 6],
    "plan_one_rank": ["tuna", "--ranks", 1],
}


@pytest.mark.parametrize("name", PLANS)
def test_text_is_golden(shoal_command, name):
    """Write the files anew with SHOAL_GOLDEN=write, and read what changed."""
    path = GOLDEN / f"{name}.txt"
    text = shoal_command.output("plan", *PLANS[name])
    if os.environ.get("SHOAL_GOLDEN") == "write":
        path.write_text(text)
    assert text == path.read_text()


def test_json_form(shoal_command):
    plan = shoal_command.json("plan", "tuna:radix=3,inflight=1", "--ranks", 8)
    assert list(plan) == ["algorithm", "ranks", "programs"]
    assert (plan["algorithm"], plan["ranks"]) == ("tuna:radix=3,inflight=1", 8)
    for rank, program in enumerate(plan["programs"]):
        assert list(program) == ["rank", "temp_slots", "temp_peak", "operations"]
        assert (program["rank"], program["temp_slots"], program["temp_peak"]) == (rank, 3, 3)
        for number, operation in enumerate(program["operations"]):
            assert list(operation) == ["id", "kind", "peer", "step", "slots", "after", "passing"]
            assert operation["id"] == number and all(earlier < number for earlier in operation["after"])
            assert len(operation["passing"]) == len(operation["slots"])


@pytest.mark.parametrize(
    "spec", ["tuna:radix=2", "bruck:variant=basic", "two_phase", "scattered:block_count=3", "linear"]
)
@pytest.mark.parametrize("ranks", [1, 2, 7, 16])
def test_json_can_be_run(shoal_command, spec, ranks):
    """Another program's reading of the plan delivers every block: transfers between two ranks match in id order."""
    programs = shoal_command.json("plan", spec, "--ranks", ranks)["programs"]
    values = [{f"send[{to}]": (rank, to) for to in range(ranks)} for rank in range(ranks)]
    mail = defaultdict(list)
    waiting = [list(program["operations"]) for program in programs]
    while any(waiting):
        before = sum(map(len, waiting))
        for rank, operations in enumerate(waiting):
            waiting[rank] = [operation for operation in operations if not run_one(rank, operation, values[rank], mail)]
        assert sum(map(len, waiting)) < before, "nothing can go on"
    for rank in range(ranks):
        assert [values[rank][f"recv[{origin}]"] for origin in range(ranks)] == [(o, rank) for o in range(ranks)]


def run_one(rank, operation, held, mail):
    """Runs the operation if what it reads is there; returns whether it was. Messages are kept in order."""
    kind, slots, peer = operation["kind"], operation["slots"], operation["peer"]
    if kind == "recv":
        if not mail[peer, rank]:
            return False
        held.update(zip(slots, mail[peer, rank].pop(0), strict=True))
        return True
    read = slots[:1] if kind == "copy" else slots
    if not all(slot in held for slot in read):
        return False
    if kind == "copy":
        held[slots[1]] = held[slots[0]]
    else:
        mail[rank, peer].append([held[slot] for slot in slots])
    return True


def test_one_rank_of_many(shoal_command):
    plan = shoal_command.json("plan", "tuna:radix=32", "--ranks", 100_000, "--rank", 99_999)
    (program,) = plan["programs"]
    system = shoal.DigitSystem(100_000, 32)
    sends = [operation for operation in program["operations"] if operation["kind"] == "send"]
    assert (len(sends), sum(len(send["slots"]) for send in sends)) == (system.steps, system.blocks)


@pytest.mark.parametrize(("radix", "messages", "blocks"), [(32, 124, 4063232), (1024, 2046, 2095104)])
def test_one_rank_of_a_million(shoal_command, radix, messages, blocks):
    _, text, _ = shoal_command("plan", f"tuna:radix={radix}", "--ranks", 2**20, "--rank", 5)
    assert f"K = {messages} messages, D = {blocks} blocks" in text
    assert "too long for a table" in text


def test_layout_has_any_number_of_levels(shoal_command):
    layout = "group:2 node:2 socket:2 core:2"
    plan = shoal_command.json("plan", "hierarchical:local=linear/none/radix,carriers=1", "--layout", layout)
    assert plan["ranks"] == 16
    problem = shoal.Problem(layout=layout)
    assert problem.levels == ["group", "node", "socket", "core"] and problem.largest_node == 4
    assert "16 ranks" in shoal_command.output("plan", "hierarchical", "--layout", layout)
    refused = shoal_command.refused("plan", "hierarchical:radix=2/3/4/5", "--layout", layout)
    assert "radix has values for 4 levels, of which the layout has 3 below the outermost" in refused
    assert "node:3 core:4,4,3" in shoal_command.refused("plan", "hierarchical", "--layout", "node:2 core")


def test_layout_gives_the_ranks(shoal_command):
    plan = shoal_command.json("plan", "hierarchical:local=radix,radix=2,block_count=4", "--layout", "4,4,3")
    assert plan["ranks"] == 11 and len(plan["programs"]) == 11


def test_groups(shoal_command):
    plan = shoal_command.json("plan", "circulant", "--senders", 2, "--receivers", 3)
    assert plan["ranks"] == 5
    received = [op["slots"] for op in plan["programs"][4]["operations"] if op["kind"] == "recv"]
    assert sorted(slot for slots in received for slot in slots) == ["recv[0]", "recv[1]"]


def sends(plan):
    return [
        [(op["peer"], len(op["slots"])) for op in one["operations"] if op["kind"] == "send"] for one in plan["programs"]
    ]


def test_among_neighbors(shoal_command, tmp_path):
    assert graphs.read_graph("grid:2x2") == [[2, 1], [3, 0], [0, 3], [1, 2]]
    assert graphs.read_graph("torus:3") == [[2, 1], [0, 2], [1, 0]]
    assert graphs.read_graph("torus:2x1") == [[1, 1, 0, 0], [0, 0, 1, 1]]
    ring = shoal_command.json("plan", "direct", "--graph", "torus:4")
    assert ring["ranks"] == 4 and sends(ring)[0] == [(1, 1), (3, 1)]
    (edges := tmp_path / "edges").write_text("0 3\n0 2\n1 3\n0 2\n")
    gathered = shoal_command.json("plan", "gathered:carriers=1", "--graph", edges, "--layout", "2,2")
    assert sends(gathered) == [[(2, 4)], [(0, 1)], [(3, 2)], []]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], ["'spec'", "shoal plan --help"]),
        (["gathered", "--ranks", "4"], ["gathered", "--graph"]),
        (["tuna", "--graph", "torus:4"], ["tuna", "direct, gathered"]),
        (["direct", "--graph", "torus:4", "--ranks", "5"], ["4 ranks"]),
        (["direct", "--graph", "torus:0"], ["torus:0", "at least 1"]),
        (["direct", "--graph", "torus:99999x99999"], ["torus:99999x99999", "at most"]),
        (["direct", "--graph", "nowhere"], ["nowhere", "grid:4x4"]),
        (["direct", "--graph", __file__], [":1:", "is no edge"]),
        (["direct", "--graph", "torus:4", "--emit", "c"], ["--emit c", "--graph"]),
        (["tuna"], ["--ranks 8", "--layout"]),
        (["tuna", "--ranks", "many"], ["many", "--ranks"]),
        (["tuna", "--ranks", "-3"], ["-3", "at least 1"]),
        (["tuna", "--ranks", "99999999999"], ["--ranks"]),
        (["tuna", "--ranks", "4", "--rank", "99999999999"], ["--rank"]),
        (["ring", "--senders", "99999999999", "--receivers", "1"], ["--senders"]),
        (["tuna", "--ranks", "4", "--emit", "goal", "--block", "9" * 20], ["--block"]),
        (["tuna:radix=1", "--ranks", "8"], ["radix=1", "2 to 1048576"]),
        (["tuna:radices=2x2", "--ranks", "8"], ["radices=2x2", "8 ranks"]),
        (["tuna", "--ranks", "8", "--rank", "8"], ["rank 8", "0 to 7"]),
        (["native", "--ranks", "8"], ["native", "no schedule"]),
        (["tuna", "--ranks", "100000"], ["100000", "--rank"]),
        (["tuna", "--layout", "4,4", "--ranks", "9"], ["8 ranks, not 9"]),
        (["tuna", "--layout", "4,x"], ["4,x"]),
        (["circulant", "--senders", "3"], ["--senders", "--receivers"]),
        (["circulant", "--senders", "3", "--receivers", "2", "--ranks", "9"], ["--senders", "--receivers"]),
    ],
)
def test_wrong_input(shoal_command, args, words):
    line = shoal_command.refused("plan", *args)
    assert all(word in line for word in words), line
