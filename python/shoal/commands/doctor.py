"""shoal doctor: what this machine has, what it lacks, and how to get it."""

import json
import os
import sys
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.table import Table

import shoal
from shoal import mpi
from shoal.console import out


@dataclass(frozen=True)
class Lack:
    what: str
    command: str


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Say which MPIs are here, whether Shoal serves them, and what is missing; exit status 1 if nothing can run.

    Example: [bold]shoal doctor[/bold]
    """
    found = mpi.find_all()
    lacks = list_lacks(found)
    if as_json:
        print(json.dumps(as_dict(found, lacks), indent=2))
    else:
        print_report(found, lacks)
    raise typer.Exit(0 if any(map(is_ready, found)) else 1)


def is_ready(one: mpi.Mpi) -> bool:
    return one.preload.is_file() and mpi.can_be_preloaded(one.preload)


def list_lacks(found: list[mpi.Mpi]) -> list[Lack]:
    lacks = [
        Lack(f"preload for {one.kind} {one.version} (ABI {one.abi})", build_command(one))
        for one in {one.abi: one for one in reversed(found) if not one.preload.is_file()}.values()
    ]
    if any(one.preload.is_file() and not is_ready(one) for one in found):
        what = "a path of the preloads without a space or colon, which LD_PRELOAD cannot hold"
        lacks.append(Lack(what, f"install Shoal in another folder than {sys.prefix}"))
    if not found:
        lacks.append(Lack("an MPI", "make build (in Shoal's sources), or apt-get install mpich, or pip install mpich"))
    return lacks


def build_command(one: mpi.Mpi) -> str:
    """The command that builds and installs the preload, in Shoal's sources."""
    wrapper = "mpicc_abi" if one.abi == "standard" else "mpicc"
    compiler = one.mpiexec.with_name(one.mpiexec.name.replace("mpiexec", wrapper).replace("mpirun", wrapper))
    prefix = one.preload.parents[3]
    configure = f"cmake -S . -B build/{one.abi} -DSHOAL_MPI=ON -DMPI_C_COMPILER={compiler}"
    install = f"cmake --install build/{one.abi} --prefix {prefix} --component preload"
    return f"{configure} && cmake --build build/{one.abi} && {install}"


def as_dict(found: list[mpi.Mpi], lacks: list[Lack]) -> dict[str, Any]:
    return {
        "mpis": [
            {
                "kind": one.kind,
                "version": one.version,
                "mpiexec": str(one.mpiexec),
                "library": str(one.library),
                "soname": one.soname,
                "abi": one.abi,
                "preload": str(one.preload) if one.preload.is_file() else None,
            }
            for one in found
        ],
        "cores": {
            "usable": mpi.usable_cores(),
            "affinity": len(os.sched_getaffinity(0)),
            "quota": shoal.quota_cores(),
        },
        "missing": [{"what": lack.what, "command": lack.command} for lack in lacks],
    }


def print_report(found: list[mpi.Mpi], lacks: list[Lack]) -> None:
    table = Table("MPI", "mpiexec", "ABI", "library", "preload")
    for one in found:
        ready = "[green]ready[/green]" if is_ready(one) else "[red]missing[/red]"
        table.add_row(f"{one.kind} {one.version}", str(one.mpiexec), one.abi, one.soname, ready)
    out.print(table if found else "No MPI was found.")
    preloads = sorted({one.preload for one in found if is_ready(one)})
    if preloads:
        out.print("Preloads to set by hand; the folder is named after the ABI of your program's MPI:")
    for preload in preloads:
        out.print(f"LD_PRELOAD={preload}", soft_wrap=True)
    quota = shoal.quota_cores()
    limits = f"{len(os.sched_getaffinity(0))} by affinity, quota {'none' if quota is None else quota}"
    out.print(f"{mpi.usable_cores()} cores usable ({limits})")
    for lack in lacks:
        out.print(f"Missing: {lack.what}. Get it: {lack.command}", soft_wrap=True, markup=False)
