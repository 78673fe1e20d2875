"""Programs that a command starts, and that end with it."""

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

PATIENCE = 10  # seconds, for a program that was told to end
TELLS_TO_END = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def child(command: Sequence[str], **options: Any) -> Iterator["subprocess.Popen[Any]"]:
    """A program that runs beside what is done in here, which waits for its end; what breaks off in here ends it."""
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
    """A signal that comes while a program starts counts afterwards; else the program would go on, known to nobody."""
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
    """What still runs, as when this command is told to end."""
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
