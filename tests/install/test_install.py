"""A program outside the tree builds against the installed library, with CMake and with pkg-config, and runs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mpis

EXAMPLES = mpis.ROOT / "examples"
CMAKE = shutil.which("cmake", path=Path(sys.executable).parent) or "cmake"
LANGUAGES = [(mpi, "c") for mpi in [*mpis.WHEELS, mpis.STANDARD, *mpis.DEBIAN]] + [
    (mpi, "fortran") for mpi in mpis.DEBIAN
]


def run(*command, **kwargs):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **kwargs)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            (mpi, language),
            id=f"{mpi.name}-{language}",
            marks=[pytest.mark.skip(reason=mpi.missing())] if mpi.missing() else [],
        )
        for mpi, language in LANGUAGES
    ],
)
def installed(request, tmp_path_factory):
    """(MPI, a copy of the example, the prefix)"""
    mpi, language = request.param
    root = tmp_path_factory.mktemp(mpi.name)
    run(CMAKE, "--install", mpi.build, "--prefix", root / "prefix")
    example = root / "example"
    shutil.copytree(EXAMPLES / language, example)
    return mpi, example, root / "prefix"


def runs(mpi, program):
    done = mpi.run(3, [program, "tuna:radix=2"], preload=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() == "0 wrong items; exchanged by tuna:radix=2: asked for"


def test_cmake_package(installed):
    mpi, example, prefix = installed
    compilers = [f"-DMPI_C_COMPILER={mpi.mpicc}"]
    if example.joinpath("exchange.f90").exists():
        compilers.append(f"-DMPI_Fortran_COMPILER={mpi.tool('mpif90')}")
    build = example / "build"
    run(CMAKE, "-S", example, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", *compilers)
    run(CMAKE, "--build", build)
    runs(mpi, build / "exchange")


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="there is no pkg-config")
def test_pkg_config(installed):
    mpi, example, prefix = installed
    packages = next(prefix.glob("lib*/**/pkgconfig"))
    compilers = [f"CC={mpi.mpicc}", f"FC={mpi.tool('mpif90')}"]
    run("make", "-C", example, *compilers, env=os.environ | {"PKG_CONFIG_PATH": str(packages)})
    runs(mpi, example / "exchange")


def test_nothing_points_into_the_build_tree(installed):
    mpi, _, prefix = installed
    for path in prefix.rglob("*"):
        if path.is_file():
            assert str(mpi.build).encode() not in path.read_bytes(), path


def test_nothing_names_the_mpi_it_was_built_with(installed):
    """Under another one of its ABI it would bring that into the process."""
    _, _, prefix = installed
    for library in [*prefix.rglob("*.so"), *prefix.rglob("shoal_bench")]:
        assert "PATH)" not in run("readelf", "-d", library), library


def test_header_is_c99(installed, tmp_path):
    mpi, _, prefix = installed
    (tmp_path / "header.c").write_text("#include <shoal/shoal.h>\nint main(void) { return 0; }\n")
    flags = ["-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-isystem", mpi.home / "include"]
    run(mpi.mpicc, *flags, "-fsyntax-only", f"-I{prefix}/include", tmp_path / "header.c")
