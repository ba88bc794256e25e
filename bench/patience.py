"""Waits until something is so."""

import time
from collections.abc import Callable
from typing import Final

from bench.errors import Unmeasured

PATIENCE_SECONDS: Final = 300.0
LOOK_SECONDS: Final = 0.2


def await_true(look: Callable[[], bool], what: str) -> None:
    """Return when it is so; Unmeasured after a while."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not look():
        if time.monotonic() > deadline:
            raise Unmeasured(f"not seen within {PATIENCE_SECONDS:g} s: {what}")
        time.sleep(LOOK_SECONDS)
