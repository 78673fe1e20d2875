"""Every rank has items for other ranks, a different number for each. It tells them how many, then sends the items."""

import sys

import numpy as np
from mpi4py import MPI

import shoal

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
if len(sys.argv) > 1:  # an algorithm is named; otherwise Shoal chooses
    shoal.set_algorithm(world, alltoallv=sys.argv[1])

send_counts = np.array([(rank + i) % 3 for i in range(ranks)])
recv_counts = send_counts.copy()
shoal.alltoall(world, MPI.IN_PLACE, recv_counts)

items = np.repeat(100.0 * rank + np.arange(ranks), send_counts)
mine = np.zeros(recv_counts.sum())
shoal.alltoallv(world, [items, send_counts], [mine, recv_counts])

wrong = np.count_nonzero(mine != np.repeat(100 * np.arange(ranks) + rank, recv_counts))
wrong = world.allreduce(wrong)
if rank == 0:
    print(f"{wrong} wrong items; exchanged by {shoal.explain(world)}")
sys.exit(1 if wrong else 0)
