"""Particles go to the ranks that own the places where they are. No rank knows who sends to it, or how many."""

import numpy as np
from mpi4py import MPI

import shoal

world = MPI.COMM_WORLD
particles = np.random.default_rng(world.rank).random((1000, 3))  # in the unit cube, of which each rank owns a slab

for _ in range(5):
    owners = (particles[:, 0] * world.size).astype(int)
    particles = particles[np.argsort(owners, kind="stable")]
    owners, counts = np.unique(owners, return_counts=True)
    came = shoal.exchange(world, [particles, 3 * counts], owners)
    particles = came.data.reshape(-1, 3)
    assert ((particles[:, 0] * world.size).astype(int) == world.rank).all()
    particles = (particles + 0.01) % 1

everywhere = world.allreduce(len(particles))
if world.rank == 0:
    print(f"{everywhere} particles of {1000 * world.size} are where they belong")
