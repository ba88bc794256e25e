"""What a bench says while it runs, and how it is broken off."""

import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

import click


def since_start() -> Callable[[str], None]:
    """Says lines on standard error, each with the seconds since now."""
    start = time.monotonic()

    def say(line: str) -> None:
        click.echo(f"[{time.monotonic() - start:6.1f} s] {line}", err=True)

    return say


def interruptible() -> None:
    """Let Ctrl-C and SIGTERM clean up, once: a second one must not cut that short."""
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt
