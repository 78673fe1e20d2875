"""shoal topology: what a tree of switches can do, its contention-free phases, and a C routine for it."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.tree import Tree as Drawing

import shoal
from shoal.console import out
from shoal.errors import UserError
from shoal.networks import HELP, read_network

app = typer.Typer(help="Plan contention-free all-to-alls on a tree of switches.", no_args_is_help=True)

File = Annotated[str, typer.Argument(help=HELP, metavar="NETWORK")]
Root = Annotated[str, typer.Option(help="Root of the schedule, instead of the canonical one.")]
Hosts = Annotated[str, typer.Option(help="Machines of ranks 0, 1, ..., as in n[0-7],n0; default: all, by name.")]
RanksPerMachine = Annotated[int, typer.Option(min=1, help="Consecutive ranks on each machine.")]
Window = Annotated[int, typer.Option(min=1, max=1024, help="Messages that may share a link.")]
Sync = Annotated[str, typer.Option(help="How messages are kept apart: auto, exact, chain2 or none.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]

BLOCKS = (8, 64, 256)  # KiB, whose times are shown
MOST_COLUMNS = 4  # in the table of phases, groups have columns of their own if there are no more groups than this


@app.command()
def show(file: File, root: Root = "", hosts: Hosts = "", ranks_per_machine: RanksPerMachine = 1) -> None:
    """Draw the tree with its root, the load of every link and the bound.

    Example: [bold]shoal topology show topology.conf[/bold]
    """
    network = load(file, root, hosts, ranks_per_machine)
    tree = shoal.Tree(network)
    out.print(drawing(network, tree))
    out.print(summary(network, tree), end="", soft_wrap=True)


@app.command()
def schedule(
    file: File,
    root: Root = "",
    hosts: Hosts = "",
    ranks_per_machine: RanksPerMachine = 1,
    window: Window = 1,
    sync: Sync = "auto",
    as_json: Json = False,
) -> None:
    """Print which message is sent in which phase, and which synchronisations keep phases apart.

    Example: [bold]shoal topology schedule topology.conf --root s1[/bold]
    """
    network = load(file, root, hosts, ranks_per_machine)
    tree = shoal.Tree(network)
    plan = shoal.plan_exchange(tree, window=window, sync=sync)
    if as_json:
        print(json.dumps(as_dict(network, tree, plan)))
        return
    out.print(phase_table(network, tree, plan))
    out.print(counts(tree, plan), end="", soft_wrap=True)


@app.command()
def generate(
    file: File,
    output: Annotated[Path, typer.Option("--output", "-o", help="The C file to write.")],
    root: Root = "",
    hosts: Hosts = "",
    ranks_per_machine: RanksPerMachine = 1,
    window: Window = 1,
    sync: Sync = "auto",
) -> None:
    """Write a C file with an MPI_Alltoall for this cluster; it needs nothing of Shoal.

    Example: [bold]shoal topology generate topology.conf -o alltoall.c[/bold]
    """
    network = load(file, root, hosts, ranks_per_machine)
    tree = shoal.Tree(network)
    plan = shoal.plan_exchange(tree, window=window, sync=sync)
    programs = shoal.generate_all(shoal.parse(f"tree:window={window},sync={sync}"), network.problem())
    about = summary(network, tree) + counts(tree, plan)
    title = f"All-to-all for the cluster in {Path(file).name}, window {window}, written by shoal topology generate."
    write(output, shoal.emit_c(programs, f"{title}\n\n{about}", network.hosts))
    out.print(f"{about}{output}: compile it with mpicc -O2 and link it before the MPI library", soft_wrap=True)


def load(file: str, root: str, hosts: str, ranks_per_machine: int) -> shoal.Network:
    network = read_network(file)
    names = shoal.expand_host_list(hosts) if hosts else network.machines
    network.place_ranks([name for name in names for _ in range(ranks_per_machine)])
    if not network.ranks:
        raise UserError(f"{file}: no machine; expected at least one")
    if root:
        network.choose_root(root)
    return network


def write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from error


def as_dict(network: shoal.Network, tree: shoal.Tree, plan: shoal.ExchangePlan) -> dict[str, Any]:
    return {
        "machines": network.hosts,
        "root": tree.top if tree.ranks > 1 else None,
        "phases": plan.phases,
        "synchronisations": plan.synchronisations,
    }


def bits(per_second: float) -> str:
    for unit, factor in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if per_second >= factor:
            return f"{per_second / factor:g} {unit}bit/s"
    return f"{per_second:g} bit/s"


def seconds(time: float) -> str:
    return f"{time:.3g} s" if time >= 1 else f"{time * 1e3:.3g} ms"


def plural(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def drawing(network: shoal.Network, tree: shoal.Tree) -> Drawing:
    """The tree from its root; machines that look alike share a line."""
    machines = {name for name, is_machine in network.nodes if is_machine}
    drawn = {tree.top: Drawing(f"[bold]{tree.top}[/bold]" + (" (root)" if tree.ranks > 1 else ""))}
    most = max((link.load / link.bits_per_second for link in tree.links), default=0)
    alike: dict[tuple[str, str], list[str]] = {}
    for link in tree.links:
        words = f"{bits(link.bits_per_second)}, load {link.load}"
        if link.ranks_below > 1 or link.below not in machines:
            words += f" = {link.ranks_below} x {tree.ranks - link.ranks_below}"
        if link.streams > 1:
            words += f", {link.streams} streams"
        if link.load and link.load / link.bits_per_second == most:
            words += ", [bold red]bottleneck[/bold red]"
        if link.below in machines:
            alike.setdefault((link.above, words), []).append(link.below)
        else:
            drawn[link.below] = drawn[link.above].add(f"[bold]{link.below}[/bold]  {words}")
    for (above, words), names in alike.items():
        drawn[above].add(f"{shoal.fold_host_list(names)}  {words}" + (" each" if len(names) > 1 else ""))
    return drawn[tree.top]


def summary(network: shoal.Network, tree: shoal.Tree) -> str:
    """Ranks, root, subtrees and the bound, in a few lines."""
    used = len(set(network.hosts))
    lines = [plural(tree.ranks, "rank") + (f" on {plural(used, 'machine')}" if used < tree.ranks else "")]
    if tree.ranks < 2:
        return lines[0] + "; nothing to exchange\n"
    others = [name for name in tree.roots if name != tree.top]
    lines[0] += f", root {tree.top}" + (f" (or {shoal.fold_host_list(others)})" if others else "")
    lines[0] += f", subtrees {' '.join(str(len(group)) for group in tree.groups)}"
    link = tree.bottleneck
    if link is None:
        lines.append("Bound: all ranks share one machine; no link carries anything")
        return "\n".join(lines) + "\n"
    lines.append(
        f"Bound: {plural(tree.phases, 'phase')}; most loaded link {link.above} - {link.below}, "
        f"{link.ranks_below} x {tree.ranks - link.ranks_below} messages each way at {bits(link.bits_per_second)}"
    )
    payload = [f"{size} KiB {seconds(tree.seconds(size * 1024))}" for size in BLOCKS]
    frames = [seconds(tree.seconds(shoal.bytes_on_wire(size * 1024))) for size in BLOCKS]
    lines.append(f"Least time for blocks of {', '.join(payload)}")
    lines.append(f"with TCP, IP and Ethernet headers {', '.join(frames)}")
    return "\n".join(lines) + "\n"


def counts(tree: shoal.Tree, plan: shoal.ExchangePlan) -> str:
    """The numbers of the plan, beside the bound."""
    phases, pairs = plural(len(plan.phases), "phase"), plural(tree.contending_pairs, "pair")
    return (
        f"{phases} (bound {tree.phases}); {pairs} of messages of different ranks share a link, "
        f"{plan.candidates} need synchronisation, {len(plan.synchronisations)} after reduction\n"
    )


def phase_table(network: shoal.Network, tree: shoal.Tree, plan: shoal.ExchangePlan) -> Table:
    """Table 4 of the paper: a row for each phase, a column for each subtree that sends, and one for messages inside."""
    group_of = {rank: number for number, group in enumerate(tree.groups) for rank in group}
    columns = len(tree.groups) if len(tree.groups) <= MOST_COLUMNS else 1
    names = [f"from {shoal.fold_host_list([network.hosts[rank] for rank in group])}" for group in tree.groups]
    table = Table("phase", *(names if columns > 1 else ["between subtrees"]), "inside", title="Phases")
    for number, phase in enumerate(plan.phases):
        cells: list[list[str]] = [[] for _ in range(columns + 1)]
        for sender, receiver in zip(phase[::2], phase[1::2], strict=True):
            inside = group_of[sender] == group_of[receiver]
            column = columns if inside else group_of[sender] % columns
            cells[column].append(f"{network.hosts[sender]}->{network.hosts[receiver]}")
        table.add_row(str(number), *("  ".join(cell) for cell in cells))
    return table
