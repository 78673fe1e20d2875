"""make docs: the documents as a site, whose links lead somewhere and whose search knows every document."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mpis import ROOT


def test_site():
    if not Path(sys.executable).with_name("mkdocs").exists():
        pytest.skip("there is no mkdocs; make docs installs it")
    done = subprocess.run([ROOT / "tools/docs"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    index = json.loads((ROOT / "build/site/search/search_index.json").read_text())
    known = {entry["location"].partition("#")[0] for entry in index["docs"]}
    documents = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert {str(path) for path in documents} | {"index.html"} <= known
