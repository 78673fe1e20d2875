"""shoal report: the page and its figures, and what is refused."""

import json
import re

import pytest


def results(folder, variants):
    """Three ranks, two sizes; every variant twice as slow as the one before it."""
    folder.mkdir()
    lines = [json.dumps({"provenance": {"mpi": "MPICH Version:      5.0.2", "cores": 2}})]
    for size in (8, 512):
        for index, variant in enumerate(variants):
            seconds = [1e-6 * 2**index * size + i * 1e-9 for i in range(30)]
            case = {"ranks": 3, "distribution": "uniform", "size": size, "variant": variant, "ran": variant}
            lines.append(json.dumps(case | {"seconds": seconds}))
    (folder / "results.jsonl").write_text("\n".join(lines))
    return folder


def test_page_needs_no_other_file(shoal_command, tmp_path):
    measured = results(tmp_path / "measured", ["auto", "native"])
    status, text, _ = shoal_command("report", measured, "-o", tmp_path / "report")
    assert status == 0 and "2 cases" in text
    page = (tmp_path / "report/index.html").read_text()
    assert "faster than the MPI&#x27;s own in 2 of 2 cases" in page
    assert "2.00x faster" in page
    assert re.findall(r'(?:src|href)="(?!data:)', page) == []
    for name in ("latency", "winners", "speedup", "spread"):
        assert (tmp_path / f"report/{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / f"report/{name}.svg").read_text()


def test_radices_get_a_figure(shoal_command, tmp_path):
    measured = results(tmp_path / "measured", [f"tuna:radix={radix}" for radix in (2, 3, 4)])
    assert shoal_command("report", measured / "results.jsonl", "-o", tmp_path / "report")[0] == 0
    assert "Time against the radix" in (tmp_path / "report/index.html").read_text()
    assert not (tmp_path / "report/speedup.svg").exists()


@pytest.mark.parametrize(("text", "words"), [(None, "does not exist"), ("", "no measurements"), ("{}", "not what")])
def test_wrong_input(shoal_command, tmp_path, text, words):
    path = tmp_path / "results.jsonl"
    if text is not None:
        path.write_text(text)
    line = shoal_command.refused("report", path)
    assert str(path) in line and words in line
