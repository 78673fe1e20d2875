"""Transforms a field of 24 x 20 x 18 there and back by mpi4py-fft, which exchanges blocks between the dimensions."""

import numpy
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

plan = PFFT(MPI.COMM_WORLD, (24, 20, 18), dtype=float, flags=("FFTW_ESTIMATE",))
field = newDistArray(plan, False)
field[:] = numpy.random.default_rng(MPI.COMM_WORLD.rank).random(field.shape)
spectrum = plan.forward(field)
error = MPI.COMM_WORLD.allreduce(abs(plan.backward(spectrum) - field).max(), op=MPI.MAX)
power = MPI.COMM_WORLD.allreduce(float((abs(spectrum) ** 2).sum()))
if MPI.COMM_WORLD.rank == 0:
    print(f"spectrum {power.hex()} and back: {error < 1e-14}")
