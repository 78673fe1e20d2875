"""shoal run: a program with its all-to-all exchanges through Shoal."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

import shoal
from shoal.errors import UserError
from shoal.mpi import KINDS, Mpi, find_all, identify, launch_command, launch_environment, soname
from shoal.program import Needs, choose, find_program, library_path, needs_of, probe


def run(
    program: Annotated[list[str], typer.Argument(help="The program and its arguments, after --.", show_default=False)],
    ranks: Annotated[int, typer.Option("-n", "--ranks", help="Number of ranks.", min=1)],
    mpi: Annotated[str, typer.Option(help="mpich, openmpi, impi or the path of an mpiexec; else the program's.")] = "",
    alltoall: Annotated[str, typer.Option(help="Algorithm for MPI_Alltoall, as in tuna:radix=8.")] = "",
    alltoallv: Annotated[str, typer.Option(help="Algorithm for MPI_Alltoallv.")] = "",
    allgather: Annotated[str, typer.Option(help="Algorithm for MPI_Allgather(v) between two groups, as in ring.")] = "",
    report: Annotated[bool, typer.Option("--report", help="Print at the end what was exchanged, and how.")] = False,
) -> None:
    """Run an MPI program, in C, C++, Fortran or Python, with MPI_Alltoall(v) and MPI_Allgather(v) through Shoal.

    Example: [bold]shoal run -n 8 --alltoallv tuna:radix=4 --report -- ./program argument[/bold]

    Returns what the program returns. Without this command: LD_PRELOAD the library that shoal doctor names.
    """
    settings = algorithms(alltoall, alltoallv, allgather) | reporting(report)
    path = find_program(program[0])
    needs = needs_of(path)
    chosen = choose_mpi(mpi, needs, program[0])
    variables = library_path(needs, chosen) | settings | {"LD_PRELOAD": preload_of(chosen)}
    command = launch_command(chosen, ranks, [path, *program[1:]], variables)
    sys.stdout.flush()
    os.execve(command[0], command, launch_environment())


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
    available = find_all()
    if wanted:
        return find_wanted(wanted, available, needs, program)
    if needs.soname:
        fitting = choose(needs, available)
        if fitting is None:
            raise UserError(f"{program} needs {needs.soname} but no mpiexec for it was found; give it with --mpi PATH")
        return fitting
    if not available:
        raise UserError("no MPI was found; shoal doctor says how to get one")
    if needs.interpreter is None:
        print(f"shoal: cannot tell which MPI {program} uses; taking {available[0]}, else say --mpi", file=sys.stderr)
    return available[0]


def find_wanted(wanted: str, available: list[Mpi], needs: Needs, program: str) -> Mpi:
    """Of several of one kind the first that fits the program, with a preload if possible."""
    if wanted in KINDS:
        candidates = [mpi for mpi in available if mpi.kind == wanted]
    else:
        candidates = identify(Path(wanted)) if Path(wanted).is_file() else []
        if not candidates:
            raise UserError(f"--mpi {wanted}: neither {', '.join(KINDS)} nor the path of such an MPI's mpiexec")
    if not candidates:
        raise UserError(f"--mpi {wanted}: not found; shoal doctor lists what there is and how to get others")
    fitting = [mpi for mpi in candidates if fits(mpi, needs)]
    if not fitting:
        raise UserError(f"{program} needs {needs.soname}, not {candidates[0]}; leave out --mpi to take its own")
    return next((mpi for mpi in fitting if mpi.preload.is_file()), fitting[0])


def fits(mpi: Mpi, needs: Needs) -> bool:
    if needs.interpreter:  # mpi4py from a wheel takes any MPI, one that was compiled only its own
        loaded = probe(needs.interpreter, library_path(needs, mpi) | {"LD_PRELOAD": str(mpi.library)})
        return all(soname(library) == mpi.soname for library in loaded)
    return needs.soname in (None, mpi.soname)


def preload_of(mpi: Mpi) -> str:
    if not mpi.preload.is_file():
        raise UserError(f"no preload for {mpi} at {mpi.preload}; shoal doctor says how to get it")
    before = os.environ.get("LD_PRELOAD")
    return str(mpi.preload) + (f":{before}" if before else "")
