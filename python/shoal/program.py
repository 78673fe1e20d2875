"""Which MPI library a program loads."""

import mmap
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from shoal.errors import UserError
from shoal.mpi import Mpi, soname

# Prints that there is an mpi4py, and the MPI libraries that are loaded when its module MPI is.
PROBE = """
import re, sys, mpi4py
mpi4py.rc.initialize = False
print("mpi4py", flush=True)
from mpi4py import MPI
lines = open("/proc/self/maps", "rb").read().splitlines()
paths = {line.split(None, 5)[5] for line in lines if re.search(b"/libmpi(ch|_abi)?[.]so[.]", line)}
sys.stdout.buffer.write(b"\\n".join(sorted(paths)))
"""


class Needs(NamedTuple):
    """What is known of a program: the name of its MPI library, and the library's file if the loader finds it."""

    soname: str | None = None
    library: Path | None = None
    interpreter: str | None = None  # of a Python program
    has_own: bool = False  # the program is linked to its MPI statically


def find_program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise UserError(why_not_found(name))
    return path


def why_not_found(name: str) -> str:
    if not Path(name).is_file():
        return f"{name}: no such program; give its path, or put -- before it"
    if os.access(name, os.X_OK):
        return f"{name}: not on PATH; it is ./{name}"
    return f"{name} cannot be executed; compile a source file, and put python3 before a Python script"


def needs_of(program: str) -> Needs:
    """What this program needs; empty if that cannot be told (a shell script, or a program that loads MPI later)."""
    interpreter = python_of(program)
    if interpreter:
        libraries = probe(interpreter, {})
        return Needs(soname(libraries[0]), libraries[0], interpreter) if libraries else Needs(interpreter=interpreter)
    listed = os.fsdecode(subprocess.run(["ldd", program], capture_output=True, check=False).stdout)
    match = re.search(r"^\s*(libmpi(?:ch|_abi)?\.so\.\d+) => (?:(/.*) \(0x)?", listed, re.MULTILINE)
    if not match:
        return Needs(has_own=holds_mpi(program))
    return Needs(match.group(1), Path(match.group(2)) if match.group(2) else None)


def holds_mpi(program: str) -> bool:
    """Whether a compiled program holds an MPI's functions, by their names for tools, which programs do not call. Cannot
    be told if its symbols were stripped."""
    with Path(program).open("rb") as file:
        if file.read(4) != b"\x7fELF":
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            return whole.find(b"\0PMPI_Alltoall\0") >= 0


def python_of(program: str) -> str | None:
    """The Python that runs this program: the program itself, or what the first line of a script names; else None."""
    if re.fullmatch(r"python[\d.]*", Path(program).name):
        return program
    with Path(program).open("rb") as file:
        first = file.readline(512).decode(errors="replace").split()
    if not first or not first[0].startswith("#!"):
        return None
    named = [word.removeprefix("#!") for word in first]
    name = next((word for word in named if re.fullmatch(r"python[\d.]*", Path(word).name)), None)
    return shutil.which(name) if name else None


def probe(interpreter: str, variables: dict[str, str]) -> list[Path] | None:
    """The MPI libraries that this Python's mpi4py loads, none if it finds no MPI; None if there is no mpi4py."""
    answer = subprocess.run([interpreter, "-c", PROBE], capture_output=True, env=os.environ | variables, check=False)
    has_mpi4py, *libraries = os.fsdecode(answer.stdout).splitlines() or [""]
    return [Path(line) for line in libraries] if has_mpi4py else None


def choose(needs: Needs, available: Iterable[Mpi]) -> Mpi | None:
    """The MPI that the program was built for: the one whose library it loads, or else the first that has a library of
    that name. No more of `available` is looked at than necessary."""
    alike = None
    for mpi in available:
        if needs.library and mpi.library.resolve() == needs.library.resolve():
            return mpi
        if alike is None and mpi.soname == needs.soname:
            alike = mpi
            if not needs.library:
                break
    return alike


def library_path(needs: Needs, mpi: Mpi) -> dict[str, str]:
    """The variables that make a program find this MPI's library, if it would find another one or none."""
    if not needs.interpreter and needs.library and needs.library.resolve() == mpi.library.resolve():
        return {}
    before = os.environ.get("LD_LIBRARY_PATH")
    found = {"LD_LIBRARY_PATH": str(mpi.library.parent) + (f":{before}" if before else "")}
    return found | ({"MPI4PY_LIBMPI": str(mpi.library)} if needs.interpreter else {})
