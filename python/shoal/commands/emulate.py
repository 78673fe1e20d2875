"""shoal emulate: an MPI program on a switched cluster that exists on this machine only."""

import functools
import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.commands.run import algorithm_settings, algorithms, choose_mpi, option_of, preload_of, reporting
from shoal.emulation import Emulation, Traffic, scheduling_note
from shoal.errors import UserError
from shoal.mpi import launch_environment
from shoal.networks import HELP, read_network
from shoal.program import find_program, library_path, needs_of


def with_algorithms(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for each setting of an algorithm. The command gets its value by the setting's name."""
    signature = inspect.signature(command)
    named = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    named += [
        inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default="",
            annotation=Annotated[
                str, typer.Option(option_of(one), help=f"{one.help[0].upper()}{one.help[1:]}; implies --preload.")
            ],
        )
        for one in algorithm_settings()
    ]

    @functools.wraps(command)
    def with_specs(**options: Any) -> None:
        command(**options)

    with_specs.__signature__ = signature.replace(parameters=named)  # type: ignore[attr-defined]
    with_specs.__annotations__ = {one.name: one.annotation for one in named}
    return with_specs


@with_algorithms
def emulate(
    network: Annotated[str, typer.Argument(help=HELP, show_default=False)],
    program: Annotated[list[str], typer.Argument(help="The program and its arguments, after --.", show_default=False)],
    ranks: Annotated[
        int, typer.Option("-n", "--ranks", help="Number of ranks; default (0): one on each machine.", min=0)
    ] = 0,
    rate: Annotated[str, typer.Option(help="Speed of the slowest link, as in 100M; others in proportion.")] = "",
    mpi: Annotated[
        str, typer.Option(help="mpich, openmpi or the path of an mpiexec; default: what the program was built for.")
    ] = "",
    preload: Annotated[bool, typer.Option("--preload", help="Serve the program's exchanges with Shoal.")] = False,
    report: Annotated[
        bool, typer.Option("--report", help="Print at the end what Shoal served and what the links carried.")
    ] = False,
    traffic: Annotated[Path | None, typer.Option(help="Write what every port sent and dropped, as JSON.")] = None,
    **specs: str,
) -> None:
    """Run an MPI program on an emulated cluster: network namespaces as hosts, bridges as switches, limited links.

    Example: [bold]shoal emulate line:4x8 --rate 20M --alltoall tree --report -- ./program[/bold]

    This needs root, or a kernel that lets users make namespaces. It touches nothing outside the emulation and leaves
    nothing behind. The exit status is the program's.
    """
    path = find_program(program[0])
    emulation = Emulation(read_network(network, rate))
    needs = needs_of(path)
    chosen = choose_mpi(mpi, needs, program[0])
    settings = algorithms(specs)
    variables = library_path(needs, chosen) | settings
    if preload or settings:
        variables |= {"LD_PRELOAD": preload_of(chosen)} | reporting(report)
    with emulation as cluster:
        command = cluster.launch_command(chosen, ranks or len(cluster.hosts), [path, *program[1:]], variables)
        sys.stdout.flush()
        status = subprocess.run(command, env=launch_environment(), check=False).returncode
        carried = cluster.traffic() if report or traffic else []
    if report:
        for line in filter(None, [summary(carried), scheduling_note()]):
            print(f"shoal: {line}", file=sys.stderr)
    if traffic:
        write_traffic(traffic, carried)
    raise typer.Exit(status if status >= 0 else 128 - status)


def summary(carried: list[Traffic]) -> str:
    busiest = max(carried, key=lambda port: port.bytes)
    drops = sum(port.drops for port in carried)
    return (
        f"links: most was sent from {busiest.node} to {busiest.to}, {busiest.bytes} bytes; all ports dropped "
        f"{drops} of {sum(port.packets for port in carried)} packets"
    )


def write_traffic(path: Path, carried: list[Traffic]) -> None:
    try:
        path.write_text("".join(json.dumps(asdict(port)) + "\n" for port in carried))
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from error
