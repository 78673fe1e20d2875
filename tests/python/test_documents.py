"""What the documents show is what the repository has."""

import re

import pytest

from mpis import ROOT

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_example_algorithm_is_shown_as_it_is():
    shown = (ROOT / "docs/add-an-algorithm.md").read_text()
    assert (ROOT / "examples/algorithm/star.cpp").read_text() in shown


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text())
    missing = [link for link in links if not (document.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_files_that_are_named_exist(document):
    names = re.findall(r"`((?:src|tests|docs|examples|bench|python|cmake|tools)/[\w./-]*)`", document.read_text())
    missing = [name for name in names if not (ROOT / name).exists()]
    assert missing == []
