"""The sources are formatted, those in Python lint-free and typed; no function is longer than the budget."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import mpis

ROOT = Path(__file__).resolve().parents[2]
CHECKS = {
    "format": ["ruff", "format", "--check", "--diff", "python", "tests"],
    "lint": ["ruff", "check", "python", "tests"],
    "types": ["mypy", "--cache-dir", "build/mypy", "python/shoal"],
}


@pytest.mark.parametrize("name", CHECKS)
def test_sources(name):
    command = [sys.executable, "-m", *CHECKS[name]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_cpp_is_formatted():
    clang_format = Path(sys.executable).with_name("clang-format")
    if not clang_format.exists():
        pytest.skip("there is no clang-format; make test installs it")
    files = [path for part in ("src", "bench", "apps", "examples", "tests") for path in (ROOT / part).rglob("*.[ch]pp")]
    done = subprocess.run([clang_format, "--dry-run", "-Werror", *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def compiled_alone():
    """Where it stands how each source is compiled by itself, as no build for speed does it."""
    clang_tidy, mpicc = Path(sys.executable).with_name("clang-tidy"), mpis.WHEELS[0].mpicc
    if not clang_tidy.exists() or not Path(mpicc).exists():
        pytest.skip("needs clang-tidy and the MPI that make test installs")
    options = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={clang_tidy.with_name('ninja')}", f"-DMPI_C_COMPILER={mpicc}"]
    command = [clang_tidy.with_name("cmake"), "-S", ROOT, "-B", ROOT / "build/alone", "-DSHOAL_MPI=ON", *options]
    subprocess.run(command, check=True, capture_output=True)
    return ROOT / "build/alone/compile_commands.json"


def test_cpp_is_without_known_faults(compiled_alone):
    """What .clang-tidy lists, in src/, on all cores."""
    commands = json.loads(compiled_alone.read_text())
    sources = sorted({entry["file"] for entry in commands if f"{ROOT}/src/" in entry["file"]})
    command = [
        Path(sys.executable).with_name("clang-tidy"), "--quiet", "-p", compiled_alone.parent,
        "--extra-arg=-Wno-unknown-warning-option",
    ]  # fmt: skip

    def check(source):
        return subprocess.run([*command, source], capture_output=True, text=True, check=False)

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = [done.stdout for done in pool.map(check, sources) if done.returncode != 0]
    assert sources and not found, "".join(found)


def test_imports_point_up_the_picture():
    done = subprocess.run([sys.executable, "tools/rooms"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


LINES, BRANCHES, PARAMETERS = 60, 15, 6
# Their parameters are those of the MPI standard, or the options of a command.
GIVEN = (
    "src/api/shoal", "src/api/fortran", "src/calls/native", "src/preload/", "bench/simulated/simulated_",
    "python/shoal/commands/",
)  # fmt: skip


def test_complexity():
    lizard = pytest.importorskip("lizard")
    files = [str(path) for part in ("src", "python", "apps", "bench") for path in (ROOT / part).rglob("*.[chp]*[py]")]
    over = []
    for file in lizard.analyze_files(files):
        path = Path(file.filename).relative_to(ROOT).as_posix()
        for function in file.function_list:
            if function.length > LINES:
                over.append(f"{path}: {function.long_name} has {function.length} lines")
            if function.cyclomatic_complexity > BRANCHES:
                over.append(f"{path}: {function.long_name} has {function.cyclomatic_complexity} branches")
            if len(function.parameters) > PARAMETERS and not path.startswith(GIVEN):
                over.append(f"{path}: {function.long_name} has {len(function.parameters)} parameters")
    assert not over
