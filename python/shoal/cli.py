"""The command line: `shoal COMMAND ...`."""

import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

from shoal.commands import bench, check, demo, doctor, list_, plan, run
from shoal.errors import UserError

app = typer.Typer(
    name="shoal",
    help="Fast, configurable, verified all-to-all exchanges for MPI programs.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("list")(list_.list_algorithms)
app.command("plan")(plan.plan)
app.command("check")(check.check)
app.command("doctor")(doctor.doctor)
app.command("bench")(bench.bench)
app.command("demo")(demo.demo)
app.command("run", context_settings={"allow_interspersed_args": False})(run.run)


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run a command; what people do wrong becomes one line on standard error and status 2."""
    try:
        status = app(args=args, prog_name="shoal", standalone_mode=False)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        fail(error.format_message() + (f" See {context.command_path} --help" if context else ""))
    except (UserError, ValueError) as error:  # ValueError: the core's word for a wrong value
        fail(str(error))
    except typer.Abort:
        sys.exit(130)
    sys.exit(status or 0)


def fail(message: str) -> NoReturn:
    if message:
        print("shoal:", " ".join(message.split()), file=sys.stderr)
    sys.exit(2)
