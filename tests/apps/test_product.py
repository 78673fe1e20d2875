"""A sparse matrix times a vector: what a rank needs from others comes by exchanges among neighbours of every kind."""

from pathlib import Path

import pytest

import mpis
from mpis import served

SOURCE = Path(__file__).resolve().parent / "programs/product.c"


@pytest.mark.parametrize("mpi", [pytest.param(mpi, id=mpi.name) for mpi in mpis.WHEELS])
def test_as_the_product_of_one_rank(mpi, tmp_path):
    if mpi.missing():
        pytest.skip(mpi.missing())
    program = mpi.compile(SOURCE, tmp_path / "product")
    for ranks, layout, spec in [(4, "2,2", "gathered"), (4, "4", "direct"), (5, "3,2", "gathered:carriers=1")]:
        done = mpi.run(ranks, [program], SHOAL_NEIGHBOR_ALLTOALLV=spec, SHOAL_LAYOUT=layout, SHOAL_REPORT=1)
        assert done.returncode == 0 and done.stdout == "faults: 0\n", done.stdout + done.stderr
        assert served(done) == {("neighbor_alltoallv", spec): 30}
