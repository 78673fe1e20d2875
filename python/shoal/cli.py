"""The command line: `shoal COMMAND ...`."""

import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import NoReturn

import typer

from shoal.errors import UserError

# Every command, in the order of the help, and the function in shoal.commands that is it.
COMMANDS = {
    "list": "list_.list_algorithms",
    "plan": "plan.plan",
    "check": "check.check",
    "doctor": "doctor.doctor",
    "run": "run.run",
    "bench": "bench.bench",
    "demo": "demo.demo",
}


def make_app(commands: Iterable[str]) -> typer.Typer:
    app = typer.Typer(
        name="shoal",
        help="Fast, configurable, verified all-to-all exchanges for MPI programs.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(lambda: None)  # a command is named even when the app has just one
    for name in commands:
        module, function = COMMANDS[name].split(".")
        # What follows the program that `run` starts belongs to that program.
        settings = {"allow_interspersed_args": name != "run"}
        app.command(name, context_settings=settings)(getattr(import_module(f"shoal.commands.{module}"), function))
    return app


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run a command; what people do wrong becomes one line on standard error and status 2."""
    given = list(sys.argv[1:] if args is None else args)
    wanted = given[:1] if given[:1] and given[0] in COMMANDS else COMMANDS  # the others may load much
    try:
        status = make_app(wanted)(args=given, prog_name="shoal", standalone_mode=False)
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
