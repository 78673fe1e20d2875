"""Programs that a command starts end with it."""

import signal
import subprocess
from typing import ClassVar

import pytest

from shoal.children import child


class InterruptedMeanwhile(subprocess.Popen):
    started: ClassVar[list[subprocess.Popen]] = []

    def __init__(self, *words, **options):
        super().__init__(*words, **options)
        self.started.append(self)
        signal.raise_signal(signal.SIGINT)


@pytest.fixture
def interruptible():
    """Lets this process take interrupts: a shell makes its background jobs ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_signal_while_it_starts_ends_it_too(monkeypatch, interruptible):
    monkeypatch.setattr(subprocess, "Popen", InterruptedMeanwhile)
    with pytest.raises(KeyboardInterrupt), child(["sleep", "60"]) as started:
        started.wait()
    assert [one.returncode for one in InterruptedMeanwhile.started] == [-signal.SIGTERM]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_breaks_off_ends_it():
    with pytest.raises(ZeroDivisionError), child(["sleep", "60"], stdout=subprocess.PIPE) as started:
        1 / 0  # noqa: B018
    assert started.returncode == -signal.SIGTERM
    assert started.stdout.closed
