"""The recipe for Spack, without Spack: stand-ins replace what it imports, and CMake runs with its arguments."""

import re
import runpy
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

import mpis

CMAKE = shutil.which("cmake", path=Path(sys.executable).parent) or "cmake"
CMAKE_LISTS = (mpis.ROOT / "CMakeLists.txt").read_text()


@pytest.fixture
def recipe(monkeypatch):
    """(the class Shoal, a list of (name, arguments) of its directives)"""
    said = []

    class CMakePackage:
        @staticmethod
        def define(name, value):
            return f"-D{name}={'ON' if value is True else value}"

    def module(name, **names):
        made = types.ModuleType(name)
        vars(made).update(names)
        monkeypatch.setitem(sys.modules, name, made)

    def directive(name):
        return lambda *args, **kwargs: said.append((name, args))

    names = ["license", "version", "depends_on", "conflicts"]
    module("spack")
    module("spack.package", **{name: directive(name) for name in names})
    for parent in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        module(parent)
    module("spack_repo.builtin.build_systems.cmake", CMakePackage=CMakePackage)
    return runpy.run_path(str(mpis.ROOT / "packaging/spack/package.py"))["Shoal"], said


def test_says_what_cmake_says(recipe):
    _, said = recipe
    version = re.search(r"project\(shoal VERSION ([\d.]+)", CMAKE_LISTS).group(1)
    least = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", CMAKE_LISTS).group(1)
    assert ("version", (version,)) in said
    assert ("depends_on", (f"cmake@{least}:",)) in said
    assert {"c", "cxx", "mpi", "tomlplusplus"} <= {args[0] for name, args in said if name == "depends_on"}


@pytest.mark.skipif(mpis.WHEELS[0].missing() is not None, reason="needs an MPI")
def test_cmake_takes_its_arguments(recipe, tmp_path):
    made = recipe[0]()
    made.spec = {"mpi": types.SimpleNamespace(mpicc=mpis.WHEELS[0].mpicc)}
    command = [CMAKE, "-S", mpis.ROOT, "-B", tmp_path, *made.cmake_args()]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "not used by the project" not in done.stderr
    assert "libshoal-preload.so" in (tmp_path / "cmake_install.cmake").read_text()
