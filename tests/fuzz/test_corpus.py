"""Every fuzz target takes the inputs that are kept for it. tools/fuzz finds more of them."""

import subprocess

import pytest

from mpis import ROOT

TARGETS = sorted(path.name.removesuffix("_fuzz.cpp") for path in (ROOT / "tests/fuzz").glob("*_fuzz.cpp"))


@pytest.mark.parametrize("target", TARGETS)
def test_inputs_that_are_kept(target):
    inputs = sorted((ROOT / "tests/fuzz/corpus" / target).iterdir())
    program = ROOT / "build/core/tests/fuzz" / f"{target}_fuzz"
    run = subprocess.run([program, *inputs], capture_output=True, text=True, timeout=300, check=False)
    assert (run.returncode, run.stdout.count("\n")) == (0, len(inputs)), run.stdout + run.stderr
