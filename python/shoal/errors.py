"""Errors that users make."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NoReturn


class UserError(Exception):
    """Says in one line what is wrong and what to do; the command ends with status 2."""


def unknown(what: str, choices: Iterable[str]) -> UserError:
    *most, last = choices
    return UserError(f"unknown {what}; choose {', '.join(most)} or {last}")


@contextmanager
def told_in_one_line() -> Iterator[None]:
    """A user's mistake in the `with` statement becomes one line on standard error, and exit status 2. An interrupt ends
    the command without a word."""
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
    except (UserError, ValueError) as error:  # the core raises ValueError for a wrong value
        fail(str(error))


def fail(message: str) -> NoReturn:
    if message:
        print("shoal:", " ".join(message.split()), file=sys.stderr)
    sys.exit(2)
