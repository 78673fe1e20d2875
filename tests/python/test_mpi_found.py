"""What Shoal finds out about MPIs and programs, with made-up launchers and libraries."""

import os
import sys
from pathlib import Path

import pytest

import shoal
from shoal import mpi, program
from shoal.commands import run
from shoal.commands.doctor import build_command
from shoal.errors import UserError

VERSIONS = {
    "mpich": "HYDRA build details:\n    Version:                                 4.3.1\n",
    "openmpi": "mpiexec (Open MPI) 5.0.11\n\nReport bugs to ...\n",
    "impi": "Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20260626 (id: b44796a)\n",
    "other": "Best MPI 1.0\n",
}


def make_mpi(prefix, kind, library):
    """Makes as much of an MPI as Shoal looks at; returns its launcher."""
    for directory in ("bin", "lib"):
        (prefix / directory).mkdir(parents=True)
    (prefix / "lib" / library).touch()
    launcher = prefix / "bin/mpiexec"
    (prefix / "version").write_text(VERSIONS[kind])
    launcher.write_bytes(os.fsencode(f"#!/bin/sh\nexec /bin/cat '{prefix}/version'\n"))
    launcher.chmod(0o755)
    return launcher


@pytest.fixture
def only(monkeypatch, tmp_path):
    """Only the MPIs made here are found."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))

    def only(*launchers):
        monkeypatch.setenv("PATH", os.pathsep.join(str(one.parent) for one in launchers))

    return only


@pytest.mark.parametrize(
    ("kind", "library", "version", "abi"),
    [
        ("mpich", "libmpi.so.12", "4.3.1", "mpich"),
        ("mpich", "libmpich.so.12", "4.3.1", "mpich"),
        ("openmpi", "libmpi.so.40", "5.0.11", "openmpi"),
        ("impi", "libmpi.so.12", "2021.18.1", "mpich"),
        ("mpich", "libmpi_abi.so.1", "4.3.1", "standard"),
    ],
)
def test_kinds(tmp_path, kind, library, version, abi):
    (found,) = mpi.identify(make_mpi(tmp_path, kind, library))
    assert (found.kind, found.version, found.soname, found.abi) == (kind, version, library, abi)
    assert found.preload == Path(sys.prefix) / "lib/shoal" / abi / "libshoal-preload.so"


def test_unknown_mpi(tmp_path):
    assert mpi.identify(make_mpi(tmp_path / "other", "other", "libmpi.so.12")) == []
    assert mpi.identify(make_mpi(tmp_path / "no_library", "openmpi", "libmpi.so.1")) == []
    assert mpi.identify(tmp_path / "nothing") == []


def test_two_abis_of_one_mpi(tmp_path, only):
    launcher = make_mpi(tmp_path, "mpich", "libmpi.so.12")
    (tmp_path / "lib/libmpi_abi.so.1").touch()
    only(launcher)
    assert [one.abi for one in mpi.find_all()] == ["mpich", "standard"]
    wanted = program.choose(program.Needs("libmpi_abi.so.1"), mpi.find_all())
    assert (wanted.mpiexec, wanted.abi) == (launcher, "standard")
    assert f"-DMPI_C_COMPILER={launcher.with_name('mpicc_abi')} " in build_command(wanted)


def test_library_known_by_its_target(tmp_path):
    """Debian's libmpi.so.12 is a link."""
    (tmp_path / "libmpich.so.12.1.0").touch()
    (tmp_path / "libmpi.so.12").symlink_to("libmpich.so.12.1.0")
    assert mpi.soname(tmp_path / "libmpi.so.12") == "libmpich.so.12"
    assert mpi.soname(tmp_path / "libmpi.so.40.30.4") == "libmpi.so.40"


def test_path_comes_first_and_each_once(tmp_path, only):
    first = make_mpi(tmp_path / "a", "openmpi", "libmpi.so.40")
    second = make_mpi(tmp_path / "b", "mpich", "libmpi.so.12")
    wheel = make_mpi(tmp_path / ".mpi/openmpi", "openmpi", "libmpi.so.40")
    only(first, second, first)
    assert [one.mpiexec for one in mpi.find_all()] == [first, second, wheel]


def test_launch(tmp_path, monkeypatch):
    monkeypatch.setattr(mpi, "usable_cores", lambda: 2)
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    open_mpi = mpi.Mpi("openmpi", "5", Path("/o/mpiexec"), Path("/o/libmpi.so.40"))
    mpich = mpi.Mpi("mpich", "5", Path("/m/mpiexec"), Path("/m/libmpi.so.12"))
    variables = {"A": "1", "B": "x y"}
    set_for_ranks = ["-genv", "A", "1", "-genv", "B", "x y"]
    assert mpi.launch_command(mpich, 4, ["p", "-x"], variables) == ["/m/mpiexec", *set_for_ranks, "-n", "4", "p", "-x"]
    set_for_ranks = ["-x", "A=1", "-x", "B=x y"]
    assert mpi.launch_command(open_mpi, 2, ["p"], variables) == ["/o/mpiexec", *set_for_ranks, "-n", "2", "p"]
    parts = ["p", ":", "-n", "2", "q", ":", "r"]
    command = mpi.launch_command(open_mpi, 1, parts, {"A": "1"})
    assert " ".join(command) == "/o/mpiexec --oversubscribe -x A=1 -n 1 p : -x A=1 -n 2 q : -x A=1 r"
    assert mpi.launch_command(mpich, 1, parts, {"A": "1"}) == ["/m/mpiexec", "-genv", "A", "1", "-n", "1", *parts]
    assert mpi.launch_command(open_mpi, 2, ["p"]) == ["/o/mpiexec", "-n", "2", "p"]
    assert mpi.launch_command(open_mpi, 3, ["p"])[1] == "--oversubscribe"
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    assert "--oversubscribe" not in mpi.launch_command(open_mpi, 3, ["p"])


@pytest.mark.parametrize(("user", "allowed"), [(0, "1"), (1000, None)])
def test_root_is_allowed(monkeypatch, user, allowed):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.delenv(name, raising=False)
        assert mpi.launch_environment().get(name) == allowed


def test_cores_are_those_that_the_core_finds(tmp_path, monkeypatch):
    assert shoal.quota_cores(str(tmp_path)) is None
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/\n")
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/cpu.max").write_text("350000 100000\n")
    assert shoal.quota_cores(str(tmp_path)) == 3
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    for quota, cores in ((None, 8), (3, 3), (64, 8)):
        monkeypatch.setattr(shoal, "quota_cores", lambda quota=quota: quota)
        assert mpi.usable_cores() == cores


def test_interpreter_of_a_script(tmp_path):
    def script(first_line):
        path = tmp_path / "script"
        path.write_text(first_line + "\n")
        return str(path)

    assert program.python_of(script(f"#!{sys.executable} -u")) == sys.executable
    assert program.python_of(script("#!/usr/bin/env python3")).endswith("python3")
    assert program.python_of(script("#!/bin/sh")) is None
    assert program.python_of(script("")) is None
    assert program.python_of("/usr/bin/python3.11") == "/usr/bin/python3.11"


def test_programs_without_mpi(tmp_path):
    assert program.needs_of("/bin/ls") == program.Needs()
    assert program.needs_of("/bin/sh") == program.Needs()


LOADS = """
import mmap, os
library = os.environ.get("MPI4PY_LIBMPI", "")
if not library or "unfit" in library:
    raise RuntimeError("cannot load MPI library")
with open(library) as file:
    mapped = mmap.mmap(file.fileno(), 1, prot=mmap.PROT_READ)
"""


@pytest.fixture
def mpi4py(tmp_path, monkeypatch):
    """A made-up mpi4py that loads the library it is told to load, unless its path has the word unfit."""
    package = tmp_path / "packages/mpi4py"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("class rc: pass\n")
    (package / "MPI.py").write_text(LOADS)
    monkeypatch.setenv("PYTHONPATH", str(package.parent))


def python_and(tmp_path, only, *names):
    """What Python needs, and launchers of MPIs in folders of these names."""
    launchers = [make_mpi(tmp_path / name, "mpich", "libmpi.so.12") for name in names]
    for launcher in launchers:
        (launcher.parent.parent / "lib/libmpi.so.12").write_text("library")
    only(*launchers)
    return program.needs_of(sys.executable), launchers


@pytest.mark.parametrize("name", [b"with space", b"Latin-1 \xe9"])
def test_libraries_in_folders_of_any_name(tmp_path, only, mpi4py, monkeypatch, name):
    folder = os.fsdecode(name)
    monkeypatch.setenv("MPI4PY_LIBMPI", str(tmp_path / folder / "lib/libmpi.so.12"))
    needs, launchers = python_and(tmp_path, only, folder)
    assert (needs.soname, needs.library) == ("libmpi.so.12", tmp_path / folder / "lib/libmpi.so.12")
    assert run.choose_mpi("mpich", needs, "python").mpiexec == launchers[0]


@pytest.mark.parametrize("wanted", ["", "mpich"])
@pytest.mark.parametrize("by_itself", ["", "fit"])
def test_mpi_that_mpi4py_cannot_load_is_passed_over(tmp_path, only, mpi4py, monkeypatch, wanted, by_itself):
    if by_itself:
        monkeypatch.setenv("MPI4PY_LIBMPI", str(tmp_path / by_itself / "lib/libmpi.so.12"))
    needs, launchers = python_and(tmp_path, only, "unfit", "fit")
    assert run.choose_mpi(wanted, needs, "python").mpiexec == launchers[1]


def test_no_mpi_that_mpi4py_can_load(tmp_path, only, mpi4py):
    needs, _ = python_and(tmp_path, only, "unfit")
    with pytest.raises(UserError, match="no MPI was found that python can load"):
        run.choose_mpi("", needs, "python")
    with pytest.raises(UserError, match="python needs an MPI that its mpi4py can load, not mpich"):
        run.choose_mpi("mpich", needs, "python")


def test_python_without_mpi4py_takes_any_mpi(tmp_path, only, monkeypatch):
    (tmp_path / "mpi4py.py").write_text("raise ImportError")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    needs, launchers = python_and(tmp_path, only, "any")
    assert run.choose_mpi("mpich", needs, "python").mpiexec == launchers[0]
    assert run.choose_mpi("", needs, "python").mpiexec == launchers[0]


def test_choice_prefers_the_library_itself(tmp_path, only):
    launchers = [make_mpi(tmp_path / name, "mpich", "libmpi.so.12") for name in ("a", "b")]
    only(*launchers)
    available = mpi.find_all()
    second = available[1]
    assert program.choose(program.Needs("libmpi.so.12", second.library), available) == second
    assert program.choose(program.Needs("libmpi.so.12"), available) == available[0]
    assert program.choose(program.Needs("libmpi.so.40"), available) is None


def test_no_more_mpis_are_asked_than_it_takes(tmp_path, only):
    """To ask an MPI costs a start of its mpiexec."""

    def all_but_one(first):
        yield first
        pytest.fail("another one was asked")

    launcher = make_mpi(tmp_path, "mpich", "libmpi.so.12")
    for name in ("mpirun", "mpiexec.mpich"):
        launcher.with_name(name).write_text(launcher.read_text())
        launcher.with_name(name).chmod(0o755)
    only(launcher)
    assert mpi.launchers() == [launcher, launcher.with_name("mpiexec.mpich")]
    (first,) = mpi.find_all()
    assert program.choose(program.Needs("libmpi.so.12"), all_but_one(first)) == first
    launcher.unlink()
    assert mpi.launchers() == [launcher.with_name("mpiexec.mpich"), launcher.with_name("mpirun")]


def test_one_mpiexec_is_asked_where_the_library_tells(tmp_path, only):
    made = [make_mpi(tmp_path / name, "mpich", "libmpi.so.12") for name in ("a", "b", "c")]
    only(*made)
    made[0].write_text("#!/bin/sh\necho was asked >&2; exit 1\n")
    library = tmp_path / "b/lib/libmpi.so.12"
    asked = mpi.find(library)
    assert next(asked).mpiexec == made[1]
    (tmp_path / "link").symlink_to(made[1].parent)
    only(*made, tmp_path / "link/mpiexec")
    assert mpi.launchers() == made


def test_library_path(monkeypatch):
    one = mpi.Mpi("mpich", "5", Path("/m/bin/mpiexec"), Path("/m/lib/libmpi.so.12"))
    monkeypatch.setenv("LD_LIBRARY_PATH", "/x")
    assert program.library_path(program.Needs("libmpi.so.12", one.library), one) == {}
    assert program.library_path(program.Needs("libmpi.so.12"), one) == {"LD_LIBRARY_PATH": "/m/lib:/x"}
    monkeypatch.delenv("LD_LIBRARY_PATH")
    found = {"LD_LIBRARY_PATH": "/m/lib", "MPI4PY_LIBMPI": "/m/lib/libmpi.so.12"}
    assert program.library_path(program.Needs(interpreter="python3"), one) == found


@pytest.mark.parametrize("folder", ["with space", "with:colon"])
def test_preload_that_ld_preload_cannot_hold(tmp_path, only, monkeypatch, shoal_command, folder):
    monkeypatch.setattr(sys, "prefix", str(tmp_path / folder))
    preload = tmp_path / folder / "lib/shoal/mpich/libshoal-preload.so"
    preload.parent.mkdir(parents=True)
    preload.touch()
    only(make_mpi(tmp_path / "mpi", "mpich", "libmpi.so.12"))
    monkeypatch.setattr(os, "execvpe", lambda *_: pytest.fail("the program was started"))
    monkeypatch.setattr(run, "needs_of", lambda _: program.Needs("libmpi.so.12"))  # ldd is not on PATH
    for how in (["-n", 2], ["--launcher", "/usr/bin/env"]):
        line = shoal_command.refused("run", *how, "/bin/ls")
        assert f"LD_PRELOAD cannot hold {preload}" in line
    status, text, _ = shoal_command("doctor")
    assert (status, "ready" in text, "LD_PRELOAD=" in text) == (1, False, False)
    assert "Missing: a path of the preloads without a space or colon" in text
