"""The MPI_Alltoall that `shoal topology generate` writes for a cluster, compiled."""

import subprocess
from pathlib import Path

import shoal
from shoal.errors import UserError
from shoal.mpi import Mpi

NAP = 1000  # microseconds that the routine sleeps between looks, because emulated hosts share this machine's cores


def compile_routine(network: shoal.Network, mpi: Mpi, folder: Path, window: int = 1) -> Path:
    """A library to preload, made with this MPI's compiler."""
    source, library = folder / "alltoall.c", folder / "liballtoall.so"
    programs = shoal.generate_all(shoal.parse(f"tree:window={window}"), network.problem())
    source.write_text(shoal.emit_c(programs, "for measuring", network.hosts))
    compiler = mpi.mpiexec.with_name(mpi.mpiexec.name.replace("mpiexec", "mpicc"))
    flags = ["-O2", "-shared", "-fPIC", f"-DALLTOALL_NAP={NAP}"]
    done = subprocess.run([compiler, *flags, source, "-o", library], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError(f"{compiler} cannot compile the generated routine: {done.stderr}")
    return library
