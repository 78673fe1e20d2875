"""Transforms a field there and back in two dimensions, with mpi4py and numpy: spectral.py ROWS COLUMNS TIMES

Rows are spread over the ranks as evenly as possible, and transposed by Alltoallv. Checks that the field comes back, and
prints the seconds of all transforms.
"""

import sys
from itertools import pairwise

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rows, columns, times = map(int, sys.argv[1:])


def spread(n: int) -> np.ndarray:
    """Where each rank's part of n begins, and n itself."""
    return np.arange(world.size + 1) * n // world.size


def transposed(mine: np.ndarray, width: int, height: int) -> np.ndarray:
    """This rank's columns, as rows, of a matrix of height x width, of which this rank has the rows `mine`."""
    across, down = spread(width), spread(height)
    out = np.concatenate([mine[:, a:b].T.ravel() for a, b in pairwise(across)])
    part = across[world.rank + 1] - across[world.rank]
    sent, received = np.diff(across) * len(mine), np.diff(down) * part
    got = np.empty(height * part, dtype=complex)
    world.Alltoallv([out, sent], [got, received])
    blocks = np.split(got, np.cumsum(received)[:-1])
    return np.concatenate([block.reshape(part, -1) for block in blocks], axis=1)


down = spread(rows)
field = np.random.default_rng(world.rank).random((down[world.rank + 1] - down[world.rank], columns)) + 0j
world.Barrier()
began = MPI.Wtime()
for _ in range(times):
    spectrum = np.fft.fft(transposed(np.fft.fft(field), columns, rows))
    back = np.fft.ifft(transposed(np.fft.ifft(spectrum), rows, columns))
    if not np.allclose(back, field):
        sys.exit("spectral.py: the field did not come back")
world.Barrier()
if world.rank == 0:
    print(f"SECONDS {MPI.Wtime() - began:.6f}")
