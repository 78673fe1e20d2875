"""shoal._core: what Python sees of the core."""

import pytest

import shoal


def test_table_of_algorithms():
    by_name = {algorithm.name: algorithm for algorithm in shoal.algorithms() if algorithm.collective == "alltoall"}
    names = list(by_name)
    assert names[0] == "tuna" and names[-1] == "native"
    assert {"spread_out", "scattered", "linear", "pairwise", "exclusive_or", "bruck", "two_phase"} <= set(by_name)
    assert all(algorithm.summary and algorithm.source for algorithm in by_name.values())
    assert by_name["bruck"].uniform_only and not by_name["tuna"].uniform_only
    assert not by_name["native"].has_schedule
    radix, radices, _ = by_name["tuna"].parameters
    assert (radix.name, radix.standard, radix.words, radix.lowest, radix.list) == ("radix", "auto", ["auto"], 2, False)
    assert radices.list


def test_specs_are_shortest():
    chosen = shoal.parse("tuna:inflight=all,radix=3")
    assert str(chosen) == "tuna:radix=3"
    assert chosen.algorithm.name == "tuna"
    assert chosen.arguments == {"radix": "3", "radices": "none", "inflight": "all"}
    assert chosen == shoal.parse(str(chosen)) and hash(chosen) == hash(shoal.parse(str(chosen)))
    assert chosen != shoal.parse("tuna:radix=4")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("tunna", ["'tunna'", "tuna", "pairwise"]),
        ("tuna:radix=1", ["radix=1", "2 to 1048576"]),
        ("tuna:radix=two", ["radix=two", "2 to 1048576"]),
        ("tuna:radius=2", ["'radius'", "radix"]),
        ("tuna:radix", ["'radix'", "parameter=value"]),
        ("tuna:radices=2x1", ["radices=2x1", "8x8x16"]),
        ("bruck:variant=new", ["variant=new", "basic", "modified"]),
        ("", ["''", "tuna"]),
    ],
)
def test_wrong_specs_are_named(spec, words):
    with pytest.raises(ValueError) as refused:
        shoal.parse(spec)
    assert all(word in str(refused.value) for word in words), refused.value


def test_unknown_collective():
    with pytest.raises(ValueError, match=r"'bcast'.*alltoall, allgather"):
        shoal.parse("tuna", "bcast")


def test_problems():
    assert shoal.Problem(layout="4,4,3").ranks == 11
    assert shoal.Problem(5, senders=2).senders == 2
    with pytest.raises(ValueError, match="11 ranks, not 8"):
        shoal.Problem(8, layout="4,4,3")
    with pytest.raises(ValueError, match="at least 1"):
        shoal.Problem(0)
    with pytest.raises(ValueError, match="with 8 ranks they are 0 to 7"):
        shoal.generate(shoal.parse("tuna"), shoal.Problem(8), 8)
    with pytest.raises(ValueError, match="does not reach the 8 ranks"):
        shoal.generate(shoal.parse("tuna:radices=2x3"), shoal.Problem(8), 0)
    with pytest.raises(ValueError, match="has no schedule"):
        shoal.generate(shoal.parse("native"), shoal.Problem(8), 0)


def test_operations_outlive_their_schedule():
    operations = shoal.generate(shoal.parse("tuna:radix=2"), shoal.Problem(8), 3).operations
    assert [operation.kind for operation in operations[:3]] == ["copy", "send", "recv"]
    assert [str(slot) for slot in operations[0].slots] == ["send[3]", "recv[3]"]
    send = operations[1]
    assert (send.id, send.peer, send.step, send.after) == (1, 4, 0, [])
    assert [(slot.place, slot.index, slot.passing) for slot in send.slots[:2]] == [
        ("send", 4, False),
        ("send", 6, True),
    ]


def test_dictionaries_agree_with_operations():
    program = shoal.generate(shoal.parse("bruck:radix=3"), shoal.Problem(10), 7)
    entry = program.to_dict()
    assert (entry["rank"], entry["temp_slots"], entry["temp_peak"]) == (7, program.temp_slots, program.temp_peak)
    for operation, written in zip(program.operations, entry["operations"], strict=True):
        assert written == {
            "id": operation.id,
            "kind": operation.kind,
            "peer": operation.peer,
            "step": operation.step,
            "slots": [str(slot) for slot in operation.slots],
            "after": sorted(operation.after),
            "passing": [slot.passing for slot in operation.slots],
        }


@pytest.mark.parametrize("ranks", [1, 2, 3, 8, 27, 61])
@pytest.mark.parametrize("radix", [2, 3, 5, 64])
def test_closed_forms_are_what_schedules_do(ranks, radix):
    system = shoal.DigitSystem(ranks, radix)
    program = shoal.generate(shoal.parse(f"tuna:radix={radix},inflight=1"), shoal.Problem(ranks), ranks // 2)
    sent = program.sent
    assert (sent.messages, sent.blocks) == (system.steps, system.blocks)
    assert (sent.metadata_messages, program.temp_slots) == (system.passing_steps, system.blocks - (ranks - 1))
    assert program.temp_peak <= system.slot_bound


def test_mixed_digits():
    system = shoal.DigitSystem(100, [4, 5, 5, 7])
    assert (system.ranks, system.radices, system.steps) == (100, [4, 5, 5], 3 + 4 + 4)
    assert sum(system.blocks_of_step(x, z) for x in range(3) for z in range(1, system.steps_of_digit(x) + 1)) == (
        system.blocks
    )
    with pytest.raises(ValueError, match="does not reach"):
        shoal.DigitSystem(100, [9, 9])
    assert shoal.square_radix(101) == 11


def test_checker_passes_and_fails():
    problem = shoal.Problem(6)
    programs = shoal.generate_all(shoal.parse("tuna:radix=2"), problem)
    assert shoal.check(programs) is None
    assert shoal.check_all_ranks(shoal.parse("tuna:radix=2"), problem) is None
    programs[3] = shoal.generate(shoal.parse("pairwise"), problem, 3)
    fault = shoal.check(programs)
    assert fault is not None
    assert fault.kind == "unmatched transfer" and fault.text.startswith(
        f"rank {fault.rank}, operation {fault.operation}: "
    )


def test_groups():
    selection = shoal.parse("circulant", "allgather")
    assert shoal.check_all_ranks(selection, shoal.Problem(10, senders=4)) is None
    with pytest.raises(ValueError):
        shoal.check_all_ranks(selection, shoal.Problem(10))
