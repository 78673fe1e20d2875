"""Programs that people use, from Debian's packages: they print the same with Shoal as without.

    apt-get install lammps quantum-espresso cp2k libfftw3-mpi-dev python3-mpi4py-fft python3-petsc4py-real
    .venv/bin/pip install dtfft-fftw-openmpi
    SHOAL_EXHAUSTIVE=1 .venv/bin/python -m pytest -s tests/apps/test_programs.py

These tests run only with SHOAL_EXHAUSTIVE=1. Programs that are not installed are skipped.
"""

import os
import re
import shutil
import sys
import sysconfig
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from mpis import DEBIAN, left, served

INPUTS = Path(__file__).resolve().parent / "programs"
OPEN_MPI = DEBIAN[1]  # the MPI for which Debian's programs are built
LIBRARY = "/usr/lib/x86_64-linux-gnu/libmpi.so.40"  # mpi4py from PyPI would take any MPI
PETSC = "/usr/lib/python3/dist-packages/petsc4py"
SPECS = ["auto", "tuna:radix=2", "pairwise", "shared"]

pytestmark = [
    pytest.mark.skipif(os.environ.get("SHOAL_EXHAUSTIVE") != "1", reason="takes a minute; SHOAL_EXHAUSTIVE=1 runs it"),
    pytest.mark.skipif(bool(OPEN_MPI.missing()), reason=str(OPEN_MPI.missing())),
]


LEFT = ["petsc", "dtfft"]  # Shoal leaves their calls to the MPI: among neighbours, and only nonblocking ones


@dataclass(frozen=True)
class Program:
    needs: str  # a program or a path
    command: tuple[str, ...]
    ranks: int
    results: str  # pattern of the lines that do not tell times


PROGRAMS = {
    "lammps": Program("lmp", ("lmp", "-in", str(INPUTS / "charges.in"), "-log", "none"), 4, r" *\d+ +[-\d.]+ +.*"),
    "quantum-espresso": Program("pw.x", ("pw.x", "-in", str(INPUTS / "silicon.in")), 2, r".*(energy|accuracy).*Ry"),
    "cp2k": Program(
        "cp2k", ("cp2k", "-i", str(INPUTS / "hydrogen.inp")), 4, r".*(energy:|charge density|FORCE_EVAL).*\d"
    ),
    "mpi4py-fft": Program(
        "/usr/lib/python3/dist-packages/mpi4py_fft",
        ("/usr/bin/python3", str(INPUTS / "spectral.py")),
        4,
        r"spectrum.*",
    ),
    "petsc": Program(PETSC, ("/usr/bin/python3", str(INPUTS / "laplacian.py"), "neighbor"), 4, r"norm.*"),
    "superlu-dist": Program(PETSC, ("/usr/bin/python3", str(INPUTS / "laplacian.py"), "superlu_dist"), 4, r"norm.*"),
    "dtfft": Program(
        sysconfig.get_paths()["purelib"] + "/dtfft",
        ("env", f"MPI4PY_LIBMPI={LIBRARY}", sys.executable, str(INPUTS / "dtransforms.py")),
        4,
        r"spectrum.*",
    ),
    "fftw": Program("mpicc.openmpi", ("transpose",), 4, r"spectrum.*"),
}


def installed(program, directory):
    """The program's command. Skips the test if the program is not installed."""
    if not shutil.which(program.needs) and not Path(program.needs).exists():
        pytest.skip(f"there is no {program.needs}")
    if program.command != ("transpose",):
        return program.command
    if not Path("/usr/include/fftw3-mpi.h").exists():
        pytest.skip("there is no fftw3-mpi.h")
    flags = ["-O1", "-lfftw3_mpi", "-lfftw3", "-lm"]
    return (OPEN_MPI.compile(INPUTS / "transpose.c", directory / "transpose", *flags),)


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_results(name, tmp_path, subtests):
    program = PROGRAMS[name]
    command = ["env", "-C", str(tmp_path), "OMP_NUM_THREADS=1", *installed(program, tmp_path)]

    def results(**how):
        run = OPEN_MPI.run(program.ranks, command, timeout=300, **how)
        assert run.returncode == 0, run.stdout + run.stderr
        return run, [line for line in run.stdout.splitlines() if re.fullmatch(program.results, line)]

    _, expected = results(preload=False)
    assert expected
    for spec in SPECS:
        with subtests.test(algorithm=spec):
            run, got = results(SHOAL_REPORT=1, **{f"SHOAL_ALLTOALL{form}": spec for form in ("", "V", "W")})
            calls = Counter()
            for (collective, how), number in served(run).items():
                calls[collective] += number if spec in ("auto", how) else 0
            print(f"{name} {program.ranks} ranks {spec}: {len(got)} lines, {dict(calls)}, {left(run)}", flush=True)
            assert got == expected
            assert sum(calls.values()) > 0 or (name in LEFT and left(run))
