"""shoal report: a page about what `shoal bench` measured."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.console import err, out
from shoal.errors import UserError
from shoal.measurements import Results
from shoal.report import write_report


def report(
    results: Annotated[list[Path], typer.Argument(help="Folders or files that shoal bench wrote.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for index.html and the figures.")] = Path(
        "report"
    ),
) -> None:
    """Write a page about what shoal bench measured, with its figures as PNG and SVG.

    Example: [bold]shoal report shoal-bench -o report[/bold]
    """
    files = [path / "results.jsonl" if path.is_dir() else path for path in results]
    for path in files:
        if not path.is_file():
            raise UserError(f"{path} does not exist; shoal bench writes such a file")
    read = read_results(files)
    with err.status("drawing"):
        page = write_report(read, output)
    runs = f", {len(read.programs)} runs of programs" if read.programs else ""
    out.print(f"{len(read.cases)} cases{runs}: {page}")


def read_results(files: list[Path]) -> Results:
    try:
        read = Results.read(files)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise UserError(f"{', '.join(map(str, files))}: not what shoal bench writes ({error!r})") from error
    if not read.cases and not read.programs:
        raise UserError(f"{', '.join(map(str, files))}: no measurements in it")
    return read
