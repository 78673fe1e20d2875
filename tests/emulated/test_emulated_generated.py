"""Generated C files run on the emulated clusters for which they were made: the paper's three, and a deeper one.

Every byte is compared.
"""

import os
import subprocess
from pathlib import Path

import pytest

import mpis

DEEPER = """
root left 100M        # two levels, uneven, one uplink faster than the others
root right 50M
root m0 50M
left a[0-1] 50M
a0 n[0-4] 50M
a1 n[5-8] 50M
left n9 50M
right n[10-15] 50M
"""
FLAGS = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-DALLTOALL_NAP=200"]
EXHAUSTIVE = "SHOAL_EXHAUSTIVE" in os.environ


@pytest.fixture(params=[pytest.param(m, id=m.name) for m in (mpis.WHEELS if EXHAUSTIVE else mpis.WHEELS[:1])])
def mpi(request):
    if reason := request.param.missing():
        pytest.skip(reason)
    return request.param


NETWORKS = {"a": "switch:24", "b": "star:4x8", "c": "line:4x8", "deeper": DEEPER}
BYTES = 20000  # of a block: more than twice the bytes that the last part of a block has


@pytest.fixture(params=NETWORKS)
def network(request, tmp_path):
    text = NETWORKS[request.param]
    if "\n" not in text:
        return text
    (tmp_path / "topology").write_text(text)
    return str(tmp_path / "topology")


def test_generated(emulate, shoal_command, mpi, tmp_path, network):
    shoal_command.output("topology", "generate", network, "-o", tmp_path / "alltoall.c")
    program = mpi.compile(
        Path(__file__).with_name("exchange.c"), tmp_path / "exchange", tmp_path / "alltoall.c", *FLAGS
    )
    line = emulate(mpi, network, "--rate", "50M", "--", program, BYTES)
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(" faults 0, linked\n"), done.stdout


@pytest.mark.parametrize("spec", ["tree", "tree:window=2"])
def test_executed(emulate, mpi, tmp_path, spec):
    """The executor delivers the same blocks, with two messages at a time on the faster link."""
    (tmp_path / "topology").write_text(DEEPER)
    program = mpi.compile(Path(__file__).with_name("exchange.c"), tmp_path / "exchange")
    line = emulate(mpi, tmp_path / "topology", "--alltoall", spec, "--report", "--", program, BYTES)
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(" faults 0\n"), done.stdout
    assert any(line.startswith("shoal: alltoall") and line.endswith(spec) for line in done.stderr.splitlines())


def test_uneven_blocks(emulate, mpi, tmp_path):
    """The order of messages is made from sizes that change from call to call. Every byte is compared."""
    program = mpi.compile(Path(__file__).with_name("uneven.c"), tmp_path / "uneven")
    line = emulate(mpi, "line:2x4", "--rate", "50M", "--alltoallv", "tree", "--report", "--", program)
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "faults 0\n"), done.stderr
    assert any(line.startswith("shoal: alltoallv") and line.endswith("tree") for line in done.stderr.splitlines())
