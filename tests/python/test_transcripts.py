"""docs/transcripts.md: what it shows is typed again, and prints the same except for figures."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mpis
from mpis import ROOT
from shoal.commands.demo import foreign_program

TEXT = (ROOT / "docs/transcripts.md").read_text()
MARK = "@@ typed: "
# Lines that tell of measurements, and of what a busy machine left out; "shown" ends the title of a narrow table.
MEASURED = ("shoal: tried for ", "│ exchange, ", "│ IMB ", "   exchange, ", "shown", "This machine is busy")
# Places in the document, and those that the tests use instead.
PLACES = {
    "/tmp/cluster": "cluster",
    "/tmp/installed": "installed",
    "tools/slurm": str(ROOT / "tools/slurm"),
    "/src/shoal": str(ROOT),
}
WHEEL, DEBIAN = mpis.WHEELS[0], mpis.DEBIAN[1]


def part(title):
    return TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def files(text):
    """(name, text) of the files that the text shows."""
    return re.findall(r"`([\w.]+)`:\n\n```\w+\n(.*?)```", text, re.DOTALL)


def transcript(text):
    """[command, output] of the consoles in the text."""
    typed = []
    for console in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for line in console.splitlines():
            if line.startswith("$ "):
                typed.append([line[2:], []])
            else:
                typed[-1][1].append(line)
    return typed


def shape(lines):
    """The kinds of lines: without figures, algorithms, and the results of a trial or of learning."""
    kinds = []
    for line in lines:
        if line.startswith(MEASURED):
            continue
        line = re.sub(r"^(│ (auto|native)? +│).*│$", r"\1 MEASURED", line)
        line = re.sub(r"\(/[^)]*\)", "(PATH)", line)
        line = re.sub(r"up to the size *$", "up to the size shown", line)
        line = re.sub(r"^shoal: (Worth it|Not worth it|No difference|Noise).*", "shoal: VERDICT", line)
        line = re.sub(r"\d[\d.]*%?(E[+-]\d+)?( ([num]?s|([KMG]i)?B)\b)?", "#", line)
        line = re.sub(r"; (# results compared .*|no result was Shoal's)", "; PROOF", line)
        line = re.sub(r"^(shoal: all\w+( +#){5}) .*", r"\1 ALGORITHM", line)
        line = re.sub(r"less than #|[ ─━]+", lambda found: "#" if "#" in found[0] else " ", line)
        kinds.append(line.strip())
    return sorted(set(kinds))  # ranks print in any order


def type_all(commands, folder, tools):
    """[output] of commands that one shell gets, one after another."""
    for name, command in tools.items():
        (folder / "bin").mkdir(exist_ok=True)
        (folder / "bin" / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (folder / "bin" / name).chmod(0o755)
    lines = [f"echo '{MARK}{number}'\n{command}" for number, command in enumerate(commands)]
    script = "\n".join(lines)
    for shown, here in PLACES.items():
        script = script.replace(shown, here if here.startswith("/") else str(folder / here))
    path = [str(folder / "bin"), str(Path(sys.prefix) / "bin"), os.environ["PATH"], "/usr/sbin"]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SHOAL_", "LD_", "SLURM_"))}
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=clean | mpis.OPEN_MPI | {"PATH": os.pathsep.join(path)},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
    )  # fmt: skip
    return [text.splitlines()[1:] for text in done.stdout.split(MARK)[1:]]


def check(title, folder, tools):
    text = part(title)
    for name, content in files(text):
        (folder / name).write_text(content)
    typed = transcript(text)
    printed = type_all([command for command, _ in typed], folder, tools)
    assert len(typed) > 2
    for (command, shown), seen in zip(typed, printed, strict=True):
        assert shape(seen) == shape(shown), f"{command}\n" + "\n".join(seen)


def test_fortran_and_the_sites_open_mpi(tmp_path):
    mpifort = shutil.which("mpifort.openmpi")
    if DEBIAN.missing() or not mpifort:
        pytest.skip(DEBIAN.missing() or "there is no mpifort.openmpi")
    tools = {"mpifort": mpifort, "mpiexec": DEBIAN.tool("mpiexec")}
    check("A Fortran program and the site's Open MPI", tmp_path, tools)


def mpich():
    if WHEEL.missing():
        pytest.skip(WHEEL.missing())
    found = f"env MPI4PY_LIBMPI={WHEEL.libraries} "  # lets mpi4py find the MPI, as a module of a site does
    return {"mpicxx": WHEEL.tool("mpicxx"), "mpiexec": found + WHEEL.tool("mpiexec")}


def test_python_and_mpi4py(tmp_path):
    pytest.importorskip("mpi4py")
    check("Python and mpi4py", tmp_path, mpich())


def test_cxx_program_and_cmake(tmp_path):
    check("A C++ program and CMake", tmp_path, mpich())


def test_researcher_and_an_algorithm(tmp_path):
    if not (ROOT / "build/core/libshoal_core.a").exists():
        pytest.skip("there is no build/core; make build makes it")
    check("A researcher and an algorithm", tmp_path, {})


@pytest.mark.alone
@pytest.mark.skipif(os.environ.get("SHOAL_EXHAUSTIVE") != "1", reason="takes a minute; SHOAL_EXHAUSTIVE=1 runs it")
def test_reviewer_and_the_figures(tmp_path):
    if not foreign_program():
        pytest.skip("there is no program of Intel's; make build fetches it")
    check("A reviewer and the figures", tmp_path, mpich())


def test_administrator_and_slurm(tmp_path):
    lacking = [tool for tool in ("slurmctld", "slurmd", "munged") if not shutil.which(tool, path="/usr/sbin:/usr/bin")]
    if lacking or os.geteuid() != 0 or WHEEL.missing():
        pytest.skip(WHEEL.missing() or f"needs root, and {', '.join(lacking) or 'nothing else'} (slurm-wlm, munge)")
    try:
        check("An administrator and Slurm", tmp_path, {"mpicc": WHEEL.tool("mpicc"), "mpiexec": WHEEL.tool("mpiexec")})
    finally:
        if (tmp_path / "cluster").exists():
            subprocess.run([ROOT / "tools/slurm", "down", tmp_path / "cluster"], check=True)
