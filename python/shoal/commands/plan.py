"""shoal plan: the schedule of an algorithm, for one rank or for all."""

import json
import time
from typing import Annotated

import typer
from rich.table import Table

import shoal
from shoal.commands.given import refuse_twice, refuse_unused
from shoal.console import out
from shoal.errors import UserError, unknown
from shoal.graphs import HELP as GRAPH
from shoal.graphs import MISSING, read_graph
from shoal.networks import HELP, read_network

LAYOUT = 'Ranks per node (4,4,3), cyclic:3x4, ranks by node (0,3/1,2), or levels ("group:2 node:4 socket:2 core:8").'
MOST = 2**30  # the core counts ranks with an int, also those of two groups together
MOST_RANKS = 4096  # so many schedules are printed together at most
MOST_BLOCKS = 20_000  # of one rank; a table has no more

Senders = Annotated[int, typer.Option(help="For an allgather between two groups: number of ranks that send.", max=MOST)]
Receivers = Annotated[
    int, typer.Option(help="For an allgather between two groups: number of ranks that receive.", max=MOST)
]


def plan(
    context: typer.Context,
    spec: Annotated[str, typer.Argument(help="Algorithm and parameters, as in tuna:radix=3; see shoal list.")],
    ranks: Annotated[int, typer.Option("--ranks", "-n", help="Number of ranks; or give --layout.", max=MOST)] = 0,
    rank: Annotated[int | None, typer.Option(help="Show the operations of this rank.", max=MOST)] = None,
    layout: Annotated[str, typer.Option(help=LAYOUT)] = "",
    senders: Senders = 0,
    receivers: Receivers = 0,
    graph: Annotated[str, typer.Option(help=GRAPH)] = "",
    topology: Annotated[str, typer.Option(help=f"The tree of switches, for tree: {HELP}")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    emit: Annotated[
        str, typer.Option(help="Print a file instead: c (an MPI_Alltoall in C), goal (for LogGOPSim) or json.")
    ] = "",
    block: Annotated[int, typer.Option(min=0, max=1 << 40, help="Bytes of a block, for --emit goal.")] = 1024,
) -> None:
    """Print what each rank sends, receives and copies.

    Example: [bold]shoal plan tuna:radix=3 --ranks 8 --rank 2[/bold]
    """
    refuse_twice(context, "emit", ["as_json"])
    if emit != "goal":
        refuse_unused(context, ["block"], "without --emit goal")
    network = read_network(topology) if topology else None
    problem = make_problem(ranks, layout, senders, receivers, network, graph)
    if not graph and spec.partition(":")[0] in among_neighbors():
        raise UserError(f"{spec} {MISSING}")
    selection = shoal.parse(spec, problem.collective)
    if emit == "c" and problem.collective != "alltoall":
        raise UserError("--emit c writes an MPI_Alltoall; leave out --senders, --receivers and --graph")
    began = time.perf_counter()
    programs = make_programs(selection, problem, rank)
    seconds = time.perf_counter() - began
    if emit not in ("", "json"):
        title = f"{selection} on {problem.ranks} ranks, written by shoal plan."
        print(emitted(emit, programs, title, block, network.hosts if network else []), end="")
    elif as_json or emit:
        entries = [program.to_dict() for program in programs]
        print(json.dumps({"algorithm": str(selection), "ranks": problem.ranks, "programs": entries}))
    else:
        whose = f", rank {rank}" if rank is not None else ""
        out.print(f"[bold]{selection}[/bold] on {problem.ranks} ranks{whose}")
        print_programs(programs, problem.senders, seconds)


def make_problem(
    ranks: int, layout: str, senders: int, receivers: int, network: shoal.Network | None = None, graph: str = ""
) -> shoal.Problem:
    if network:
        if any([ranks, layout, senders, receivers, graph]):
            raise UserError("the topology says for how many ranks; leave out --ranks and other options that say it")
        return network.problem()
    if senders or receivers:
        if ranks not in (0, senders + receivers) or senders < 1 or receivers < 1:
            raise UserError("give --senders and --receivers, both at least 1, instead of --ranks")
        if graph:
            raise UserError("--graph is for exchanges among neighbours; leave out --senders and --receivers")
        if layout:
            raise UserError("--layout means nothing with --senders: between two groups no schedule looks at nodes")
        return shoal.Problem(senders + receivers, senders=senders)
    if graph:
        return shoal.Problem(ranks, layout=layout, neighbors=read_graph(graph))
    if not ranks and not layout:
        raise UserError("say for how many ranks, as in --ranks 8, or where they are, as in --layout 4,4,3")
    return shoal.Problem(ranks, layout=layout)


def among_neighbors() -> set[str]:
    return {one.name for one in shoal.algorithms() if one.collective == "neighbor_alltoall" and one.has_schedule}


def make_programs(selection: shoal.Selection, problem: shoal.Problem, rank: int | None) -> list[shoal.Schedule]:
    if rank is not None:
        return [shoal.generate(selection, problem, rank)]
    if problem.ranks > MOST_RANKS:
        raise UserError(f"the schedules of {problem.ranks} ranks are too long to print; choose one with --rank")
    return shoal.generate_all(selection, problem)


def emitted(form: str, programs: list[shoal.Schedule], title: str, block: int, hosts: list[str]) -> str:
    if form not in ("c", "goal"):
        raise unknown(f"--emit {form}", ("c", "goal", "json"))
    if len(programs) != programs[0].ranks:
        raise UserError(f"--emit {form} needs the programs of all ranks; leave out --rank")
    return shoal.emit_c(programs, title, hosts) if form == "c" else shoal.emit_goal(programs, block)


def print_programs(programs: list[shoal.Schedule], senders: int, seconds: float) -> None:
    """Prints the programs of all ranks or of one. Making them took `seconds`."""
    everyone = len(programs) == programs[0].ranks
    if senders and everyone:
        print_steps(programs, senders)
        return
    if everyone:
        out.print(summary_table(programs))
    elif programs[0].sent.blocks <= MOST_BLOCKS:
        out.print(step_table(programs[0]))
    else:
        program, running = (bytes_ / 1e6 for bytes_ in programs[0].memory)
        out.print(f"More than {MOST_BLOCKS} blocks, made in {seconds:.2f} s; too long for a table, --json prints them")
        out.print(f"Memory: {program:.3g} MB of program, and {running:.3g} MB beside the blocks while it runs")
    print_totals(programs)


def print_steps(programs: list[shoal.Schedule], senders: int) -> None:
    """One line for each step: 0->7:m3 means that rank 0 sends rank 7 the message of rank 3."""
    steps = shoal.follow_steps(programs, senders=senders)
    print(str(steps), end="")
    out.print(f"{steps.count} steps, volume {steps.volume:g}, traffic {steps.traffic:g} messages")


def blocks(operation: shoal.Operation) -> str:
    return " ".join(f"{slot}*" if slot.passing else str(slot) for slot in operation.slots) or "(token)"


def describe(operation: shoal.Operation) -> str:
    if operation.kind == "copy":
        return "{} to {}".format(*operation.slots)
    return f"{operation.peer}: {blocks(operation)}"


def step_table(program: shoal.Schedule) -> Table:
    """One row for each step: what goes where, and what comes from where."""
    headings = {"copy": "copies", "send": "sends to", "recv": "receives from"}
    steps: dict[int, dict[str, list[str]]] = {}
    for operation in program.operations:
        if operation.kind == "copy" and not operation.slots:
            continue  # a copy without slots only orders what comes after it
        cells = steps.setdefault(operation.step, {kind: [] for kind in headings})
        cells[operation.kind].append(describe(operation))
    table = Table("step", *headings.values(), show_lines=True)
    for step, cells in sorted(steps.items()):
        table.add_row(str(step), *("\n".join(cells[kind]) for kind in headings))
    return table


def summary_table(programs: list[shoal.Schedule]) -> Table:
    """One row for each rank: to whom it sends how many blocks, in order, and its totals."""
    table = Table("rank", "sends to (blocks)", "K", "D", "sizes ahead", "temp", "peak")
    for program in programs:
        sends = [operation for operation in program.operations if operation.kind == "send"]
        sent = program.sent
        sizes = f"{sent.metadata_sizes} in {sent.metadata_messages}" if sent.metadata_sizes else "none"
        table.add_row(
            str(program.rank),
            "  ".join(f"{operation.peer} ({blocks_in_short(operation)})" for operation in sends),
            *(str(number) for number in (sent.messages, sent.blocks, sizes, program.temp_slots, program.temp_peak)),
        )
    table.columns[1].overflow, table.columns[1].no_wrap = "ellipsis", True
    return table


def blocks_in_short(operation: shoal.Operation) -> str:
    passing = sum(slot.passing for slot in operation.slots)
    return f"{len(operation.slots)}, {passing}*" if passing else str(len(operation.slots))


def print_totals(programs: list[shoal.Schedule]) -> None:
    def most(figure: str) -> int:
        return max(int(getattr(program.sent, figure)) for program in programs)

    which = "Most of any rank: " if len(programs) > 1 else ""
    out.print(f"{which}K = {most('messages')} messages, D = {most('blocks')} blocks")
    out.print(
        f"Scratch: {max(program.temp_peak for program in programs)} temp slots in use at once, "
        f"{max(program.temp_slots for program in programs)} used in turn"
    )
    if sizes := most("metadata_sizes"):
        out.print(f"Sizes sent when blocks differ: {sizes} in {most('metadata_messages')} messages")
    if tokens := most("tokens"):
        out.print(f"Tokens, messages without blocks that only keep the order: {tokens}")
    if any(slot.passing for program in programs for operation in program.operations for slot in operation.slots):
        out.print("* passes through: the receiver sends it on")
