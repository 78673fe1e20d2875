"""Programs that a command starts, and that end with it."""

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

PATIENCE = 10  # seconds that a program has to end after it was told to
TELLS_TO_END = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def child(command: Sequence[str], **options: Any) -> Iterator["subprocess.Popen[Any]"]:
    """A program that runs beside the body of the `with` statement, which should wait for the program's end. If the body
    is left earlier, as by an error, the program is told to end."""
    started = None
    try:
        with told_afterwards():
            started = subprocess.Popen(command, **options)
        yield started
    finally:
        if started:
            end(started)


@contextmanager
def told_afterwards() -> Iterator[None]:
    """Delays a signal that comes while a program starts until the program has started. Otherwise the program would go
    on, because nobody would know of it."""
    came: list[int] = []
    handlers = {told: signal.getsignal(told) for told in TELLS_TO_END}
    caught = {told: handler for told, handler in handlers.items() if callable(handler)}
    for told in caught:
        signal.signal(told, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for told, handler in caught.items():
            signal.signal(told, handler)
        for number in came:
            signal.raise_signal(number)


def end(started: "subprocess.Popen[Any]") -> None:
    """Ends the program if it is still running: sends SIGTERM, and kills it if it has not ended in time."""
    if started.stdout:
        started.stdout.close()
    if started.poll() is not None:
        return
    started.terminate()
    try:
        started.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        started.kill()
        started.wait()
