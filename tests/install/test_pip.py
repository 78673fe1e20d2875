"""`pip install .` brings the command, the Python package, and the preload for the MPI whose compiler is on PATH."""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import mpis

PROGRAM = """
#include <mpi.h>
int main(int count, char **words) {
  MPI_Init(&count, &words);
  int out[8] = {0}, in[8];
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  return MPI_Finalize();
}
"""


def run(*command, **kwargs):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **kwargs)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A new Python environment with Shoal alone. Its dependencies come from the environment of the tests."""
    mpi = mpis.WHEELS[0]
    if mpi.missing():
        pytest.skip(mpi.missing())
    here = tmp_path_factory.mktemp("pip")
    tools = [str(Path(sys.executable).parent), str(mpi.home / "bin"), os.environ["PATH"]]
    path = os.environ | {"PATH": os.pathsep.join(tools)}
    # The core is compiled already. ccache has the rest, because the build directory is as deep as others, and the
    # compiler has the same name.
    core = mpis.ROOT / "build/core"
    alike = ["build-dir=build/pip", "cmake.define.CMAKE_CXX_COMPILER=c++", f"cmake.define.SHOAL_CORE={core}"]
    settings = [f"--config-settings={one}" for one in alike]
    options = ["--no-deps", "--no-build-isolation", *settings, "-w", here]
    run(sys.executable, "-m", "pip", "wheel", *options, mpis.ROOT, cwd=mpis.ROOT, env=path)
    run(sys.executable, "-m", "venv", here / "venv")
    run(here / "venv/bin/python", "-m", "pip", "install", "--no-deps", "--no-index", *here.glob("*.whl"))
    packages = next((here / "venv").glob("lib/python*/site-packages"))
    (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])
    return mpi, here / "venv"


def test_everything_is_there(environment, tmp_path):
    mpi, venv = environment
    path = {"PATH": os.pathsep.join([str(mpi.home / "bin"), "/usr/bin", "/bin"]), "HOME": os.environ.get("HOME", "/")}
    found = json.loads(run(venv / "bin/shoal", "doctor", "--json", env=path).stdout)["mpis"]
    preload = next(venv.glob("lib/python*/site-packages/shoal/preload/mpich/libshoal-preload.so"))
    assert str(preload) in [one["preload"] for one in found]
    (tmp_path / "program.c").write_text(PROGRAM)
    program = mpi.compile(tmp_path / "program.c", tmp_path / "program")
    command = [venv / "bin/shoal", "run", "-n", 2, "--alltoall", "bruck", "--report", program]
    assert ("alltoall", "bruck") in mpis.served(run(*command, env=path))
    run(venv / "bin/shoal", "plan", "tuna:radix=3", "--ranks", 5, env=path)
    run(venv / "bin/python", "-c", "import shoal; assert shoal.__file__.startswith('" + str(venv) + "')", env=path)


def test_nothing_else_is_there(environment):
    """CMake installs libraries and headers, and pip does not."""
    _, venv = environment
    names = zipfile.ZipFile(next(venv.parent.glob("*.whl"))).namelist()
    brought = {name for name in names if "/preload/" in name}
    assert brought == {
        f"shoal/preload/mpich/{name}" for name in ("libshoal-preload.so", "libshoal-drop-in.so", "shoal_bench")
    }
    assert all(name.startswith(("shoal/", "shoal-")) for name in names)
