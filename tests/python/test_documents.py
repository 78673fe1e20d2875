"""What the documents show is what the repository has."""

import re
from itertools import zip_longest

import pytest

import shoal
from mpis import ROOT
from shoal.graphs import read_graph

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_example_algorithm_is_shown_as_it_is():
    shown = (ROOT / "docs/add-an-algorithm.md").read_text()
    assert (ROOT / "examples/algorithm/star.cpp").read_text() in shown


def block(operations, rank, slot):
    """Origin and destination of the block in a slot of a rank, as in 02."""
    if slot.startswith("send["):
        return f"{rank}{slot[5:-1]}"
    got = next(one for one in operations[rank] if one["kind"] != "send" and slot in one["slots"][one["peer"] is None :])
    if got["kind"] == "copy":
        return block(operations, rank, got["slots"][0])
    peer, same = got["peer"], [one for one in operations[rank] if (one["kind"], one["peer"]) == ("recv", got["peer"])]
    sent = [one for one in operations[peer] if (one["kind"], one["peer"]) == ("send", rank)][same.index(got)]
    return block(operations, peer, sent["slots"][got["slots"].index(slot)])


def origin_and_destination(name, words):
    """Origin and destination of a block, which plans of graphs name by its sender and the sender's edge."""
    if "--graph" not in words:
        return name
    destinations = read_graph(words[words.index("--graph") + 1])
    return f"{name[0]}{destinations[int(name[0])][int(name[1])]}"


def drawing(plan, words):
    """What every rank sends in every step: a column a rank, a row a message; a star for a block that is passed on."""
    operations = {program["rank"]: program["operations"] for program in plan["programs"]}
    sends = {}
    for rank in operations:
        for one in operations[rank]:
            if one["kind"] == "send" and one["slots"]:
                slots = zip(one["slots"], one["passing"], strict=True)
                named = [(origin_and_destination(block(operations, rank, slot), words), star) for slot, star in slots]
                blocks = " ".join(name + "*" * star for name, star in named)
                sends.setdefault(one["step"], {}).setdefault(rank, []).append(f"to {one['peer']}: {blocks}")
    rows = [["", *(f"rank {rank}" for rank in operations)]]
    for number, step in enumerate(sorted(sends), 1):
        columns = [sends[step].get(rank, []) for rank in operations]
        for row, texts in enumerate(zip_longest(*columns, fillvalue="")):
            rows.append(["" if row else f"step {number}", *texts])
    widths = [max(map(len, column)) + 3 for column in zip(*rows, strict=True)]
    return ["".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() + "\n" for row in rows]


def drawn(documents=DOCUMENTS):
    """Schedules that the documents draw: the arguments of shoal plan, and the drawing."""
    for document in documents:
        yield from re.findall(r"```text\nshoal plan ([^\n]*)\n\n(.*?)```", document.read_text(), re.DOTALL)


@pytest.mark.parametrize("words, shown", [pytest.param(*one, id=one[0]) for one in drawn()])
def test_schedules_are_drawn_as_they_are(shoal_command, words, shown):
    if "--senders" in words:
        assert shown == shoal_command.output("plan", *words.split())
    else:
        assert shown == "".join(drawing(shoal_command.json("plan", *words.split()), words.split()))


def test_every_algorithm_is_drawn_and_named_with_its_parameters():
    page = ROOT / "docs/algorithms.md"
    names = {re.match(r"\w+", words)[0] for words, _ in drawn([page])}
    assert names == {one.name for one in shoal.algorithms() if one.has_schedule}
    text = page.read_text()
    every = [(one.name, parameter.name) for one in shoal.algorithms() for parameter in one.parameters]
    assert [one.name for one in shoal.algorithms() if not re.search(rf"`{one.name}[`:]", text)] == []
    assert [(of, name) for of, name in every if not re.search(rf"[`:,]{name}[`,=]", text)] == []


def transcripts():
    """Commands that are followed by their whole output."""
    for document in DOCUMENTS:
        yield from re.findall(r"```\nshoal ([^\n]*)\n```\n\n```text\n(.*?)```", document.read_text(), re.DOTALL)


@pytest.mark.parametrize(
    "words, shown", [pytest.param(*one, id=one[0]) for one in transcripts() if "run" not in one[0]]
)
def test_output_is_shown_as_it_is(shoal_command, words, shown):
    assert shoal_command.output(*words.split()) == shown


def test_python_is_shown_as_it_works(capsys):
    """Of the tutorial's programs, the one that needs no MPI."""
    code = re.findall(r"```python\n(.*?)```", (ROOT / "docs/tutorial.md").read_text(), re.DOTALL)[-1]
    exec(code, {})
    assert capsys.readouterr().out.split() == code.rpartition("# ")[2].split()


def test_reference_is_complete():
    """It names every function of the header, and every command."""
    text = (ROOT / "docs/reference.md").read_text()
    header = (ROOT / "include/shoal/shoal.h").read_text()
    functions = set(re.findall(r"^SHOAL_PUBLIC int (\w+)\(", header, re.MULTILINE))
    commands = re.findall(r'^        "(\w+)": "\w+\.\w+"', (ROOT / "python/shoal/cli.py").read_text(), re.MULTILINE)
    assert {name for name in functions if f"`{name}" not in text} == set()
    assert commands and {name for name in commands if f"`shoal {name}" not in text} == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document):
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text())
    missing = [link for link in links if not (document.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_files_that_are_named_exist(document):
    names = re.findall(
        r"`((?:src|tests|docs|examples|bench|python|cmake|tools|packaging)/[\w./-]*)`", document.read_text()
    )
    missing = [name for name in names if not (ROOT / name).exists()]
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_no_path_hides_the_users_python(document):
    """Beside the command is a Python without mpi4py."""
    assert not re.search(r'shoal/bin:\$PATH|prepend_path\("PATH"', document.read_text())


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_what_shell_lines_call_is_there(document):
    """Targets of make; files of the repository that are run, or given to pytest."""
    text = document.read_text()
    rules = re.findall(r"^([\w.-]+(?: [\w.-]+)*) ?:(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    targets = {name for rule in rules for name in rule.split()} | {"build-mpich", "build-openmpi"}
    blocks = re.findall(r"```\w*\n(.*?)```", text, re.DOTALL) + re.findall(r"^    .*$", text, re.MULTILINE)
    lines = [line.partition(" #")[0].strip() for block in blocks for line in block.splitlines()]
    made = {name for line in lines if line.startswith("make ") for name in line.split()[1:] if "=" not in name}
    made |= set(re.findall(r"`make ([\w-]+)`", text))
    assert made <= targets
    words = {
        word.partition("::")[0] for line in lines for word in line.split() if re.match(r"(tests|tools|bench)/", word)
    }
    assert [word for word in sorted(words) if not (ROOT / word).exists()] == []


def commands():
    """Every line in a code block that calls shoal."""
    for document in DOCUMENTS:
        for block in re.findall(r"```\w*\n(.*?)```", document.read_text(), re.DOTALL):
            for line in block.splitlines():
                match = re.match(r"(?:\.venv/bin/)?shoal ((?:model |topology )?\w+)(.*)", line)
                if match:
                    yield document.name, match.group(1), match.group(2).partition(" -- ")[0].partition(" # ")[0]


@pytest.mark.parametrize("command", sorted({name for _, name, _ in commands()}))
def test_commands_have_the_options_that_are_shown(shoal_command, command):
    _, text, _ = shoal_command(*command.split(), "--help")
    known = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", text))
    for document, name, arguments in commands():
        if name == command:
            shown = {word.partition("=")[0] for word in re.findall(r"(?<![\w-])--?[a-z][\w-]*", arguments)}
            assert shown <= known, f"{document}: shoal {name}{arguments}"


def test_settings_are_those_of_the_table():
    shown = re.findall(r"`(SHOAL_\w+)`", "".join(re.findall(r"^\| (`SHOAL_[^|]*)\|", settings_page(), re.MULTILINE)))
    assert sorted(set(shown)) == sorted(["SHOAL_CONFIG", *(one.variable for one in shoal.settings())])


def settings_page():
    """The part of docs/settings.md with its first table."""
    return re.split("^## ", (ROOT / "docs/settings.md").read_text(), flags=re.MULTILINE)[0]


def test_keys_that_the_header_tells_of_are_those_of_the_table():
    told = set(re.findall(r"\bkey shoal_(\w+)", (ROOT / "include/shoal/shoal.h").read_text()))
    assert told == {one.name for one in shoal.settings() if one.is_key}
