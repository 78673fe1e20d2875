"""What options say, and options that do not go together: none is dropped in silence."""

from collections.abc import Iterable
from typing import Any

import typer
from typer.core import TyperCommand

from shoal.errors import UserError


class Command(TyperCommand):
    """A command that refuses an option whose value is given twice: the last would replace the others in silence."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for one in order:
            if order.count(one) > 1 and not getattr(one, "is_flag", False) and not ctx.resilient_parsing:
                raise UserError(f"{max(one.opts, key=len)} is given twice; leave one out")
        return super().parse_args(ctx, args)


def given(context: typer.Context, name: str) -> bool:
    """Whether this option is on the command line, even if with its default value."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def variant_names(text: str) -> list[str]:
    """The variants that --variants names."""
    names = [name.strip() for name in text.split(";") if name.strip()]
    if not names:
        raise UserError(f"--variants {text!r} names none; separate several by ';'")
    return names


def option(context: typer.Context, name: str) -> str:
    """The option as people write it: --json for as_json."""
    return max(next(one.opts for one in context.command.params if one.name == name), key=len)


def refuse_twice(context: typer.Context, name: str, said: Iterable[str]) -> None:
    """If the option `name` is given, refuses the options `said`, which it sets as well."""
    for other in said:
        if given(context, name) and given(context, other):
            raise UserError(f"{option(context, name)} already sets {option(context, other)}; leave one out")


def refuse_others(context: typer.Context, name: str) -> None:
    """If the option `name` is given, refuses all others."""
    if given(context, name):
        others = [one.name for one in context.command.params if one.name not in (None, name)]
        refuse_unused(context, others, f"with {option(context, name)}")


def refuse_unused(context: typer.Context, names: Iterable[str], where: str) -> None:
    """Refuses options that nothing would look at here."""
    for name in names:
        if given(context, name):
            raise UserError(f"{option(context, name)} means nothing {where}; leave it out")
