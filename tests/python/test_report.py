"""shoal report: the page and its figures, and what is refused."""

import itertools
import json
import re

import pytest

from shoal import plots
from shoal.measurements import Case, Results, Series


def results(folder, variants, ranks=(3,), missing=(), repetitions=30):
    """Results of two sizes, in which every variant is twice as slow as the one before it. Nothing is known of the
    variants in `missing` for random blocks."""
    folder.mkdir()
    lines = [json.dumps({"provenance": {"mpi": "MPICH Version:      5.0.2", "cores": 2}})]
    kinds = ("uniform", "random") if missing else ("uniform",)
    for number, kind, size, (index, variant) in itertools.product(ranks, kinds, (8, 512), enumerate(variants)):
        known = kind == "uniform" or variant not in missing
        seconds = [1e-6 * 2**index * size + i * 1e-9 for i in range(repetitions)] if known else []
        case = {"ranks": number, "distribution": kind, "size": size, "variant": variant, "ran": variant}
        case["least"] = seconds[0] / 4 if known else 0
        lines.append(json.dumps(case | {"seconds": seconds}))
    (folder / "results.jsonl").write_text("\n".join(lines))
    return folder


def test_page_needs_no_other_file(shoal_command, tmp_path):
    measured = results(tmp_path / "measured", ["auto", "native"])
    status, text, _ = shoal_command("report", measured, "-o", tmp_path / "report")
    assert status == 0 and "2 cases" in text
    page = (tmp_path / "report/index.html").read_text()
    assert "faster than the MPI&#x27;s own in 2 of 2 cases" in page
    assert "2.00x faster" in page and "25% of the links" in page
    assert re.findall(r'(?:src|href)="(?!data:)', page) == []
    for name in ("latency", "winners", "speedup", "spread", "percentiles"):
        assert (tmp_path / f"report/{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / f"report/{name}.svg").read_text()


def test_few_repetitions_have_no_interval(shoal_command, tmp_path):
    for repetitions, said in ((5, False), (6, True)):
        folder = tmp_path / str(repetitions)
        measured = results(folder, ["auto", "native"], repetitions=repetitions)
        assert shoal_command("report", measured, "-o", folder)[0] == 0
        assert (" us to " in (folder / "index.html").read_text()) == said


def test_parameter_gets_a_figure(shoal_command, tmp_path):
    measured = results(tmp_path / "measured", [f"tuna:radix={radix}" for radix in (2, 3, 4)])
    assert shoal_command("report", measured / "results.jsonl", "-o", tmp_path / "report")[0] == 0
    assert "Time over a parameter" in (tmp_path / "report/index.html").read_text()
    assert not (tmp_path / "report/speedup.svg").exists()


def test_variants_that_differ_in_one_number():
    some = [f"hierarchical:radix={radix},block_count={count}" for radix in (2, 4) for count in (1, 8, 32)]
    families = plots.families_of([*some, "tuna:radices=2x3", "tuna:radix=2", "tuna:radix=4", "native"])
    assert families == {
        f"hierarchical:radix={radix},block_count=*": dict(zip((1, 8, 32), some[3 * half :], strict=False))
        for half, radix in enumerate((2, 4))
    }


def test_phases_get_a_figure_where_they_were_recorded(tmp_path):
    measured = results(tmp_path / "measured", ["native", "tuna:radix=2"]) / "results.jsonl"
    assert plots.phases(Results.read([measured])) is None
    head, *lines = map(json.loads, measured.read_text().splitlines())
    for line in lines:
        line["phases"] = {"data": 3e-6, "replace": 1e-6} if line["variant"] != "native" else {}
    measured.write_text("\n".join(map(json.dumps, [head, *lines])))
    figure = plots.phases(Results.read([measured]))
    assert [len(axis.patches) for axis in figure.axes] == [2, 2]  # a bar in two parts for each of two sizes
    assert figure.axes[0].patches[1].get_x() == 3e-6


def test_three_numbers_of_ranks_get_a_figure(tmp_path):
    for name, ranks in {"two": (2, 4), "three": (2, 4, 8)}.items():
        measured = results(tmp_path / name, ["auto", "native"], ranks)
        figure = plots.scaling(Results.read([measured / "results.jsonl"]))
        assert (figure is not None) == (name == "three")


def test_what_is_missing_is_left_out(shoal_command, tmp_path):
    """All repetitions of a variant may have started late, so that none counts."""
    measured = results(tmp_path / "measured", ["native", "auto", *(f"tuna:radix={r}" for r in (2, 3, 12))],
                       missing=["auto", "tuna:radix=2", "tuna:radix=3", "tuna:radix=12"])  # fmt: skip
    assert shoal_command("report", measured, "-o", tmp_path / "report")[0] == 0
    assert (tmp_path / "report/speedup.svg").exists() and (tmp_path / "report/parameter.svg").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "does not exist"),
        ("", "no measurements"),
        ("{}", "not what"),
        ('{"provenance": 1}', "not what"),
        ('{"program": "a", "told": []}', "not what"),
        ('{"seconds": 1}', "not what"),
    ],
)
def test_wrong_input(shoal_command, tmp_path, text, words):
    path = tmp_path / "results.jsonl"
    if text is not None:
        path.write_text(text)
    line = shoal_command.refused("report", path)
    assert str(path) in line and words in line


def test_gains_that_are_none_are_hollow():
    def series(name, *microseconds):
        return Series(name, name, tuple(time * 1e-6 for time in microseconds * 10))

    def case(size):
        return Case("MPICH 5.0.2", 4, "uniform", size)

    clear = {"native": series("native", 30, 31, 32), "auto": series("auto", 10, 11, 12)}
    noise = {"native": series("native", 10, 11, 12), "auto": series("auto", 10.1, 10.9, 11.9)}
    figure = plots.speedups(Results(cases={case(8): clear, case(64): noise, case(512): clear}))
    hollow = [line for line in figure.axes[0].lines if line.get_markerfacecolor() == "white"]
    assert [list(line.get_xdata()) for line in hollow] == [[64]]


def test_ties_are_no_victories():
    def series(name, *microseconds):
        return Series(name, name, tuple(time * 1e-6 for time in microseconds * 10))

    close, far = series("tuna", 10, 11, 12), series("native", 30, 31, 32)
    same = series("shared", 10.1, 11.1, 11.9)
    assert plots.fastest({"native": far, "shared": same, "tuna": close}) == [close, same]
    assert plots.fastest({"native": far, "tuna": close}) == [close]
    assert plots.tied([]) == "" and plots.tied([same, far]) == "\nas shared\nand 1 more"
