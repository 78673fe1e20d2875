"""The command under test, for machines that can emulate clusters."""

import sys
from pathlib import Path

import pytest

from shoal.emulation import Emulation
from shoal.errors import UserError
from shoal.networks import read_network


@pytest.fixture(scope="session")
def emulate():
    """emulate(mpi, network, ...): the command line that runs something there. Skips if no cluster can be made here."""
    try:
        with Emulation(read_network("switch:2")):
            pass
    except UserError as error:
        pytest.skip(str(error))

    def command(mpi, network, *args):
        return [Path(sys.prefix) / "bin/shoal", "emulate", network, "--mpi", mpi.tool("mpiexec"), *map(str, args)]

    return command
