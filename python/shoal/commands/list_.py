"""shoal list: the algorithms, their parameters, where they come from."""

import json
from typing import Annotated, Any

import typer
from rich.table import Table

import shoal
from shoal.console import out

HEADINGS = {
    "alltoall": "MPI_Alltoall, MPI_Alltoallv",
    "allgather": "MPI_Allgather(v) between two groups",
    "neighbor_alltoall": "MPI_Neighbor_alltoall(v, w)",
}


def list_algorithms(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Print the algorithms, their parameters with ranges and defaults, and their sources.

    Example: [bold]shoal list[/bold]
    """
    if as_json:
        print(json.dumps([as_dict(algorithm) for algorithm in shoal.algorithms()], indent=2))
        return
    for collective, heading in HEADINGS.items():
        chosen = [algorithm for algorithm in shoal.algorithms() if algorithm.collective == collective]
        if chosen:
            out.print(table(heading, chosen))


def as_dict(algorithm: shoal.Algorithm) -> dict[str, Any]:
    fields = ("name", "collective", "uniform_only", "summary", "source", "has_schedule")
    return {name: getattr(algorithm, name) for name in fields} | {
        "parameters": [
            {"name": p.name, "summary": p.summary, "default": p.standard, "words": p.words, "list": p.list}
            | ({"by_level": True} if p.by_level else {})
            | ({"lowest": p.lowest, "highest": p.highest} if p.lowest <= p.highest else {})
            for p in algorithm.parameters
        ]
    }


def table(heading: str, algorithms: list[shoal.Algorithm]) -> Table:
    rows = Table(title=heading, title_justify="left", title_style="bold", expand=True)
    rows.add_column("Algorithm", no_wrap=True)
    rows.add_column("Meaning", ratio=3)
    rows.add_column("Allowed (default)", ratio=2)
    rows.add_column("Source", ratio=2)
    for algorithm in algorithms:
        blocks = "equal blocks only" if algorithm.uniform_only else ""
        rows.add_row(f"[bold]{algorithm.name}[/bold]", algorithm.summary, blocks, algorithm.source)
        for parameter in algorithm.parameters:
            rows.add_row(f"  {parameter.name}=", parameter.summary, allowed(parameter), "")
        rows.add_section()
    return rows


def allowed(parameter: shoal.Parameter) -> str:
    ways = list(parameter.words)
    if parameter.lowest <= parameter.highest:
        ways.append(f"{parameter.lowest} to {parameter.highest}" + (", joined by x" if parameter.list else ""))
    by_level = ", by level joined by /" if parameter.by_level else ""
    return f"{', '.join(ways)}{by_level} ({parameter.standard})"
