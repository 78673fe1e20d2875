"""Programs that run with rights their caller lacks take no settings from the caller's environment."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

import mpis

MPICH = mpis.WHEELS[0]  # MPICH can run one rank without mpiexec
SOURCE = Path(__file__).with_name("obeys_environment.c")


def another_group():
    return 65534 if os.geteuid() == 0 else next((one for one in os.getgroups() if one != os.getgid()), None)


def answer(program):
    environment = os.environ | {"SHOAL_ALLTOALL": "tunna"}
    return subprocess.run([program], env=environment, capture_output=True, text=True, timeout=180, check=True).stdout


@pytest.mark.skipif(bool(MPICH.missing()), reason=str(MPICH.missing()))
def test_environment_of_a_setgid_program_is_ignored(tmp_path):
    if another_group() is None:
        pytest.skip("this user has no second group")
    flags = [f"-I{mpis.ROOT}/include", f"-L{MPICH.build}", "-lshoal", f"-Wl,-rpath,{MPICH.build}"]
    program = MPICH.compile(SOURCE, tmp_path / "program", *flags)
    assert answer(program) == "refused\n"
    os.chown(program, -1, another_group())
    program.chmod(program.stat().st_mode | stat.S_ISGID)
    assert answer(program) == "ignored\n"
