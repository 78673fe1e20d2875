"""The model checker Spin checks all interleavings of the protocols for the memory that the ranks of a node share.

The two largest models, with 15 million states each, run only with SHOAL_EXHAUSTIVE=1.

For Spin, memory is sequentially consistent. The thread sanitizer has to find what goes wrong with weaker orders.
"""

import os
import shutil
import subprocess

import pytest

import mpis

RIGHT = [
    ("rows", {"N": 2, "EXCHANGES": 4, "MISTAKEN": 1}),
    ("rows", {"N": 3, "EXCHANGES": 3, "STEADY": 1}),
    ("window", {"N": 2, "EXCHANGES": 2}),
    ("window", {"N": 3, "EXCHANGES": 2, "ALIKE": "unexpected"}),
]
if os.environ.get("SHOAL_EXHAUSTIVE") == "1":
    RIGHT.append(("rows", {"N": 3, "EXCHANGES": 3, "STEADY": 1, "MISTAKEN": 1}))
    RIGHT.append(("window", {"N": 3, "EXCHANGES": 2, "ALIKE": "offered"}))
WRONG = [
    ("rows", {"N": 2, "EXCHANGES": 3, "WRONG": 1}),
    ("rows", {"N": 3, "EXCHANGES": 3, "WRONG": 1}),
    ("rows", {"N": 2, "EXCHANGES": 3, "MISTAKEN": 1, "WRONG": 2}),
    ("window", {"N": 2, "EXCHANGES": 2, "WRONG": 1}),
    ("window", {"N": 2, "EXCHANGES": 2, "WRONG": 2}),
]


def checked(model, sizes, folder):
    """What Spin prints about a model, with the number of errors, as in "errors: 0"."""
    if not shutil.which("spin"):
        pytest.skip("there is no spin (Debian: spin)")
    defines = [f"-D{name}={value}" for name, value in sizes.items()]
    subprocess.run(["spin", *defines, "-a", mpis.ROOT / f"tests/model/{model}.pml"], cwd=folder, check=True)
    subprocess.run(["gcc", "-w", "-O1", "-DSAFETY", "-DCOLLAPSE", "-o", "checker", "pan.c"], cwd=folder, check=True)
    ran = subprocess.run(["./checker", "-m1000000"], cwd=folder, capture_output=True, text=True, timeout=600)
    assert "max search depth too small" not in ran.stdout, ran.stdout
    return ran.stdout


@pytest.mark.parametrize("model, sizes", RIGHT, ids=str)
def test_every_interleaving_is_right(model, sizes, tmp_path):
    said = checked(model, sizes, tmp_path)
    assert "errors: 0" in said, said


@pytest.mark.parametrize("model, sizes", WRONG, ids=str)
def test_what_is_wrong_is_refused(model, sizes, tmp_path):
    said = checked(model, sizes, tmp_path)
    assert "assertion violated" in said and "errors: 1" in said, said
