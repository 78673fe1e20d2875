"""Programs made from seeds, compared with the MPI's own collectives; SHOAL_EXHAUSTIVE=1 runs 60 times as many.

To run one program again: mpiexec -n RANKS build/mpich/random_programs shoal SEED, with the settings of its case.
"""

import os

import pytest

import mpis

TIMES = 60 if os.environ.get("SHOAL_EXHAUSTIVE") else 1

NEIGHBORS = {
    "SHOAL_NEIGHBOR_ALLTOALL": "gathered",
    "SHOAL_NEIGHBOR_ALLTOALLV": "direct",
    "SHOAL_NEIGHBOR_ALLTOALLW": "gathered:carriers=1,local=messages",
}

# The names that are called, ranks, programs and settings. With a layout Shoal acts as if ranks were on several nodes.
CASES = [
    ("shoal", 2, 60, {}),
    ("shoal", 3, 40, {"SHOAL_LAYOUT": "2,1"} | NEIGHBORS),
    ("shoal", 4, 20, {"SHOAL_LAYOUT": "cyclic:2,2", "SHOAL_VERIFY": "1"} | NEIGHBORS),
    ("shoal", 5, 15, {}),
    ("shoal", 8, 3, {"SHOAL_LAYOUT": "3,5"}),
    ("mpi", 3, 30, {}),
    (
        "mpi",
        4,
        15,
        {"SHOAL_ALLTOALL": "shared", "SHOAL_ALLTOALLV": "tuna:radix=2", "SHOAL_ALLGATHER": "ring"} | NEIGHBORS,
    ),
    ("mpi", 6, 4, {"SHOAL_LAYOUT": "4,2", "SHOAL_VERIFY": "1"} | NEIGHBORS),
    ("shoal", 4, 10, {"SHOAL_MAX_TEMP": "20000", "SHOAL_LAYOUT": "2,2"} | NEIGHBORS),
    (
        "mpi",
        3,
        10,
        {"SHOAL_MAX_TEMP": "20000", "SHOAL_ALLTOALL": "tuna:radix=2", "SHOAL_ALLTOALLV": "tuna:radix=2"} | NEIGHBORS,
    ),
]


@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("mpi", [pytest.param(mpi, id=mpi.name) for mpi in mpis.WHEELS])
def test_random_programs(mpi, case):
    names, ranks, programs, settings = CASES[case]
    first = case * 1_000_000 + 1
    command = [mpi.build / "random_programs", names, first, first + programs * TIMES - 1]
    run = mpi.run(ranks, command, preload=names == "mpi", timeout=180 * TIMES, **settings)
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-10000:]
    assert f"{programs * TIMES} programs on {ranks} ranks" in run.stdout
