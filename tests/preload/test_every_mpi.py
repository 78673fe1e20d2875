"""One preload serves every MPI of its ABI from MPI 3.1 on, and does nothing in all other processes."""

import os
import shutil
import subprocess

import pytest

import mpis
from conftest import SOURCES
from mpis import served

MPICH, OPEN_MPI = mpis.WHEELS
EVERY = [*mpis.WHEELS, *mpis.OTHERS, mpis.INTEL]
RIGHT = ["faults:", "0"]
FORCED = {"SHOAL_ALLTOALL": "tuna", "SHOAL_ALLTOALLV": "tuna", "SHOAL_REPORT": 1}
CALLS = {("alltoall", "tuna"): 3, ("alltoallv", "tuna"): 2}
AT_ONCE = {"LD_BIND_NOW": 1}


@pytest.fixture(params=EVERY, ids=lambda mpi: mpi.name, scope="module")
def every_mpi(request):
    if request.param.missing():
        pytest.skip(request.param.missing())
    return request.param


def other_preload(mpi):
    other = MPICH if "openmpi" in mpi.build.name else OPEN_MPI
    if other.missing():
        pytest.skip(other.missing())
    return other.preload


def run(mpi, command, preloads=None, **variables):
    """Runs `command` on 2 ranks under `preloads`, or under the preload for the MPI if `preloads` is None."""
    if "impi" in mpi.name:  # programs for it were linked to MPICH
        variables["LD_LIBRARY_PATH"] = mpi.libraries
    return mpi.run(2, command, preload=preloads is None, before=preloads or (), **FORCED, **variables)


def told(done):
    return [line for line in done.stderr.splitlines() if line.startswith("shoal: ")]


@pytest.mark.parametrize("how", [{}, AT_ONCE], ids=["lazily", "at once"])
def test_is_served(every_mpi, compiled, how):
    """Also while the MPI waits as it does by default, unlike in other tests."""
    done = run(every_mpi, [compiled(every_mpi, "exchange.c")], **how, **mpis.KEEPS_CORES)
    assert (done.returncode, done.stdout.split()) == (0, RIGHT), done.stderr
    assert served(done) == CALLS


@pytest.mark.parametrize("how", [{}, AT_ONCE], ids=["lazily", "at once"])
def test_preload_for_another_abi_does_nothing(every_mpi, compiled, how):
    done = run(every_mpi, [compiled(every_mpi, "exchange.c")], [other_preload(every_mpi)], **how)
    assert (done.returncode, done.stdout.split()) == (0, RIGHT), done.stderr
    assert len(told(done)) == 1 and "this preload is for the ABI" in told(done)[0]


def test_preloads_for_all_abis_together(every_mpi, compiled):
    other = other_preload(every_mpi)
    for preloads in ([other, every_mpi.preload], [every_mpi.preload, other]):
        done = run(every_mpi, [compiled(every_mpi, "exchange.c")], preloads)
        assert (done.returncode, done.stdout.split()) == (0, RIGHT), done.stderr
        assert served(done) == CALLS and not any("ABI" in line for line in told(done))


def test_mpi_of_a_module(every_mpi, compiled, tmp_path):
    """As in Python: the program itself does not need the MPI, and it loads the MPI for the module alone."""
    flags = ["-shared", "-fPIC", "-Dmain=main_of_library"]
    library = compiled(every_mpi, "exchange.c", *flags)
    loader = tmp_path / "loader"
    subprocess.run(["cc", "-o", loader, SOURCES / "loader.c", "-ldl"], check=True)
    done = run(every_mpi, [loader, library], **AT_ONCE)
    assert (done.returncode, done.stdout.split()) == (0, RIGHT), done.stderr
    assert served(done) == CALLS


def test_calls_with_64_bit_counts(every_mpi, compiled):
    """The program finds them even if the MPI has none, and also in the preload for another ABI."""
    program = compiled(every_mpi, "wide.c", "-rdynamic", "-ldl")
    for preloads in (None, [other_preload(every_mpi)]):
        done = run(every_mpi, [program], preloads)
        assert (done.returncode, done.stdout) == (0, "found: 4 faults: 0\n"), done.stderr


@pytest.fixture(params=mpis.WHEELS, ids=lambda mpi: mpi.name)
def preload(request):
    if request.param.missing():
        pytest.skip(request.param.missing())
    return request.param.preload


def dynamic(library, kind):
    listed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    return {line.split("[")[1].rstrip("]") for line in listed.splitlines() if f"({kind})" in line}


def test_nothing_is_loaded_into_a_shell(preload):
    """Except the preload itself."""
    show = ["/bin/sh", "-c", "cat /proc/$$/maps; cat /proc/self/maps"]

    def mapped(variables):
        done = subprocess.run(show, env=os.environ | variables, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        return {words[5] for words in map(str.split, done.stdout.splitlines()) if len(words) > 5 and ".so" in words[5]}

    for how in ({}, {"LD_BIND_NOW": "1"}):
        assert mapped({"LD_PRELOAD": str(preload)} | how) - mapped(how) == {str(preload)}
    assert dynamic(preload, "NEEDED") == {"libc.so.6"}
    served_by = preload.with_name("libshoal-drop-in.so")
    assert not any(name.startswith("libmpi") for name in dynamic(served_by, "NEEDED"))
    assert not dynamic(preload, "RUNPATH") | dynamic(served_by, "RUNPATH")


def test_preload_without_what_serves_ends_the_job(one_mpi, compiled, tmp_path):
    """The missing library may be there on other ranks, which would wait for this one.

    The launcher may lose the last words of a rank, so these go to a file.
    """
    shutil.copy(one_mpi.preload, tmp_path)
    words = tmp_path / "words"
    to_file = ["sh", "-c", 'exec "$0" 2>> "$1"', compiled(one_mpi, "exchange.c"), words]
    done = run(one_mpi, to_file, [tmp_path / one_mpi.preload.name])
    assert done.returncode != 0 and done.stdout == ""
    assert words.read_text().startswith("shoal: ") and "libshoal-drop-in.so" in words.read_text()


def test_mpi_that_lacks_a_function_is_left_alone(one_mpi, compiled, tmp_path):
    shutil.copy(one_mpi.preload, tmp_path)
    (tmp_path / "needy.c").write_text("int PMPI_Nothing(void); int needy(void) { return PMPI_Nothing(); }")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "libshoal-drop-in.so", tmp_path / "needy.c"], check=True)
    done = run(one_mpi, [compiled(one_mpi, "exchange.c")], [tmp_path / one_mpi.preload.name])
    assert (done.returncode, done.stdout.split()) == (0, RIGHT), done.stderr
    assert len(told(done)) == 1 and "PMPI_Nothing" in told(done)[0]
