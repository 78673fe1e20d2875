import os
import re

import pytest

import shoal
from shoal import graphs
from shoal.commands import check


def rows(text):
    cells = [line.strip("│").split("│") for line in text.splitlines() if line.startswith("│")]
    return {name.strip(): [int(number) for number in numbers] for name, *numbers in cells}


def test_every_algorithm_is_checked(shoal_command):
    found = rows(shoal_command.output("check", "--ranks", "1-6,9"))
    scheduled = {algorithm.name for algorithm in shoal.algorithms() if algorithm.has_schedule}
    assert set(found) == scheduled
    assert all(faults == 0 for *_, faults in found.values())
    assert found["pairwise"] == [1, 7, 0, 0]


def test_one_algorithm(shoal_command):
    assert rows(shoal_command.output("check", "tuna:radix=3", "--ranks", "1-20")) == {"tuna": [1, 20, 0, 0]}
    assert rows(shoal_command.output("check", "tuna:radices=2x3", "--ranks", "4-9")) == {"tuna": [1, 3, 3, 0]}
    assert rows(shoal_command.output("check", "hierarchical", "--layout", "4,4,3"))["hierarchical"][-1] == 0


def test_a_graph(shoal_command):
    found = rows(shoal_command.output("check", "--graph", "torus:4x3", "--layout", "4x3"))
    assert set(found) == {"direct", "gathered"} and found["gathered"][0] > 10
    assert all(tried == checked and faults == 0 for tried, checked, _, faults in found.values())


def test_a_schedule_for_other_neighbors_is_a_fault():
    ring, line = (shoal.Problem(neighbors=graphs.read_graph(name)) for name in ("torus:5", "grid:5"))
    direct = shoal.parse("direct", "neighbor_alltoall")
    assert shoal.check_all_ranks(direct, ring) is None and shoal.check_all_ranks(direct, line) is None
    with pytest.raises(ValueError, match="rank 1 sends to rank 5, which is not in the graph"):
        shoal.Problem(neighbors=[[1], [5]])


def test_a_name_alone_means_every_parameter(shoal_command):
    tried, checked, _, faults = rows(shoal_command.output("check", "tuna", "--ranks", "5"))["tuna"]
    tuna = next(algorithm for algorithm in shoal.algorithms() if algorithm.name == "tuna")
    assert tried == len(set(check.specs(tuna, 5))) > 5 and checked >= tried and faults == 0


def test_levels_are_checked_with_different_values_beside_each_other(shoal_command):
    found = rows(shoal_command.output("check", "--layout", "group:2 node:1,2 core:2,3,1"))
    tried, checked, refused, faults = found["hierarchical"]
    assert (refused, faults) == (0, 0) and tried == checked > 60
    hierarchical = next(algorithm for algorithm in shoal.algorithms() if algorithm.name == "hierarchical")
    assert "hierarchical:local=shared/none" in check.specs(hierarchical, 6, levels=3)
    assert not any("/" in spec for spec in check.specs(hierarchical, 6, levels=2))


def test_every_useful_radix_is_tried():
    tuna = next(algorithm for algorithm in shoal.algorithms() if algorithm.name == "tuna")
    tried = set(check.specs(tuna, 9))
    assert {"tuna"} | {f"tuna:radix={radix}" for radix in range(2, 10)} <= tried
    assert {f"tuna:inflight={steps}" for steps in range(1, 10)} <= tried
    assert "tuna:radices=2x3x4" in tried


def test_fault_is_named(shoal_command, monkeypatch):
    def broken(selection, problem):
        programs = shoal.generate_all(selection, problem)
        programs[-1] = shoal.generate(shoal.parse("linear"), problem, problem.ranks - 1)
        return shoal.check(programs)

    monkeypatch.setattr(shoal, "check_all_ranks", broken)
    status, out, _ = shoal_command("check", "tuna:radix=2", "--ranks", "4-5")
    assert status == 1
    assert rows(out)["tuna"] == [1, 2, 0, 2]
    assert "tuna:radix=2 with 4 ranks: unmatched transfer: rank " in out


def test_one_collective(shoal_command):
    done = shoal_command.output("check", "--collective", "allgather", "--ranks", "2-5")
    assert "circulant" in done and "tuna" not in done


@pytest.mark.parametrize("ranks", ["", "0", "3-1", "a", "1-", "1-2-3", "1,,2"])
def test_wrong_ranks(shoal_command, ranks):
    assert "such as 1-64" in shoal_command.refused("check", "--ranks", ranks)


@pytest.mark.parametrize("ranks", ["1-99999999999", "8,2097153"])
def test_more_ranks_than_there_can_be(shoal_command, ranks):
    line = shoal_command.refused("check", "--ranks", ranks)
    assert re.search(r"\d{7,} is more than 2097152, the most ranks that Shoal takes; give fewer", line)


def test_few_cases_are_held_at_once(monkeypatch):
    """There may be millions."""
    monkeypatch.setattr(check, "check_case", lambda case: case)
    drawn = []
    found = check.outcomes(drawn.append(n) or n for n in range(10**6))
    assert [next(found) for _ in range(3)] == [(0, 0), (1, 1), (2, 2)]
    assert len(drawn) < 3 + 2 * check.AHEAD * len(os.sched_getaffinity(0))


def test_wrong_spec(shoal_command):
    assert "'tunna'" in shoal_command.refused("check", "tunna")


def test_nothing_to_check(shoal_command):
    status, _, err = shoal_command("check", "tuna:radices=2x2", "--ranks", "8")
    assert status == 2 and "nothing was checked" in err
