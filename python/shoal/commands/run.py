"""shoal run: a program with its all-to-all exchanges through Shoal."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import shoal
from shoal.errors import UserError, fail
from shoal.mpi import KINDS, Mpi, find, identify, launch_command, launch_environment, soname
from shoal.program import Needs, choose, find_program, library_path, needs_of, probe

DESCRIPTION = """\
Run an MPI program, in C, C++, Fortran or Python, with MPI_Alltoall(v) and MPI_Allgather(v) through Shoal.

Example: shoal run -n 8 --alltoallv tuna:radix=4 -- ./program argument

Returns what the program returns. Without this command: LD_PRELOAD the library that shoal doctor names."""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        fail(f"{message}; see {self.prog} --help")


def parser() -> Parser:
    options = Parser(
        "shoal run", description=DESCRIPTION, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = options.add_argument
    add("-n", "--ranks", type=int, required=True, help="number of ranks")
    add("--mpi", default="", help="mpich, openmpi, impi or the path of an mpiexec; else the program's")
    add("--alltoall", default="", metavar="SPEC", help="algorithm for MPI_Alltoall, as in tuna:radix=8")
    add("--alltoallv", default="", metavar="SPEC", help="algorithm for MPI_Alltoallv")
    add("--allgather", default="", metavar="SPEC", help="algorithm for MPI_Allgather(v) between two groups, as in ring")
    add("--report", action="store_true", help="print at the end what was exchanged, and how")
    add("program", nargs=argparse.REMAINDER, help="the program and its arguments, after --")
    return options


def run(words: Sequence[str]) -> NoReturn:
    """Run an MPI program with its exchanges through Shoal."""
    options = parser()
    asked = options.parse_args(words)
    program = asked.program[1:] if asked.program[:1] == ["--"] else asked.program
    if not program:
        options.error("which program?")
    if asked.ranks < 1:
        options.error(f"--ranks {asked.ranks}: at least 1")
    settings = algorithms(asked.alltoall, asked.alltoallv, asked.allgather) | reporting(asked.report)
    path = find_program(program[0])
    needs = needs_of(path)
    chosen = choose_mpi(asked.mpi, needs, program[0])
    variables = library_path(needs, chosen) | settings | {"LD_PRELOAD": preload_of(chosen)}
    command = launch_command(chosen, asked.ranks, [path, *program[1:]], variables)
    sys.stdout.flush()
    os.execve(command[0], command, launch_environment() | variables)  # what Open MPI 5 gives to spawned processes


def algorithms(alltoall: str, alltoallv: str, allgather: str) -> dict[str, str]:
    """The variables that ask for these specs, when they mean something."""
    if alltoallv not in ("", "auto") and shoal.parse(alltoallv).algorithm.uniform_only:
        raise UserError(f"--alltoallv {alltoallv}: needs equal blocks; give it to --alltoall, or use tuna")
    for spec, collective in ((alltoall, "alltoall"), (allgather, "allgather")):
        if spec not in ("", "auto"):
            shoal.parse(spec, collective)
    asked = {"ALLTOALL": alltoall, "ALLTOALLV": alltoallv, "ALLGATHER": allgather, "ALLGATHERV": allgather}
    return {f"SHOAL_{name}": spec for name, spec in asked.items() if spec}


def reporting(wanted: bool) -> dict[str, str]:
    """SHOAL_REPORT may be set to what prints more."""
    return {"SHOAL_REPORT": os.environ.get("SHOAL_REPORT", "1")} if wanted else {}


def choose_mpi(wanted: str, needs: Needs, program: str) -> Mpi:
    if wanted:
        return find_wanted(wanted, needs, program)
    if needs.soname:
        fitting = choose(needs, find(needs.library))
        if fitting is None:
            raise UserError(f"{program} needs {needs.soname} but no mpiexec for it was found; give it with --mpi PATH")
        return fitting
    chosen = next(find(), None)
    if chosen is None:
        raise UserError("no MPI was found; shoal doctor says how to get one")
    if needs.interpreter is None:
        print(f"shoal: cannot tell which MPI {program} uses; taking {chosen}, else say --mpi", file=sys.stderr)
    return chosen


def find_wanted(wanted: str, needs: Needs, program: str) -> Mpi:
    """Of several of one kind the first that fits the program, with a preload if possible."""
    candidates, fitting = [], []
    for mpi in named(wanted):
        candidates.append(mpi)
        if fits(mpi, needs):
            if mpi.preload.is_file():
                return mpi
            fitting.append(mpi)
    if not candidates:
        raise UserError(f"--mpi {wanted}: not found; shoal doctor lists what there is and how to get others")
    if not fitting:
        raise UserError(f"{program} needs {needs.soname}, not {candidates[0]}; leave out --mpi to take its own")
    return fitting[0]


def named(wanted: str) -> Iterator[Mpi]:
    if wanted in KINDS:
        yield from (mpi for mpi in find() if mpi.kind == wanted)
        return
    given = identify(Path(wanted)) if Path(wanted).is_file() else []
    if not given:
        raise UserError(f"--mpi {wanted}: neither {', '.join(KINDS)} nor the path of such an MPI's mpiexec")
    yield from given


def fits(mpi: Mpi, needs: Needs) -> bool:
    if needs.interpreter:  # mpi4py from a wheel takes any MPI, one that was compiled only its own
        loaded = probe(needs.interpreter, library_path(needs, mpi))
        return all(soname(library) == mpi.soname for library in loaded)
    return needs.soname in (None, mpi.soname)


def preload_of(mpi: Mpi) -> str:
    if not mpi.preload.is_file():
        raise UserError(f"no preload for {mpi} at {mpi.preload}; shoal doctor says how to get it")
    before = os.environ.get("LD_PRELOAD")
    return str(mpi.preload) + (f":{before}" if before else "")
