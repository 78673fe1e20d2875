"""shoal plan with --senders and --receivers: the step table and the JSON form."""

import pytest

TABLE = """\
1: 0->6:m0 1->0:m1 2->3:m2
2: 0->6:m1 1->2:m1 3->4:m2 6->5:m0
3: 2->3:m1 4->5:m2 5->4:m0
4: 3->4:m1 4->3:m0 5->6:m2 6->5:m1
4 steps, volume 4, traffic 14 messages
"""


def test_people_get_the_step_table(shoal_command):
    assert shoal_command.output("plan", "ring", "--senders", "3", "--receivers", "4").endswith(TABLE)


def test_programs_get_steps_and_slots(shoal_command):
    document = shoal_command.json("plan", "ring", "--senders", "3", "--receivers", "4")
    assert (document["algorithm"], document["ranks"]) == ("ring", 7)
    first = document["programs"][0]
    moves = [(o["step"], o["kind"], o["peer"], o["slots"], o["passing"]) for o in first["operations"]]
    assert moves == [
        (1, "send", 6, ["send[0]"], [False]),
        (1, "recv", 1, ["temp[0]"], [True]),
        (2, "send", 6, ["temp[0]"], [False]),
    ]
    received = [slot for o in document["programs"][3]["operations"] if o["kind"] == "recv" for slot in o["slots"]]
    assert sorted(received) == ["recv[0]", "recv[1]", "recv[2]"]


def test_json_says_into_how_many_parts_messages_are_cut(shoal_command):
    whole = shoal_command.json("plan", "ring", "--senders", "2", "--receivers", "2")
    cut = shoal_command.json("plan", "ring:segments=3", "--senders", "2", "--receivers", "2")
    assert all("parts" not in program for program in whole["programs"])
    assert all(program["parts"] == 3 for program in cut["programs"])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["torus:shape=3x3", "--senders", "4", "--receivers", "5"], "not whole rows of 3 ranks"),
        (["ring", "--senders", "0", "--receivers", "5"], "both at least 1"),
        (["tuna", "--senders", "1", "--receivers", "5"], "there is no algorithm 'tuna'"),
    ],
)
def test_wrong_groups_are_named(shoal_command, arguments, reason):
    assert reason in shoal_command.refused("plan", *arguments)
