"""Generated C files on the emulated clusters that they are for, every byte compared: the paper's and a deeper one."""

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


@pytest.mark.parametrize("network", ["switch:24", "star:4x8", "line:4x8", DEEPER], ids=["a", "b", "c", "deeper"])
def test_generated(emulate, shoal_command, mpi, tmp_path, network):
    if "\n" in network:
        (tmp_path / "topology").write_text(network)
        network = str(tmp_path / "topology")
    shoal_command.output("topology", "generate", network, "-o", tmp_path / "alltoall.c")
    program = mpi.compile(
        Path(__file__).with_name("exchange.c"), tmp_path / "exchange", tmp_path / "alltoall.c", *FLAGS
    )
    line = emulate(mpi, network, "--rate", "50M", "--", program, 10000)
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(" faults 0, linked\n"), done.stdout
