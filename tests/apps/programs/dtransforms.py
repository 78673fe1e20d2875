"""Transforms a field by dtFFT (dtfft-fftw-openmpi on PyPI), which exchanges by MPI_Ialltoall."""

import sys

import dtfft
import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
config = dtfft.Config(backend=dtfft.Backend.MPI_A2A, enable_z_slab=False)
plan = dtfft.PlanC2C([24, 20, 18], comm=world, executor=dtfft.Executor.FFTW3, config=config)
field, spectrum, back = (plan.get_ndarray(plan.alloc_size) for _ in range(3))
field[:] = np.random.default_rng(world.rank).random(field.shape)
begun = field.copy()
plan.execute(field, spectrum, dtfft.Execute.FORWARD)
_, in_counts, _, out_counts, _ = plan.local_sizes
# FFTW chooses by measuring, and each of its choices rounds in its own way. So only 8 decimals are compared.
found = world.gather([f"{number:.8f}" for number in spectrum.ravel()[: np.prod(out_counts)][:20]])
plan.execute(spectrum, back, dtfft.Execute.BACKWARD)
own = np.prod(in_counts)
if not np.allclose(back.ravel()[:own] / (24 * 20 * 18), begun.ravel()[:own]):
    sys.exit("the field did not come back")
if world.rank == 0:
    print("spectrum", found)
