"""A program outside the tree builds against the installed library, with CMake and with pkg-config, and runs."""

import os
import re
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
    parts = ["--component", "library"] if mpi in mpis.DEBIAN else []  # `make test` builds no more for these
    run(CMAKE, "--install", mpi.build, "--prefix", root / "prefix", *parts)
    example = root / "example"
    shutil.copytree(EXAMPLES / language, example)
    return mpi, example, root / "prefix"


def runs(mpi, program):
    done = mpi.run(3, [program, "tuna:radix=2"], preload=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() == "0 wrong items; exchanged by tuna:radix=2: asked for"


def runs_all(mpi, directory):
    runs(mpi, directory / "exchange")
    for other in ("to_whom_you_like", "smoothing"):
        program = directory / other
        assert not program.exists() or mpi.run(5, [program], preload=False).stdout.startswith("0 wrong ")


def test_cmake_package(installed):
    mpi, example, prefix = installed
    compilers = [f"-DMPI_C_COMPILER={mpi.mpicc}"]
    if example.joinpath("exchange.f90").exists():
        compilers.append(f"-DMPI_Fortran_COMPILER={mpi.tool('mpif90')}")
    build = example / "build"
    run(CMAKE, "-S", example, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", *compilers)
    run(CMAKE, "--build", build)
    runs_all(mpi, build)


CXX_PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(exchange LANGUAGES CXX)
{shoal}
add_executable(exchange exchange.cpp)
target_link_libraries(exchange PRIVATE shoal::shoal)
target_compile_options(exchange PRIVATE -fpermissive)  # what malloc returns
"""
FIND = "find_package(shoal REQUIRED)"
# Beside the builds for the MPIs, from where the sources have the same relative paths, so that ccache has the objects.
WITHIN_BUILD = mpis.ROOT / "build/shoal-build"
WITHIN = {
    "add_subdirectory": f"add_subdirectory({mpis.ROOT} {WITHIN_BUILD})",
    "fetch_content": f"""
include(FetchContent)
set(FETCHCONTENT_BASE_DIR {WITHIN_BUILD.parent})
FetchContent_Declare(shoal SOURCE_DIR {mpis.ROOT})
FetchContent_MakeAvailable(shoal)""",
}


def cxx_project(directory, shoal):
    """A project with the C example, which is valid C++ too."""
    directory.mkdir(exist_ok=True)
    (directory / "CMakeLists.txt").write_text(CXX_PROJECT.format(shoal=shoal))
    shutil.copy(EXAMPLES / "c/exchange.c", directory / "exchange.cpp")
    return directory


def test_project_in_cxx_alone(installed, tmp_path):
    mpi, example, prefix = installed
    if example.joinpath("exchange.f90").exists():
        pytest.skip("the same as with the example in C")
    project = cxx_project(tmp_path / "project", FIND)
    compiler = f"-DMPI_CXX_COMPILER={mpi.tool('mpicxx' + mpi.abi)}"
    run(CMAKE, "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={prefix}", compiler)
    run(CMAKE, "--build", project / "build")
    runs(mpi, project / "build/exchange")


def test_another_mpi_stops_the_configuration(installed, tmp_path):
    """The error names both MPIs."""
    mpi, example, prefix = installed
    other = next((one for one in mpis.WHEELS if one.home != mpi.home and not one.missing()), None)
    if not other or example.joinpath("exchange.f90").exists():
        pytest.skip("needs a second MPI")
    options = [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DMPI_C_COMPILER={other.mpicc}"]
    done = subprocess.run([CMAKE, "-S", example, "-B", tmp_path / "build", *options], capture_output=True, text=True)
    said = " ".join(done.stderr.split())
    assert done.returncode != 0 and f"but {other.mpicc} of this project links programs to libmpi.so." in said, said
    assert re.search(r"Shoal in \S+ was built for libmpi", said) and str(prefix) in said


@pytest.mark.parametrize("way", WITHIN)
def test_shoal_within_a_project(way, tmp_path):
    mpi = mpis.WHEELS[0]
    if mpi.missing():
        pytest.skip(mpi.missing())
    project = cxx_project(tmp_path / "project", WITHIN[way])
    options = [f"-DMPI_C_COMPILER={mpi.mpicc}", f"-DSHOAL_CORE={mpis.ROOT / 'build/core'}"]
    shutil.rmtree(WITHIN_BUILD, ignore_errors=True)
    run(CMAKE, "-S", project, "-B", project / "build", "-DCMAKE_BUILD_TYPE=Release", *options)
    run(CMAKE, "--build", project / "build", "--target", "exchange")
    assert WITHIN_BUILD.joinpath("libshoal.so").exists()
    assert "SHOAL_UNITY:BOOL=ON" in (project / "build/CMakeCache.txt").read_text()
    runs(mpi, project / "build/exchange")


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="there is no pkg-config")
def test_pkg_config(installed):
    mpi, example, prefix = installed
    packages = next(prefix.glob("lib*/**/pkgconfig"))
    compilers = [f"CC={mpi.mpicc}", f"FC={mpi.tool('mpif90')}"]
    run("make", "-C", example, *compilers, env=os.environ | {"PKG_CONFIG_PATH": str(packages)})
    runs_all(mpi, example)


@pytest.mark.parametrize("ranks", [3, 4])
def test_every_call_of_fortran(installed, tmp_path, ranks):
    """The calls that no example makes, with nothing but the installed module and library."""
    mpi, example, prefix = installed
    if not example.joinpath("exchange.f90").exists():
        pytest.skip("an installation for Fortran is tested with the example in it")
    module, library = (next(prefix.rglob(name)) for name in ("shoal.f90", "libshoal.so"))
    sources = [module, Path(__file__).with_name("every_call.f90")]
    program = tmp_path / "every_call"
    links = [f"-L{library.parent}", "-lshoal", f"-Wl,-rpath,{library.parent}"]
    run(mpi.tool("mpif90"), "-O2", f"-J{tmp_path}", "-o", program, *sources, *links)
    done = mpi.run(ranks, [program], preload=False)
    assert (done.returncode, done.stdout) == (0, "0 wrong results\n"), done.stderr


def test_nothing_points_into_the_build_tree(installed):
    mpi, _, prefix = installed
    for path in prefix.rglob("*"):
        if path.is_file():
            assert str(mpi.build).encode() not in path.read_bytes(), path


def test_nothing_names_the_mpi_it_was_built_with(installed):
    """Under another MPI of the same ABI, such a library would load the named one into the process too."""
    _, _, prefix = installed
    for library in [*prefix.rglob("*.so"), *prefix.rglob("shoal_bench")]:
        assert "PATH)" not in run("readelf", "-d", library), library


def test_header_is_c99(installed, tmp_path):
    mpi, _, prefix = installed
    (tmp_path / "header.c").write_text("#include <shoal/shoal.h>\nint main(void) { return 0; }\n")
    flags = ["-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-isystem", mpi.home / "include"]
    run(mpi.mpicc, *flags, "-fsyntax-only", f"-I{prefix}/include", tmp_path / "header.c")
