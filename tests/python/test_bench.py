"""The benchmark driver measures every distribution with verified data, and says what is wrong with its input."""

import itertools
import json
import sys

import pytest

import mpis
import shoal
from mpis import ROOT
from shoal.commands import bench
from shoal.commands.bench import NOT_SPECS
from shoal.commands.simulate import check_selectors, check_variants
from shoal.measurements import Results
from shoal.mpi import Mpi, find_all, launch_command
from shoal.networks import least_seconds, read_network
from shoal.platforms import make_platform
from shoal.resume import Kept
from shoal.suites import SCRIPTS, SIMULATED, SUITES

MATRIX_MARKET = "%%MatrixMarket matrix coordinate integer general\n% made by hand\n3 3 2\n1 2 100\n3 1 7\n"
RESULTS = """{"provenance": {"mpi": "MPICH 5"}}
{"ranks": 2, "distribution": "uniform", "size": 8, "variant": "auto", "ran": "native", "seconds": [1e-6, 2e-6]}
"""
AMONG_NEIGHBORS = ["--collective", "neighbor_alltoallv"]
CSV = "# rank 0 first\n0,10,20\n30,0,5\n1,2,3\n"


@pytest.fixture(scope="module")
def driver():
    mpi = mpis.WHEELS[0]
    if mpi.missing():
        pytest.skip(mpi.missing())

    def run(*arguments, ranks=3, **environment):
        command = [mpi.build / "shoal_bench", "--seconds", 0.01, *arguments]
        # Beside other tests, two ranks that spin start too late for a measurement, and the driver waits ever longer.
        return mpi.run(ranks, command, preload=False, **{"SHOAL_WAIT": "yield"} | environment)

    return run


@pytest.fixture
def files(tmp_path):
    for name, text in {
        "a.csv": CSV,
        'its "own".csv': CSV,
        "a.mtx": MATRIX_MARKET,
        "rows.csv": "1,2\n3\n",
        "word.csv": "1,x\n2,3\n",
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "wide.mtx").write_text(MATRIX_MARKET.replace("3 3 2", "3 4 2"))
    (tmp_path / "place.mtx").write_text(MATRIX_MARKET.replace("3 1 7", "4 1 7"))
    return tmp_path


def test_every_distribution(driver, files):
    names = ["uniform", "random", "normal", "power", "sparse", "hot", "fft1", "fft2", "experts"]
    names += [f"matrix:{files / file}" for file in ("a.csv", "a.mtx", 'its "own".csv')]
    run = driver("--distributions", ",".join(names), "--sizes", "0,100", "--variants", "native;tuna:radix=2")
    assert run.returncode == 0, run.stderr
    provenance, *lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert provenance["provenance"]["ranks"] == 3
    assert {(line["distribution"], line["size"]) for line in lines} == {(n, s) for n in names for s in (0, 100)}
    assert all(line["verified"] for line in lines)


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_exchanges_among_some(driver, ranks):
    kinds = "partners:0,partners:2,partners:9"
    run = driver("--collective", "exchange", "--distributions", kinds, "--sizes", "0,3000",
                 "--variants", "auto;native;nbx;crystal", ranks=ranks)  # fmt: skip
    assert run.returncode == 0, run.stderr
    lines = [json.loads(line) for line in run.stdout.splitlines()[1:]]
    assert {line["variant"] for line in lines} == {"auto", "native", "nbx", "crystal"}
    assert all(line["verified"] for line in lines)


@pytest.mark.parametrize(("ranks", "layout"), [(1, ""), (2, ""), (6, "3,3")])
def test_exchanges_among_neighbors(driver, ranks, layout):
    """In a ring of one or two ranks there are several edges from one rank to the same rank."""
    kinds = f"partners:0,partners:2,partners:9,torus:{ranks},grid:{ranks}x1,torus:1x{ranks}"
    variants = ["auto", "native", "hand", "direct", "gathered", "gathered:carriers=1"]
    run = driver("--collective", "neighbor_alltoallv", "--distributions", kinds, "--sizes", "0,3000",
                 "--variants", ";".join(variants), ranks=ranks, SHOAL_LAYOUT=layout)  # fmt: skip
    assert run.returncode == 0, run.stderr
    lines = [json.loads(line) for line in run.stdout.splitlines()[1:]]
    assert len(lines) == len(variants) * 2 * 6 and all(line["verified"] for line in lines)
    if ranks > 1:
        assert {line["ran"] for line in lines if line["variant"] == "gathered"} == {"gathered: asked for"}


def test_phases_among_neighbors(driver):
    run = driver("--collective", "neighbor_alltoallv", "--distributions", "torus:3", "--sizes", "100", "--phases", 1,
                 "--variants", "native;direct:local=messages")  # fmt: skip
    assert run.returncode == 0, run.stderr
    phases = {line["variant"]: line.get("phases") for line in map(json.loads, run.stdout.splitlines()[1:])}
    assert phases["native"] is None and phases["direct:local=messages"]["data"] > 0


def test_what_was_never_in_time_is_told_all_the_same(driver):
    """As on a busy machine. Every variant must be listed, however slow the machine was."""
    run = driver("--seconds", 0, "--sizes", "8", "--variants", "native;tuna:radix=2")
    lines = [json.loads(line) for line in run.stdout.splitlines()[1:]]
    assert {line["variant"]: line["seconds"] for line in lines} == {"native": [], "tuna:radix=2": []}


def test_strips_of_matrices(driver):
    run = driver("--collective", "alltoallw", "--sizes", "0,8,5000", "--variants", "auto;native;tuna:radix=2;shared")
    assert run.returncode == 0, run.stderr
    lines = [json.loads(line) for line in run.stdout.splitlines()[1:]]
    assert {line["variant"] for line in lines} == {"auto", "native", "tuna:radix=2", "shared"}
    assert {line["distribution"] for line in lines} == {"strips"}


@pytest.mark.parametrize("variant", ["auto persistent", "tuna inline=64 persistent", "choose cpu", "tuna inline=0"])
def test_words_behind_a_spec(driver, variant):
    run = driver("--sizes", "8", "--variants", variant)
    assert run.returncode == 0 and json.loads(run.stdout.splitlines()[1])["variant"] == variant, run.stderr


@pytest.mark.parametrize(
    ("variant", "more"),
    [
        ("tuna persistant", []),
        ("tuna cpu", []),
        ("hand persistent", []),
        ("choose inline=8", []),
        ("tuna inline=8k", []),
        ("tuna inline=", []),
        ("tuna  persistent", []),
        ("shared persistent", ["--collective", "alltoallw"]),
        ("full persistent", ["--senders", "1"]),
        ("direct persistent", [*AMONG_NEIGHBORS, "--distributions", "torus:3"]),
    ],
)
def test_words_that_mean_nothing(driver, variant, more):
    """Before, what stood behind a spec was dropped, and the results had its label."""
    run = driver("--sizes", "8", "--variants", variant, *more)
    assert run.returncode == 2 and run.stderr.count(f"{variant}: '{variant.split(' ')[1]}' means nothing behind ") == 1


@pytest.mark.parametrize("variants", ["", ";", "auto;;native", " tuna"])
def test_no_variant(driver, variants):
    run = driver("--sizes", "8", "--variants", variants)
    assert run.returncode == 2 and "variant" in run.stderr


@pytest.mark.parametrize("size", ["4294967304", "1073741824", "999999999999999999"])
@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("uniform", []),
        ("strips", ["--collective", "alltoallw"]),
        ("partners:2", ["--collective", "exchange"]),
        ("partners:2", AMONG_NEIGHBORS),
    ],
)
def test_more_bytes_than_mpi_counts(driver, kind, more, size):
    """A block, or all blocks of a rank together."""
    run = driver("--sizes", size, "--variants", "native", "--distributions", kind, *more)
    assert run.returncode == 2 and len(run.stdout.splitlines()) == 1
    assert f"--sizes {size}: blocks of more than 2 GiB in a rank's buffer cannot be measured" in run.stderr


def test_more_bytes_between_groups_than_mpi_counts(driver):
    run = driver("--sizes", "4294967304", "--variants", "native", "--senders", 1)
    assert run.returncode == 2 and "--sizes 4294967304: blocks of more than 2 GiB" in run.stderr


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--collective", "alltoalls"], "--collective alltoalls: alltoall, alltoallw, exchange or neighbor_alltoallv"),
        (["--collective", "alltoallw", "--variants", "nbx"], "--collective alltoallw has no variant nbx"),
        (["--collective", "exchange"], "uniform: --collective exchange needs partners:N, for example partners:8"),
        (
            AMONG_NEIGHBORS,
            "uniform is no exchange among neighbours; use partners:N, grid:AxB or torus:AxB, for example torus:4x2",
        ),
        ([*AMONG_NEIGHBORS, "--distributions", "torus:2x"], "torus:2x is no exchange among neighbours"),
        ([*AMONG_NEIGHBORS, "--distributions", "grid:0"], "grid:0 is no exchange among neighbours"),
        ([*AMONG_NEIGHBORS, "--distributions", "torus:2x2"], "torus:2x2 is for 4 ranks, not 3"),
        (
            [*AMONG_NEIGHBORS, "--distributions", "torus:3", "--variants", "tuna"],
            "there is no algorithm 'tuna'; there are direct, gathered",
        ),
    ],
)
def test_wrong_collective(driver, given, said):
    run = driver(*given)
    assert run.returncode == 2 and run.stderr.count(said) == 1, run.stderr


def test_phases(driver):
    """Only Shoal's exchanges have phases."""
    run = driver("--phases", 1, "--sizes", 100, "--distributions", "random", "--variants", "native;tuna:radix=2;auto")
    assert run.returncode == 0, run.stderr
    provenance, *lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert provenance["provenance"]["phases"] == "recorded"
    phases = {line["variant"]: line.get("phases") for line in lines}
    assert phases["native"] is None
    assert {*phases["tuna:radix=2"]} == {"prepare", "metadata", "data", "replace", "rearrange", "inter-node"}
    assert phases["tuna:radix=2"]["data"] > 0 and phases["tuna:radix=2"]["rearrange"] > 0


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("matrix:nowhere", "nowhere cannot be read; give a traffic matrix"),
        ("matrix:{files}/rows.csv", "rows.csv, line 2: 2 lines of 2 numbers were expected"),
        ("matrix:{files}/word.csv", "word.csv, line 1: numbers were expected: 1,x"),
        ("matrix:{files}/wide.mtx", "wide.mtx, line 3: the size of a square matrix was expected: 3 4 2"),
        ("matrix:{files}/place.mtx", "place.mtx, line 5: there is no such place: 4 1 7"),
        ("skewed", "there is no distribution 'skewed'; there are uniform, random,"),
    ],
)
def test_wrong_distribution(driver, files, what, said):
    run = driver("--distributions", what.format(files=files))
    assert run.returncode == 2 and run.stderr.count(said) == 1, run.stderr


def test_matrix_for_other_ranks(driver, files):
    run = driver("--distributions", f"matrix:{files / 'a.csv'}", ranks=2)
    assert run.returncode == 2 and run.stderr.count("a.csv is for 3 ranks, not 2") == 1


def test_between_groups(driver):
    """Two ranks send to the third. A wrong number of senders is refused."""
    run = driver("--senders", 2, "--sizes", "8,1000", "--variants", "native;auto;full;ring")
    assert run.returncode == 0, run.stderr
    lines = [json.loads(line) for line in run.stdout.splitlines()[1:]]
    assert [(line["distribution"], line["size"]) for line in lines] == 4 * [("2 to 1", 8)] + 4 * [("2 to 1", 1000)]
    refused = driver("--senders", 3)
    assert refused.returncode == 2 and refused.stderr.count("of 3 ranks at least one must send") == 1


@pytest.mark.parametrize(
    "options, said",
    [
        (["--ranks", "2,x"], "--ranks 2,x: expected whole numbers from 1 on, as in 2,4,8"),
        (["--ranks", "0"], "--ranks 0: expected whole numbers from 1 on"),
        (["--sizes", "8,"], "--sizes 8,: expected whole numbers from 0 on"),
        (["--senders", "-1"], "--senders -1: expected whole numbers from 1 on"),
        (["--suite", "tuna-sizes", "--sizes", "8"], "--suite already sets --sizes; leave one out"),
        (["--suite", "tuna-sizes", "--ranks", "8"], "--suite already sets --ranks"),
        (["--quick", "--sizes", "8"], "--quick already sets --sizes"),
        (["--ranks", "4,8", "--senders", "4"], "--senders 4: of 4 ranks at least one must send and one receive"),
    ],
)
def test_wrong_numbers(shoal_command, tmp_path, options, said):
    assert said in " ".join(shoal_command.refused("bench", *options, "-o", tmp_path / "x").split())
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("options", "blocks"),
    [
        ([], " --distributions uniform,random"),
        (["--senders", 2], ""),
        (["--collective", "alltoallw"], ""),
        (AMONG_NEIGHBORS, " --distributions partners:8"),
    ],
)
def test_quick_says_what_it_runs(shoal_command, monkeypatch, options, blocks):
    for name in ("measure_suite", "choose_mpis", "show"):
        monkeypatch.setattr(bench, name, lambda *_: None)
    assert shoal_command.output("bench", "--quick", *options) == f"quick: --ranks 4 --sizes 8,1024,32768{blocks}\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--collective", "neighbors"], "choose alltoall, alltoallw, exchange or neighbor_alltoallv"),
        (["--collective", "exchange", "--variants", "tuna"], "choose auto, native, nbx or crystal"),
        ([*AMONG_NEIGHBORS, "--variants", "tuna"], "there is no algorithm 'tuna'; there are direct, gathered"),
        ([*AMONG_NEIGHBORS, "--variants", "memcpy"], "there is no algorithm 'memcpy'; there are direct, gathered"),
        (["--variants", "gathered"], "there is no algorithm 'gathered'; there are tuna"),
        (["--variants", " ; "], "--variants ' ; ' names none"),
    ],
)
def test_what_a_collective_does_not_have(shoal_command, tmp_path, options, said):
    assert said in shoal_command.refused("bench", *options, "-o", tmp_path / "x")
    assert not (tmp_path / "x").exists()


LAUNCHER = """#!{python}
import os, sys
if "--version" in sys.argv:
    os.execv("{mpiexec}", ["mpiexec", "--version"])
sys.stderr.write("much to say\\n" * 20000)
sys.exit(3)
"""


def test_launch_that_fails_loses_no_results(shoal_command, tmp_path, monkeypatch):
    """However much the launch prints."""
    mpi = find_built("mpich")
    said = tmp_path / "mpiexec"
    said.write_text(LAUNCHER.format(python=sys.executable, mpiexec=mpi.mpiexec))
    said.chmod(0o755)
    monkeypatch.setattr(bench, "choose_mpis", lambda _: [mpi._replace(mpiexec=said)])
    (tmp_path / "results.jsonl").write_text("earlier\n")
    status, _, told = shoal_command("bench", "--ranks", 2, "--sizes", 8, "-o", tmp_path)
    assert status == 2 and told.count("much to say") == 20000 and "ended with status 3" in told
    assert (tmp_path / "results.jsonl").read_text() == "earlier\n"


def find_built(kind):
    found = [mpi for mpi in find_all() if mpi.kind == kind and bench.driver(mpi).is_file()]
    return found[0] if found else pytest.skip(f"no driver for {kind}")


def test_resume_keeps_what_is_not_asked_for(shoal_command, tmp_path, monkeypatch):
    def measure(mpi, ranks, arguments, launch):
        yield RESULTS.splitlines()[0]
        yield RESULTS.splitlines()[1].replace('"size": 8', f'"size": {arguments[3]}')

    fake = Mpi("mpich", "5", tmp_path / "mpiexec", tmp_path / "libmpi.so.12")
    for name, value in {"measure": measure, "choose_mpis": lambda _: [fake], "show": lambda *_: None}.items():
        monkeypatch.setattr(bench, name, value)
    common = ["bench", "--ranks", 2, "--variants", "auto", "--distributions", "uniform", "-o", tmp_path, "--resume"]
    for size in (8, 64):
        assert shoal_command(*common, "--sizes", size)[0] == 0
    lines = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert [one.get("size") for one in lines] == [None, 8, None, 64]


def test_experiments_of_other_kinds_are_cases_of_their_own(monkeypatch, tmp_path):
    """So that shoal report mixes neither collectives, nor an emulated cluster and the machine itself."""
    monkeypatch.setattr(bench, "measure", lambda *_: iter(RESULTS.splitlines()[:2]))
    fake = Mpi("mpich", "5", tmp_path / "mpiexec", tmp_path / "libmpi.so.12")
    cluster = bench.Cluster(read_network("switch:2", "100M"), "switch:2 100M")
    kinds = [(None, "alltoall"), (None, "exchange"), (cluster, "alltoall"), (cluster, "exchange")]
    read = Results()
    for cluster, collective in kinds:
        run = bench.Run(fake, 2, 0.3, cluster, False, collective)
        read.add_lines(run.measure(Kept([], [("uniform", 8)]), ["auto"], launch_command))
    name = next(iter(read.cases)).mpi
    also = ["", ", exchange", ", emulated switch:2 100M", ", emulated switch:2 100M, exchange"]
    assert [case.mpi for case in read.cases] == [name + words for words in also]


@pytest.mark.parametrize("command", ["bench", "demo", "simulate --model --variants tuna", "report {results}"])
def test_output_that_is_a_file(shoal_command, tmp_path, command):
    (tmp_path / "file").touch()
    (tmp_path / "results").write_text(RESULTS)
    words = command.format(results=tmp_path / "results").split()
    assert f"{tmp_path / 'file'}" in shoal_command.refused(*words, "-o", tmp_path / "file")


@pytest.mark.parametrize("suite", SUITES.values(), ids=SUITES)
def test_suites_fit_their_ranks(suite):
    specs = [name for name in suite.variants.split(";") if name not in (*NOT_SPECS, "tree")]
    if "tree" in suite.variants:
        assert read_network(suite.emulate, suite.rate).ranks == int(suite.ranks)
    for ranks, senders in itertools.product(suite.ranks.split(","), (suite.senders or "0").split(",")):
        layout = "4,4,4,4" if ranks == "16" else ""
        problem = shoal.Problem(int(ranks), layout=layout, senders=int(senders))
        for spec in specs:
            shoal.generate(shoal.parse(spec, "allgather" if suite.senders else "alltoall"), problem, 0)


@pytest.mark.parametrize("suite", SIMULATED.values(), ids=SIMULATED)
def test_suites_fit_their_platform(suite):
    assert check_variants(suite.variants, "allgather" if suite.senders else "alltoall") and check_selectors(
        suite.selector
    )
    for platform in suite.platform.split(","):
        assert len(make_platform(platform, suite.nodes).hosts) >= suite.nodes


def test_every_experiment_is_listed(shoal_command):
    text = shoal_command.output("bench", "--list-suites")
    for name in [*SUITES, *SIMULATED]:
        assert f"--suite {name}" in text
    for script in SCRIPTS:
        assert (ROOT / script).is_file() and script in text


def test_the_least_time_of_links():
    """A block takes 1 s on the slowest link: four leave each machine of five; three messages reach each receiver."""
    network = read_network("switch:5", "8")
    assert least_seconds(network, "uniform", 1) == pytest.approx(4)
    assert least_seconds(network, "3 to 2", 1) == pytest.approx(3)
    assert least_seconds(network, "random", 1) == 0


def test_unknown_suite(shoal_command):
    status, _, said = shoal_command("bench", "--suite", "nothing")
    assert status == 2 and "; choose bruck-radix, " in said
    status, _, said = shoal_command("simulate", "--suite", "nothing")
    assert status == 2 and "; choose bruck-256, " in said
