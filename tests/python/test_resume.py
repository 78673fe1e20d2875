"""Interrupted benchmarks: what is complete is kept, what is missing is measured, and nothing of another benchmark."""

import json

import pytest

from shoal.errors import UserError
from shoal.resume import Earlier, label_of

LABEL = label_of("mpich 5.0.2", 4, 0.3, "")
CASES = [("uniform", 8), ("uniform", 64), ("random", 8), ("random", 64)]
NAMES = ["native", "tuna", "bruck"]


def line(distribution, size, variant):
    return json.dumps({"ranks": 4, "distribution": distribution, "size": size, "variant": variant, "seconds": [1e-6]})


def write(path, lines, label=LABEL):
    provenance = json.dumps({"provenance": {"mpi": "MPICH 5.0.2", "launch": label}})
    path.write_text("\n".join([provenance, *lines]))
    return Earlier.read(path)


def test_nothing_there_means_one_launch_of_everything(tmp_path):
    kept = Earlier.read(tmp_path / "results.jsonl").keep(LABEL, CASES, NAMES)
    assert kept.lines == [] and kept.launches() == [(["uniform", "random"], [8, 64])]


def test_complete_cases_are_kept_and_the_rest_is_measured(tmp_path):
    done = [line("uniform", 8, name) for name in NAMES] + [line("random", 8, name) for name in NAMES[:2]]
    cut = [line("uniform", 64, "native"), line("uniform", 64, "tuna")[:40]]  # the last line as a kill leaves it
    kept = write(tmp_path / "results.jsonl", done + cut).keep(LABEL, CASES, NAMES)
    assert kept.lines[1:] == done and "provenance" in kept.lines[0]
    assert kept.launches() == [(["uniform", "random"], [64])]


def test_one_more_variant_means_measuring_again(tmp_path):
    done = [line(*case, name) for case in CASES for name in NAMES]
    earlier = write(tmp_path / "results.jsonl", done)
    assert earlier.keep(LABEL, CASES, NAMES).missing == []
    assert earlier.keep(LABEL, CASES, [*NAMES, "two_phase"]).missing == CASES


OTHERS = [
    ("mpich 5.0.1", 4, 0.3, ""),
    ("mpich 5.0.2", 8, 0.3, ""),
    ("mpich 5.0.2", 4, 0.2, ""),
    ("mpich 5.0.2", 4, 0.3, "line:4x8"),
    ("mpich 5.0.2", 4, 0.3, "", False, "alltoallw"),
]


@pytest.mark.parametrize("other", OTHERS)
def test_nothing_of_another_benchmark_is_kept(tmp_path, other):
    done = [line(*case, name) for case in CASES for name in NAMES]
    kept = write(tmp_path / "results.jsonl", done, label_of(*other)).keep(LABEL, CASES, NAMES)
    assert kept.lines == [] and kept.missing == CASES


def test_a_file_that_does_not_say_how_it_was_measured(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps({"provenance": {"mpi": "MPICH"}}) + "\n" + line("uniform", 8, "native"))
    with pytest.raises(UserError, match="another folder"):
        Earlier.read(path)


@pytest.mark.parametrize("text", ["[1]", "7", '{"x": 1}', '{"provenance": 3}', "null"])
def test_a_file_of_something_else(tmp_path, text):
    (tmp_path / "results.jsonl").write_text(text + "\n")
    with pytest.raises(UserError, match="is not what shoal bench writes"):
        Earlier.read(tmp_path / "results.jsonl")


def test_cases_not_asked_for_stay(tmp_path):
    """Those of this and of other benchmarks, with all their variants. Only cases that are measured again go."""
    done = [line(*case, name) for case in CASES for name in NAMES]
    earlier = write(tmp_path / "results.jsonl", done)
    head = json.dumps({"provenance": {"mpi": "MPICH 5.0.2", "launch": label_of(*OTHERS[0])}})
    (tmp_path / "more.jsonl").write_text("\n".join([(tmp_path / "results.jsonl").read_text(), head, done[0]]))
    earlier = Earlier.read(tmp_path / "more.jsonl")
    assert earlier.keep(LABEL, CASES[1:2], NAMES[:1]).missing == []
    assert earlier.without(set())[1:] == [*done, head, done[0]]
    assert earlier.without({(LABEL, *CASES[1])})[1:] == [*done[:3], *done[6:], head, done[0]]
