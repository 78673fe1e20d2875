"""The core's own tests: one test for each suite of build/core/core_tests."""

import subprocess
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parent.parent / "build/core/core_tests"


def suites():
    """In the list, the name of a suite ends with a dot, and its tests follow."""
    if not PROGRAM.exists():
        return []
    listed = subprocess.run([PROGRAM, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
    return [
        line.split()[0].rstrip(".") for line in listed.splitlines() if line and not line.startswith((" ", "Running"))
    ]


@pytest.mark.parametrize("suite", suites())
def test_suite(suite):
    run = subprocess.run(
        [PROGRAM, f"--gtest_filter={suite}.*", "--gtest_brief=1"], capture_output=True, text=True, timeout=600
    )
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-5000:]


@pytest.mark.parametrize("sanitizers", ["address_and_undefined", "thread"])
def test_sample_with_sanitizers(sanitizers):
    """Any finding ends the program. The other tests run in `make sanitize`."""
    run = subprocess.run(
        [PROGRAM.with_name(f"sample_with_{sanitizers}"), "--gtest_brief=1"], capture_output=True, text=True, timeout=600
    )
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-5000:]


def test_is_built():
    assert PROGRAM.exists(), f"there is no {PROGRAM}; make test builds it"
