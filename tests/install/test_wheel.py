"""The wheel of `make wheel`, in an empty environment without compilers, serves every MPI that is there."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

import pytest
from test_pip import PROGRAM, run

import mpis

ABIS = ["mpich", "openmpi", "standard"]
# The programs of the system that the command and the launchers call.
TOOLS = ["bash", "cat", "env", "ldd", "sh", "ssh", "uname", "hydra_pmi_proxy", "orted"]
# MPIs in the environment itself, where `pip install mpich` would put them, or installed by Debian.
PLACES = [*mpis.WHEELS, mpis.STANDARD, *mpis.DEBIAN]


@pytest.fixture(scope="module")
def wheel():
    if not Path(sys.executable).with_name("auditwheel").exists():
        pytest.skip("there is no auditwheel; make test installs it")
    for mpi in [*mpis.WHEELS, mpis.STANDARD]:
        if mpi.missing():
            pytest.skip(mpi.missing())
    run("tools/wheel", "build", "dist", *ABIS, cwd=mpis.ROOT)
    (made,) = mpis.ROOT.glob("dist/*.whl")
    return made


def new_environment(wheel, directory):
    """A new environment with Shoal alone. Its dependencies come from the environment of the tests."""
    run(sys.executable, "-m", "venv", "--without-pip", directory)
    pip = [sys.executable, "-m", "pip", "--python", directory / "bin/python"]
    run(*pip, "install", "--no-deps", "--no-index", wheel)
    packages = next(directory.glob("lib/python*/site-packages"))
    (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])


def add_package(name, origin, environment):
    """Copies a package from where it is installed into the environment, as pip would install it."""
    packages = next(origin.glob("lib/python*/site-packages"))
    (found,) = metadata.distributions(name=name, path=[str(packages)])
    for file in found.files:
        if file.suffix != ".pyc":
            target = Path(os.path.normpath(environment / packages.relative_to(origin) / file))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file.locate(), target)


@pytest.fixture(params=[pytest.param(mpi, id=mpi.name) for mpi in PLACES])
def place(request, wheel, tmp_path):
    """(MPI, the environment, PATH)"""
    mpi = request.param
    if mpi.missing():
        pytest.skip(mpi.missing())
    new_environment(wheel, tmp_path / "environment")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in TOOLS:
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    if mpi in mpis.DEBIAN:
        (tools / f"mpiexec{mpi.suffix}").symlink_to(mpi.tool("mpiexec"))
    else:
        add_package(mpi.home.name, mpi.home, tmp_path / "environment")
    return mpi, tmp_path / "environment", str(tools)


def test_serves_a_program(place, tmp_path):
    mpi, environment, path = place
    (tmp_path / "program.c").write_text(PROGRAM)
    program = mpi.compile(tmp_path / "program.c", tmp_path / "program")
    command = [environment / "bin/shoal", "run", "-n", 2, "--alltoall", "bruck", "--report", "--", program]
    assert not shutil.which("gcc", path=path) and not shutil.which("mpicc", path=path)
    clean = {"PATH": path, "HOME": str(tmp_path)} | mpis.OPEN_MPI
    assert ("alltoall", "bruck") in mpis.served(run(*command, env=clean))


@pytest.mark.alone
def test_measures(place, tmp_path):
    """The driver of the benchmarks finds the same MPI."""
    mpi, environment, path = place
    if mpi == mpis.STANDARD:
        pytest.skip("the driver for libmpi.so.12 is taken first")
    sizes = ["--ranks", 2, "--sizes", 8, "--distributions", "uniform", "--seconds", "0.05"]
    clean = {"PATH": path, "HOME": str(tmp_path)} | mpis.OPEN_MPI
    command = [environment / "bin/shoal", "bench", *sizes, "-o", tmp_path / "bench"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=clean, check=False)
    assert done.returncode == 0 or "the machine is busy" in done.stderr, done.stderr


def test_needs_glibc_and_mpi_alone(wheel, tmp_path):
    """And the library that unwinds the stack, which glibc itself needs."""
    assert wheel.name.endswith("-manylinux_2_34_x86_64.whl")
    shutil.unpack_archive(wheel, tmp_path, "zip")
    found = {}
    for path in [*tmp_path.rglob("*.so"), *tmp_path.rglob("shoal_bench")]:
        dynamic = run("readelf", "-d", path).stdout
        assert "PATH)" not in dynamic, path
        found[str(path.relative_to(tmp_path / "shoal"))] = set(re.findall(r"NEEDED.*\[([^]]+)]", dynamic))
    own = {f"preload/{abi}/libshoal-{name}.so" for abi in ABIS for name in ("preload", "drop-in")}
    drivers = {f"preload/{abi}/shoal_bench": mpi for abi, mpi in zip(ABIS, ("mpi", "mpi", "mpi_abi"), strict=True)}
    module = {name for name in found if name.startswith("_core.")}
    assert found.keys() == own | drivers.keys() | module and len(module) == 1
    for name, needed in found.items():
        other = {one for one in needed if not re.fullmatch(r"lib(c|m|dl|pthread|rt|gcc_s)\.so\.\d|ld-linux.*", one)}
        assert {one.partition(".so.")[0] for one in other} <= {f"lib{drivers.get(name)}"}, name


def test_serves_every_later_python(wheel):
    """The module calls nothing of Python that 3.11 lacks or a later one may change."""
    assert "-cp311-abi3-" in wheel.name
    run(sys.executable, "-m", "abi3audit", "--strict", wheel)


def test_nothing_else_is_in_it(wheel):
    listed = run(sys.executable, "-m", "zipfile", "-l", wheel).stdout.splitlines()[1:]
    assert all(line.startswith(("shoal/", "shoal-")) for line in listed)
    assert str(mpis.ROOT) not in " ".join(listed)
