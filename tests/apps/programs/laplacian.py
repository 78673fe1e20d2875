"""Solves a 2-D Laplacian by PETSc: laplacian.py neighbor | superlu_dist

Either by conjugate gradients, whose vectors PETSc's star forest scatters among neighbours (MPI_Ineighbor_alltoallv), or
by SuperLU_DIST, which distributes the matrix by MPI_Alltoall and MPI_Alltoallv.
"""

import sys

import petsc4py

by = sys.argv[1]
petsc4py.init(["laplacian", "-sf_type", "neighbor" if by == "neighbor" else "basic"])
from petsc4py import PETSc  # noqa: E402  # PETSc reads the arguments above

N = 40
matrix = PETSc.Mat().createAIJ([N * N, N * N], nnz=5)
for row in range(*matrix.getOwnershipRange()):
    i, j = divmod(row, N)
    matrix[row, row] = 4
    for k, m in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
        if 0 <= k < N and 0 <= m < N:
            matrix[row, k * N + m] = -1
matrix.assemble()
solution, right = matrix.createVecs()
right.set(1.0)
solver = PETSc.KSP().create()
solver.setOperators(matrix)
solver.setTolerances(rtol=1e-10)
solver.setType("cg" if by == "neighbor" else "preonly")
solver.getPC().setType("none" if by == "neighbor" else "lu")
if by != "neighbor":
    solver.getPC().setFactorSolverType(by)
solver.solve(right, solution)
norm = solution.norm()
if PETSc.COMM_WORLD.rank == 0:
    print("norm", norm.hex(), "after", solver.getIterationNumber())
