"""Transforms a field of N x N x N there and back by mpi4py-fft: fields.py N TIMES slabs|pencils

mpi4py-fft exchanges by MPI_Alltoallw. Every block is a part of an array and has a datatype of its own. Checks that the
field comes back, and prints the seconds of all transforms.
"""

import sys

import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

world = MPI.COMM_WORLD
n, times = map(int, sys.argv[1:3])
plan = PFFT(world, (n, n, n), dtype=complex, slab=sys.argv[3] == "slabs")
field = newDistArray(plan, False)
field[:] = np.random.default_rng(world.rank).random(field.shape)
begun = field.copy()
world.Barrier()
began = MPI.Wtime()
for _ in range(times):
    spectrum = plan.forward(field)
    field = plan.backward(spectrum, field)
world.Barrier()
if not np.allclose(field, begun):
    sys.exit("fields.py: the field did not come back")
if world.rank == 0:
    print(f"SECONDS {MPI.Wtime() - began:.6f}")
