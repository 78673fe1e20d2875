"""Generated C files are compiled without a warning, run, and compared with PMPI_Alltoall byte by byte."""

import socket
import subprocess
from pathlib import Path

import pytest

import mpis
import shoal

CHECK = Path(__file__).resolve().parent / "check_alltoall.c"
FLAGS = ["-std=c99", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror"]
FIGURE_1 = (
    "SwitchName=s0 Nodes=n[0-2]\nSwitchName=s1 Switches=s[0,2,3] Nodes=n5\nSwitchName=s2\nSwitchName=s3 Nodes=n[3-4]\n"
)
CALLS = 59  # of the program's calls, those that a schedule for all ranks can serve


def missing(mpi):
    return None if Path(mpi.tool("mpicc")).exists() else f"there is no {mpi.tool('mpicc')}"


@pytest.fixture(params=[pytest.param(m, id=m.name) for m in mpis.WHEELS], scope="session")
def mpi(request):
    if reason := missing(request.param):
        pytest.skip(reason)
    return request.param


@pytest.fixture
def run(mpi, tmp_path):
    """run(text, ranks): what the check program prints when the generated text serves it."""

    def run(text, ranks, *flags):
        source = tmp_path / "alltoall.c"
        source.write_text(text)
        program = tmp_path / "check"
        subprocess.run([mpi.tool("mpicc"), *FLAGS, *flags, source, CHECK, "-o", program], check=True)
        result = mpi.run(ranks, [program], preload=False, timeout=300)
        assert result.returncode == 0, result.stderr
        return result.stdout.split()

    return run


def served(calls):
    return ["faults:", "0", "served:", str(calls), "of", str(CALLS)]


def emit(network, spec):
    programs = shoal.generate_all(shoal.parse(spec), network.problem())
    return shoal.emit_c(programs, f"{spec} for a test", network.hosts)


@pytest.mark.parametrize("spec", ["tree", "tree:parts=3,last=1000", "tree:window=2,parts=1", "tree:sync=none"])
def test_figure_1(run, spec):
    text = emit(shoal.parse_topology(FIGURE_1), spec)
    assert run(text, 6, "-DALLTOALL_ANY_HOST", "-DALLTOALL_NAP=100") == served(CALLS)


def test_faster_links(run):
    """Two messages at a time between the switches need half of the phases."""
    network = shoal.parse_topology("s0 s1 2G\ns0 n[0-2] 1G\ns1 n[3-5] 1G")
    programs = shoal.generate_all(shoal.parse("tree"), network.problem())
    assert max(operation.step for program in programs for operation in program.operations) < 9 - 1
    assert shoal.Tree(network).contention(programs) is None
    assert run(emit(network, "tree"), 6, "-DALLTOALL_ANY_HOST", "-DALLTOALL_NAP=100") == served(CALLS)


def test_waiting_inside_mpi(run):
    text = emit(shoal.parse_topology("SwitchName=s0 Nodes=n[0-1]"), "tree")
    assert run(text, 2, "-DALLTOALL_ANY_HOST") == served(CALLS)


@pytest.mark.parametrize("spec", ["tuna:radix=2", "bruck:variant=basic", "exclusive_or"])
def test_any_schedule(run, spec):
    programs = shoal.generate_all(shoal.parse(spec), shoal.Problem(5))
    assert run(shoal.emit_c(programs, spec), 5, "-DALLTOALL_NAP=100") == served(CALLS)


def test_hierarchical(run):
    programs = shoal.generate_all(shoal.parse("hierarchical"), shoal.Problem(layout="3,2"))
    assert run(shoal.emit_c(programs), 5, "-DALLTOALL_NAP=100") == served(CALLS)


def test_ranks_on_their_hosts(run):
    """Several ranks find their places by the name of their host, which is this machine."""
    name = socket.gethostname().split(".")[0]
    network = shoal.parse_topology(f"s0 {name}\ns0 elsewhere\n")
    network.place_ranks([name] * 4)
    assert run(emit(network, "tree"), 4, "-DALLTOALL_NAP=100") == served(CALLS)


def test_ranks_on_other_hosts(run):
    """If no host matches, the MPI's own collective serves every call."""
    text = emit(shoal.parse_topology("SwitchName=s0 Nodes=elsewhere[0-3]"), "tree:parts=1")
    assert run(text, 4, "-DALLTOALL_NAP=100") == served(0)


def test_too_few_places_on_a_host(run):
    name = socket.gethostname().split(".")[0]
    network = shoal.parse_topology(f"s0 {name}\ns0 elsewhere\n")
    network.place_ranks([name, name, "elsewhere"])
    assert run(emit(network, "tree:parts=1"), 3, "-DALLTOALL_NAP=100") == served(0)


@pytest.mark.parametrize("spec, ranks", [("tree", 256), ("tuna:radix=4", 64)])
def test_compiles(mpi, tmp_path, spec, ranks):
    network = shoal.parse_topology(f"SwitchName=s0 Nodes=n[0-{ranks - 1}]")
    source = tmp_path / "large.c"
    source.write_text(emit(network, spec))
    subprocess.run([mpi.tool("mpicc"), *FLAGS, "-c", source, "-o", tmp_path / "large.o"], check=True)
