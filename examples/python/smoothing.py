"""Smooths a row of numbers, of which each rank has a part. Every rank needs the numbers beside its own."""

import numpy as np
from mpi4py import MPI

import shoal

line = MPI.COMM_WORLD.Create_cart([MPI.COMM_WORLD.size], [False])
rank, ranks, own = line.rank, line.size, 100
row = np.sin(np.arange(-1.0, own * ranks + 1))  # and one number beyond each end, which stays the same
mine = row[rank * own : (rank + 1) * own + 2].copy()

for _ in range(10):
    edges, beside = mine[[1, -2]], mine[[0, -1]]
    shoal.neighbor_alltoall(line, edges, beside)  # `beside` stays as it is where there is no neighbour
    mine[[0, -1]] = beside
    mine[1:-1] = (mine[:-2] + 2 * mine[1:-1] + mine[2:]) / 4
    row[1:-1] = (row[:-2] + 2 * row[1:-1] + row[2:]) / 4

wrong = np.count_nonzero(mine[1:-1] != row[rank * own + 1 : (rank + 1) * own + 1])
wrong = line.allreduce(wrong)
if rank == 0:
    print(f"{wrong} of {own * ranks} numbers are wrong")
