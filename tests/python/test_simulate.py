"""shoal simulate: schedules on SimGrid's SMPI, small; what it says of where times come from, and what is refused."""

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import shoal
from shoal.machine import COMMON
from shoal.platforms import KINDS, make_platform
from shoal.routes import links_of, torus
from shoal.simulation import Simulation, made

FOLDER = Path(sys.prefix) / "lib/shoal/smpi"
NEEDED = ("smpirun", "smpicc", "libshoal_simulated.so")
MISSING = next((f"there is no {path}; make build-smpi makes it" for name in NEEDED
                if not (path := FOLDER / name).exists()), None)  # fmt: skip
simulated = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))


def run(shoal_command, folder, *args):
    """What was printed, the first record, and the others by variant and size."""
    status, text, err = shoal_command("simulate", "-o", folder, *args)
    assert status == 0, err
    first, *cases = map(json.loads, (folder / "results.jsonl").read_text().splitlines())
    return text, first["provenance"], {(case["variant"], case["size"]): case for case in cases}


@simulated
@pytest.mark.parametrize("platform", KINDS)
def test_linear_costs_two_messages_a_rank(shoal_command, tmp_path, platform):
    """32 ranks on 8 nodes: with 10 us a message a linear exchange takes 31 sends and 31 receives, and little more."""
    args = ["--platform", platform, "--nodes", 8, "--ppn", 4, "--message-cost", "10us", "--sizes", 8]
    args += ["--distribution", "uniform"]
    variants = "native;spread_out;tuna:radix=2;hierarchical;hierarchical:pattern=staggered"
    text, _, cases = run(shoal_command, tmp_path, *args, "--variants", variants)
    assert all(case["verified"] and case["modelled"] for case in cases.values())
    took = {variant: case["seconds"][0] for (variant, _), case in cases.items()}
    assert 620e-6 < took["spread_out"] < 660e-6
    # Rounds follow each other, each with a message sent and one received: five; or two in a node, seven between nodes.
    assert 100e-6 < took["tuna:radix=2"] < 120e-6
    assert 140e-6 < took["hierarchical"] < 260e-6 < took["hierarchical:pattern=staggered"]
    assert "10 us for each message" in text and "GB/s" in text


@simulated
def test_the_model_stands_beside(shoal_command, tmp_path):
    """On every platform, for variants that the model knows. The error that is told is that of the worst time."""
    args = ["--platform", "dragonfly,torus", "--nodes", 4, "--ppn", 2, "--sizes", 8, "--distribution", "uniform"]
    args += ["--variants", "native;tuna:radix=2;spread_out;two_phase"]
    status, text, _ = shoal_command("simulate", "-o", tmp_path, *args)
    assert status == 0
    lines = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert [line["provenance"]["mpi"] for line in lines if "provenance" in line] == [
        f"modelled {platform} 4x2" for platform in ("dragonfly", "torus")
    ]
    off = [abs(line["predicted"] / line["seconds"][0] - 1) for line in lines if "predicted" in line]
    assert [line["variant"] for line in lines if "predicted" in line] == 2 * ["tuna:radix=2", "spread_out", "two_phase"]
    assert f"in the median of 6 times, by {max(off):.0%} at most" in " ".join(text.split())


@simulated
@pytest.mark.parametrize("distribution", ["uniform", "random"])
def test_one_program_for_all_ranks_takes_the_same_time(shoal_command, tmp_path, monkeypatch, distribution):
    """Contents are not verified then, because the blocks of a message may lie in another order."""
    args = ["--nodes", 4, "--ppn", 4, "--sizes", 64, "--distribution", distribution]
    args += ["--variants", "tuna:radix=2;hierarchical;spread_out;linear"]
    _, _, own = run(shoal_command, tmp_path, *args)
    monkeypatch.setattr("shoal.commands.simulate.MOST_VERIFIED_BYTES", 0)
    _, _, common = run(shoal_command, tmp_path, *args)
    for case, one in common.items():
        assert own[case]["verified"] and not one["verified"]
        assert one["seconds"] == pytest.approx(own[case]["seconds"], rel=0.01)


@simulated
@pytest.mark.parametrize("platform", [*KINDS, "torus:4x3"])
def test_events_take_what_simgrid_takes(shoal_command, tmp_path, platform):
    """Messages that queue at links and messages that share them end the exchange at about the same time."""
    args = ["--platform", platform, "--nodes", 12, "--ppn", 2, "--sizes", "16,4096", "--distribution", "uniform"]
    args += ["--variants", "tuna:radix=2;hierarchical;spread_out"]
    _, _, shared = run(shoal_command, tmp_path, *args)
    _, provenance, queued = run(shoal_command, tmp_path, *args, "--events")
    assert "events" in provenance["simulator"] and queued.keys() == shared.keys()
    for case, one in queued.items():
        assert one["seconds"] == pytest.approx(shared[case]["seconds"], rel=0.25), case


@simulated
def test_each_selector_has_its_native(shoal_command, tmp_path):
    args = ["--nodes", 2, "--ppn", 3, "--sizes", "8,64", "--selector", "mpich,ompi", "--distribution", "uniform"]
    _, provenance, cases = run(shoal_command, tmp_path, *args, "--variants", "native;tuna")
    assert set(cases) == {(name, size) for name in ("native", "native ompi", "tuna") for size in (8, 64)}
    assert provenance["modelled"] and "SimGrid" in provenance["simulator"]
    status, said, _ = shoal_command("report", tmp_path, "-o", tmp_path / "report")
    page = (tmp_path / "report/index.html").read_text()
    assert status == 0 and "2 cases" in said
    assert "modelled dragonfly 2x3" in page and "0.4 us for each message" in page and "x faster" in page
    assert "Times are modelled" in page and not (tmp_path / "report/spread.svg").exists()  # all repetitions are alike


@simulated
def test_messages_between_groups(shoal_command, tmp_path):
    """Long messages by `full`. Nothing is faster than `bound`: all messages of the senders through one port."""
    args = ["--platform", "fat-tree", "--nodes", 8, "--ppn", 1, "--senders", 3, "--sizes", 1 << 20]
    _, _, cases = run(shoal_command, tmp_path, *args, "--variants", "full:allgather=ring;ring;root_gathering")
    took = {variant: case["seconds"][0] for (variant, _), case in cases.items()}
    bound = 3 * (1 << 20) / 12.5e9
    assert all(case["verified"] for case in cases.values())
    assert bound < took["full:allgather=ring"] < took["root_gathering"]


PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int calls;  // each rank has its own
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks, rank, most = atoi(argv[1]);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int out[99], in[99], ones[99], places[99];
  for (int i = 0; i < ranks; ++i) ones[i] = 1, places[i] = i;
  for (; calls < most; ++calls) {
    for (int i = 0; i < ranks; ++i) out[i] = 1000 * rank + i + calls;
    MPI_Alltoallv(out, ones, places, MPI_INT, in, ones, places, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; ++i)
      if (in[i] != 1000 * i + rank + calls) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  if (rank == 0) printf("%d calls on %d ranks\\n", calls, ranks);
  MPI_Finalize();
}
"""


def compiled(folder):
    (folder / "program.c").write_text(PROGRAM)
    subprocess.run([made("smpicc"), "-O1", folder / "program.c", "-o", folder / "program"], check=True)
    return folder / "program"


@simulated
def test_neighbors(shoal_command, tmp_path):
    """Every rank sends to 6 others of 16, and what arrives is what was sent."""
    args = ["--nodes", 4, "--ppn", 4, "--message-cost", "10us", "--sizes", "8,300", "--distribution", "partners:6"]
    _, _, cases = run(shoal_command, tmp_path, *args, "--variants", "native;direct;gathered;gathered:carriers=1")
    assert len(cases) == 8 and all(case["verified"] for case in cases.values())


@simulated
def test_a_whole_program_without_and_with_shoal(shoal_command, tmp_path):
    """32 ranks on 8 nodes; a radix exchange is ahead by far, and is found within 200 calls."""
    program = compiled(tmp_path)
    status, text, err = shoal_command(
        "simulate", "-o", tmp_path, "--nodes", 8, "--ppn", 4, "--message-cost", "2us",
        "--", program, 200,
    )  # fmt: skip
    assert status == 0, err
    first, without, served = map(json.loads, (tmp_path / "results.jsonl").read_text().splitlines())
    assert first["provenance"]["modelled"] and text.count("200 calls on 32 ranks") == 2
    assert (without["shoal"], served["shoal"]) == (False, True) and without["calls"] == served["calls"] == 200
    assert without["learning"] == 0 < served["learning"] < 0.1 * without["exchanging"]
    assert served["seconds"] < 0.9 * without["seconds"] and "learning cost" in "\n".join(served["told"])
    assert "is ignored" not in "\n".join(served["told"])  # as an unknown variable would be
    status, said, _ = shoal_command("report", tmp_path, "-o", tmp_path / "report")
    page = (tmp_path / "report/index.html").read_text()
    assert status == 0 and "2 runs of programs" in said and "Whole programs" in page


@simulated
def test_a_program_too_short_to_gain_is_hardly_slower(shoal_command, tmp_path):
    """16 ranks exchange 100 times on each of three communicators. Shoal has to see that agreements take time here."""
    source = Path(__file__).resolve().parents[2] / "bench/programs/exchanges.c"
    subprocess.run([made("smpicc"), "-O1", source, "-o", tmp_path / "exchanges"], check=True)
    status, _, err = shoal_command(
        "simulate", "-o", tmp_path, "--nodes", 4, "--ppn", 4,
        "--", tmp_path / "exchanges", "pencils", "alltoallv", 300, 256,
    )  # fmt: skip
    assert status == 0, err
    _, without, served = map(json.loads, (tmp_path / "results.jsonl").read_text().splitlines())
    assert served["seconds"] < 1.02 * without["seconds"]


@simulated
def test_what_the_model_makes_of_all_levels_is_tried(shoal_command, tmp_path):
    """On groups of nodes Shoal tries one candidate more than on the nodes alone."""
    program = compiled(tmp_path)
    shape = ["--nodes", 8, "--ppn", 4, "--message-cost", "2us"]
    told = []
    for layout in ("8x4", "group:4 node:2 core:4"):
        args = ["simulate", "-o", tmp_path, *shape, "--layout", layout, "--", program, 200]
        status, text, err = shoal_command(*args)
        assert status == 0, err
        told.append(next(line for line in text.splitlines() if line.startswith("shoal: tried")))
    problem = shoal.Problem(layout="group:4 node:2 core:4")
    proposed = COMMON.best_levels(problem, 4)
    assert proposed in told[1] and proposed not in told[0] and "hierarchical:local=shared" in told[1]


@simulated
def test_a_program_that_is_not_there(shoal_command, tmp_path):
    assert "smpicc" in shoal_command.refused("simulate", "-o", tmp_path, "--", tmp_path / "none")


@simulated
def test_errors_of_ranks_are_shown(shoal_command, tmp_path):
    status, _, err = shoal_command("simulate", "--nodes", 2, "--ppn", 1, "--distribution", "odd", "-o", tmp_path)
    assert status == 2 and "there is no distribution 'odd'" in err


def test_senders_pay_where_many_exchange():
    """If as many messages come as go, the sender is charged what both ends of a message cost."""
    few, many, groups = (Simulation(make_platform("torus", nodes), nodes, 32, 1e-6, every)
                         for nodes, every in ((16, True), (32, True), (32, False)))  # fmt: skip
    assert [one.senders_pay for one in (few, many, groups)] == [False, True, False]
    assert "smpi/os:0:2e-06:4e-11" in many.costs(["tuna"])
    for costs in (few.costs(["tuna"]), groups.costs(["ring"]), many.costs(["native"])):
        assert "smpi/or:0:1e-06:2e-11" in costs
    assert "charged to its sender" in many.words() and "charged" not in groups.words()


def open_pipe(path):
    os.mkfifo(path)
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK)


def test_what_was_started_ends_too(tmp_path):
    """In place of smpirun there is a program that gives one result, would go on for long, and holds a pipe open."""
    (tmp_path / "temporary").mkdir()
    held, results = open_pipe(tmp_path / "held"), open_pipe(tmp_path / "results.jsonl")
    case = json.dumps({"ranks": 256, "distribution": "random", "size": 8, "variant": "tuna", "ran": "", "seconds": [1]})
    endless = (
        f"[ $1 = -version ] && echo SimGrid version 3.32 && exit\necho '{case}'; exec sleep 1000 3>{tmp_path}/held"
    )
    made = tmp_path / "lib/shoal/smpi"
    made.mkdir(parents=True)
    (made / "libshoal_simulated.so").touch()
    (made / "smpirun").write_text(f"#!/bin/sh\n{endless}\n")
    (made / "smpirun").chmod(0o755)
    elsewhere = "import sys; sys.prefix = sys.argv.pop(1); from shoal.cli import main; main()"
    command = [sys.executable, "-c", elsewhere, tmp_path, "simulate", "-o", tmp_path]
    with subprocess.Popen(command, env=os.environ | {"TMPDIR": str(tmp_path / "temporary")}) as simulating:
        written = b""
        while b"variant" not in written:
            assert select.select([results], [], [], 60)[0]
            written += os.read(results, 4096)
        simulating.send_signal(signal.SIGTERM)
    assert simulating.returncode == 128 + signal.SIGTERM
    assert os.read(held, 1) == b""  # the pipe is closed; else this would block
    assert not list((tmp_path / "temporary").iterdir())


@simulated
def test_a_platform_of_ones_own(shoal_command, tmp_path):
    (tmp_path / "own.xml").write_text(make_platform("torus", 4).xml)
    args = ["--platform", tmp_path / "own.xml", "--nodes", 4, "--ppn", 1, "--sizes", "8", "--variants", "native"]
    assert len(run(shoal_command, tmp_path, *args)[2]) == 1


@pytest.mark.parametrize("nodes", [1, 2, 3, 7, 16, 100, 128, 512])
@pytest.mark.parametrize("kind", KINDS)
def test_kinds_have_room_and_little_more(kind, nodes):
    platform = make_platform(kind, nodes)
    assert nodes <= len(platform.hosts) <= 2 * nodes + 2
    assert platform.host_file(nodes, 2).splitlines()[:3] == ["n0", "n0", "n1"][: 2 * nodes]


@pytest.mark.parametrize(
    ("kind", "nodes", "layout"),
    [
        ("dragonfly", 64, "group:8 node:8 core:4"),
        ("dragonfly", 12, "group:2 node:6 core:4"),
        ("torus", 24, "plane:3 row:2 node:4 core:4"),
        ("fat-tree", 10, "group:3 node:4,4,2 core:4"),
        ("torus:4x3", 12, "row:3 node:4 core:4"),
    ],
)
def test_platforms_have_levels(kind, nodes, layout):
    found = make_platform(kind, nodes).layout(nodes, 4)
    assert shoal.Problem(layout=found).ranks == 4 * nodes
    assert found == layout


@pytest.mark.parametrize("nodes", [1, 2, 12, 30, 64])
@pytest.mark.parametrize("kind", KINDS)
def test_links_lead_from_node_to_node(kind, nodes):
    """A path leads from each node to each other one: no link twice, none of the way back, and not too many."""
    parameters = KINDS[kind].shape(nodes)[1]
    links = links_of(KINDS[kind].route(parameters), nodes)
    assert len(links.paths) == nodes * nodes and min(links.widths, default=1) > 0
    for pair, path in enumerate(links.paths):
        assert bool(path) == (pair // nodes != pair % nodes)
        assert len(set(path)) == len(path) <= 12
        back = links.paths[pair % nodes * nodes + pair // nodes]
        assert not set(path) & set(back), "a link has one direction"


def test_routes_of_a_torus_are_the_shorter_way():
    links = links_of(torus("5,4"), 20)
    hops = [len(links.paths[node]) for node in range(20)]
    assert hops == [min(x, 5 - x) + min(y, 4 - y) for y in range(4) for x in range(5)]


def test_a_torus_of_a_given_shape():
    assert len(make_platform("torus:4x3", 5).hosts) == 12 and "4,3" in make_platform("torus:4x3", 5).xml


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--platform", "cube"], "neither a file nor one of dragonfly"),
        (["--message-cost", "soon"], "expected one such as 0.4us"),
        (["--selector", "best"], "unknown --selector best; choose mpich, ompi, mvapich2 or impi"),
        (["--sizes", "big"], "numbers of bytes"),
        (["--sizes=-64"], "numbers of bytes"),
        (["--variants", ";"], "--variants ';' names none"),
        (["--platform", "torus:4", "--nodes", "16"], "torus:4 has 4 hosts; --nodes 16 is more"),
        (["--platform", "torus:0x4"], "neither a file nor one of dragonfly"),
        (["--variants", "tuna:radix=1"], "radix"),
        (["--nodes", "2", "--ppn", "2", "--senders", "4"], "at least one must receive"),
        (["--senders", "3", "--variants", "native"], "root_gathering"),
        (["--events", "--model"], "two ways"),
        (["--events", "--variants", "native"], "the MPI's own exchange, has none"),
        (["--events", "--variants", "hierarchical:carriers=1"], "differ in more than the names of ranks"),
        (["--events", "--distribution", "sparse"], "know uniform and random blocks, not sparse"),
        (["--events", "--distribution", "partners:2", "--variants", "direct"], "--events knows all-to-alls only"),
    ],
)
def test_wrong_words(shoal_command, args, words):
    assert words in shoal_command.refused("simulate", *args)


@pytest.mark.parametrize(
    ("exchange", "variants"),
    [
        (["--ppn", 4], {"tuna:radix=2", "tuna", "hierarchical"}),
        (["--ppn", 4, "--distribution", "partners:3"], {"direct", "gathered"}),
        (["--ppn", 1, "--senders", 3], {"root_gathering", "full"}),
    ],
)
def test_usual_variants_are_those_of_the_exchange(shoal_command, tmp_path, exchange, variants):
    status, _, err = shoal_command("simulate", "--model", "--nodes", 4, *exchange, "--sizes", 64, "-o", tmp_path)
    assert status == 0, err
    cases = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()[1:]]
    assert {case["variant"] for case in cases} == variants


def test_what_is_missing_is_said(shoal_command, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert "apt-get install libsimgrid-dev" in shoal_command.refused("simulate", "-o", tmp_path)
