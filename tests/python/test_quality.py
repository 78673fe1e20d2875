"""The Python sources are formatted, free of lint, and typed."""

import subprocess
import sys
from pathlib import Path

import pytest

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
