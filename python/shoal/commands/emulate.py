"""shoal emulate: an MPI program on a switched cluster that exists on this machine only."""

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from shoal.commands.run import check_spec, choose_mpi, preload_of
from shoal.emulation import Emulation, Traffic
from shoal.errors import UserError
from shoal.mpi import launch_environment
from shoal.networks import HELP, read_network
from shoal.program import find_program, library_path, needs_of


def emulate(
    network: Annotated[str, typer.Argument(help=HELP, show_default=False)],
    program: Annotated[list[str], typer.Argument(help="The program and its arguments, after --.", show_default=False)],
    ranks: Annotated[int, typer.Option("-n", "--ranks", help="Number of ranks; else one a machine.", min=0)] = 0,
    rate: Annotated[str, typer.Option(help="Speed of the slowest link, as in 100M; others in proportion.")] = "",
    mpi: Annotated[str, typer.Option(help="mpich, openmpi or the path of an mpiexec; else the program's.")] = "",
    preload: Annotated[bool, typer.Option("--preload", help="Serve the program's exchanges with Shoal.")] = False,
    alltoall: Annotated[str, typer.Option(help="Algorithm for MPI_Alltoall, as in tree; implies --preload.")] = "",
    alltoallv: Annotated[str, typer.Option(help="Algorithm for MPI_Alltoallv; implies --preload.")] = "",
    report: Annotated[
        bool, typer.Option("--report", help="Print at the end what was exchanged and what the links carried.")
    ] = False,
    traffic: Annotated[Path | None, typer.Option(help="Write what every port sent and dropped, as JSON.")] = None,
) -> None:
    """Run an MPI program on an emulated cluster: network namespaces as hosts, bridges as switches, limited links.

    Example: [bold]shoal emulate line:4x8 --rate 20M --alltoall tree --report -- ./program[/bold]

    Needs root, or a kernel that lets users make namespaces; nothing outside the emulation is touched, and nothing of
    it stays. Returns what the program returns.
    """
    path = find_program(program[0])
    emulation = Emulation(read_network(network, rate))
    needs = needs_of(path)
    chosen = choose_mpi(mpi, needs, program[0])
    settings = {"SHOAL_ALLTOALL": check_spec(alltoall), "SHOAL_ALLTOALLV": check_spec(alltoallv, any_sizes=True)}
    variables = library_path(needs, chosen) | {name: value for name, value in settings.items() if value}
    if preload or alltoall or alltoallv:
        variables |= {"LD_PRELOAD": preload_of(chosen)} | ({"SHOAL_REPORT": "1"} if report else {})
    with emulation as cluster:
        command = cluster.launch_command(chosen, ranks or len(cluster.hosts), [path, *program[1:]], variables)
        sys.stdout.flush()
        status = subprocess.run(command, env=launch_environment(), check=False).returncode
        carried = cluster.traffic() if report or traffic else []
    if report:
        print(summary(carried), file=sys.stderr)
    if traffic:
        write_traffic(traffic, carried)
    raise typer.Exit(status if status >= 0 else 128 - status)


def summary(carried: list[Traffic]) -> str:
    busiest = max(carried, key=lambda port: port.bytes)
    drops = sum(port.drops for port in carried)
    return (
        f"shoal: links: most was sent from {busiest.node} to {busiest.to}, {busiest.bytes} bytes; all ports dropped "
        f"{drops} of {sum(port.packets for port in carried)} packets"
    )


def write_traffic(path: Path, carried: list[Traffic]) -> None:
    try:
        path.write_text("".join(json.dumps(asdict(port)) + "\n" for port in carried))
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from error
