"""The sources are formatted, those in Python lint-free and typed; no function is longer than the budget."""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import mpis
import shoal

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


INCLUDED = re.compile(r'^#include "(/.*\.cpp)"$', re.MULTILINE)


def translation_units():
    """The units of src/ that make test compiled, each with its build directory and its files; most files come first.

    One unit has many files of a directory (SHOAL_UNITY), for which clang-tidy takes a tenth of the time."""
    units = {}
    for build in (ROOT / "build/core", mpis.WHEELS[0].build):
        if not (build / "compile_commands.json").exists():
            pytest.skip(f"there is no {build}; make test builds it")
        for entry in json.loads((build / "compile_commands.json").read_text()):
            path = Path(entry["file"])
            files = INCLUDED.findall(path.read_text()) if "Unity" in path.parts else [str(path)]
            if any(file.startswith(f"{ROOT}/src/") for file in files):
                units[path] = build, files
    return dict(sorted(units.items(), key=lambda unit: -len(unit[1][1])))


def test_cpp_is_without_known_faults():
    """Faults that .clang-tidy lists, in src/, on all cores. The core takes more than half of the time; make check-all
    checks it too."""
    clang_tidy = Path(sys.executable).with_name("clang-tidy")
    if not clang_tidy.exists():
        pytest.skip("there is no clang-tidy; make test installs it")
    units = translation_units()
    seen = {file for _, files in units.values() for file in files}
    unseen = {str(path) for path in (ROOT / "src").rglob("*.c*")} - seen
    assert not {file for file in unseen if not file.startswith(f"{ROOT}/src/python/")}  # nanobind compiles them

    def check(unit):
        command = [clang_tidy, "--quiet", "-p", units[unit][0], "--extra-arg=-Wno-unknown-warning-option", unit]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    everything = os.environ.get("SHOAL_EXHAUSTIVE") == "1"
    checked = [unit for unit, (build, _) in units.items() if everything or build == mpis.WHEELS[0].build]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = [done.stdout for done in pool.map(check, checked) if done.returncode != 0]
    assert not found, "".join(found)


def test_imports_point_up_the_picture():
    done = subprocess.run([sys.executable, "tools/rooms"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


LINES, BRANCHES, PARAMETERS = 60, 15, 6
# Their parameters are those of the MPI standard, or the options of a command.
GIVEN = (
    "src/api/shoal", "src/api/fortran", "src/calls/native", "src/calls/passing", "src/preload/",
    "bench/simulated/simulated_", "python/shoal/commands/",
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


def test_choosers_name_no_algorithm():
    """They ask the table: an algorithm tells beside its generator what it costs and where it is worth trying."""
    names = {one.name for one in shoal.algorithms() if one.has_schedule}
    files = ("src/learn/candidates.cpp", "src/select/choose.cpp", "src/select/measured_exchanges.hpp",
             "src/model/intergroup.cpp", "src/select/choose_between_groups.cpp", "src/learn/intercommunicator.cpp",
             "python/shoal/tuning.py", "python/shoal/cost_model.py")  # fmt: skip
    for file in files:
        assert not names & set(re.findall(r'"(\w+)[":]', (ROOT / file).read_text())), file
