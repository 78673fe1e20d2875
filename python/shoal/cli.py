"""The command line: `shoal COMMAND ...`."""

import signal
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, NoReturn

import shoal
from shoal.errors import fail, told_in_one_line

if TYPE_CHECKING:  # typer takes longer to load than `shoal run` needs to start ranks
    import typer

# Every command with its function in shoal.commands, in the groups and the order of the help.
GROUPS = {
    "Use": {
        "try": "try_.try_",
        "run": "run.run",
        "tune": "tune.tune",
        "doctor": "doctor.doctor",
        "demo": "demo.demo",
    },
    "Measure": {"bench": "bench.bench", "report": "report.report", "emulate": "emulate.emulate"},
    "Understand": {
        "list": "list_.list_algorithms",
        "plan": "plan.plan",
        "check": "check.check",
        "explain": "explain.explain",
        "topology": "topology.app",
    },
    "Model": {"model": "model.app", "simulate": "simulate.simulate"},
}
COMMANDS = {name: function for group in GROUPS.values() for name, function in group.items()}
GROUP_OF = {name: title for title, group in GROUPS.items() for name in group}


def make_app(commands: Iterable[str]) -> "typer.Typer":
    import typer

    from shoal.commands.given import Command

    app = typer.Typer(
        name="shoal",
        help="Fast, configurable, verified all-to-all exchanges for MPI programs.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    def say_version(wanted: bool) -> None:
        if wanted:
            print("shoal", shoal.__version__)
            raise typer.Exit

    def root(
        version: Annotated[
            bool, typer.Option("--version", callback=say_version, is_eager=True, help="Print the version.")
        ] = False,
    ) -> None: ...

    app.callback()(root)  # with a callback, a command has to be named even if the app has only one
    for name in commands:
        module, function = COMMANDS[name].split(".")
        command = getattr(import_module(f"shoal.commands.{module}"), function)
        if isinstance(command, typer.Typer):  # has commands of its own
            for one in command.registered_commands:
                one.cls, one.help = Command, flowing(one.callback)
            app.add_typer(command, name=name, rich_help_panel=GROUP_OF[name])
            continue
        app.command(name, cls=Command, rich_help_panel=GROUP_OF[name], help=flowing(command))(command)
    return app


def flowing(command: object) -> str:
    """The docstring of a command, each paragraph in one line, so that lines are broken to the width of the terminal."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in (command.__doc__ or "").split("\n\n"))


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run a command. A user's mistake becomes one line on standard error, and exit status 2."""
    end_when_told()
    given = list(sys.argv[1:] if args is None else args)
    if given[:1] == ["run"] or given[:1] == ["try"]:
        start(given[0], given[1:])
    import typer

    needed = [name for name in given[:1] if name in COMMANDS]  # loading the others may take long
    wanted = needed if needed or given == ["--version"] else COMMANDS
    try:
        with told_in_one_line():
            status = make_app(wanted)(args=given, prog_name="shoal", standalone_mode=False)
    except typer.TyperException as error:
        fail(describe(error))
    except typer.Abort:
        sys.exit(130)
    sys.exit(status or 0)


def start(name: str, words: Sequence[str]) -> NoReturn:
    """Run a command that takes options of other programs too, and that must not take long to load."""
    module, function = COMMANDS[name].split(".")
    with told_in_one_line():
        getattr(import_module(f"shoal.commands.{module}"), function)(words)
    sys.exit(0)


def end_when_told() -> None:
    """Make SIGTERM and SIGHUP end the command as an interrupt does: programs that it started end, and what it made for
    them is removed. A signal that is ignored, as under nohup, stays ignored."""
    for told in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(told) == signal.SIG_DFL:
            signal.signal(told, lambda number, _: sys.exit(128 + number))


def describe(error: "typer.TyperException") -> str:
    """What is wrong with the words given to a command, and where to read more."""
    from pydantic import ValidationError

    message = error.format_message().rstrip(".")
    if isinstance(error.__cause__, ValidationError):
        message += f", not '{error.__cause__.errors()[0]['input']}'"
    context = getattr(error, "ctx", None)
    return f"{message}; see {context.command_path} --help" if context and message else message
