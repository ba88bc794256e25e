"""Show that a long build is alive: a bar on a terminal, plain lines anywhere else."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

EVERY_SECONDS = 10.0
EVERY_SHARE = 0.05
LOOK_SECONDS = 1.0


@contextmanager
def progress(
    what: str, *, total: int | None, say: Callable[[str], None]
) -> Iterator[Callable[[], None]]:
    """Yield a function to call at each item done; `total` is None where nobody knows."""
    if sys.stderr.isatty():
        with _bar() as bar:
            task = bar.add_task(what, total=total)
            yield lambda: bar.advance(task)
    else:
        lines = Lines(what, total, say, time.monotonic)
        with _every(LOOK_SECONDS, lines.look):
            yield lines.advance


class Lines:
    """Counts items and says so every few percent or seconds, whichever comes first."""

    def __init__(
        self,
        what: str,
        total: int | None,
        say: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        self._what, self._total, self._say, self._clock = what, total, say, clock
        self._done = 0
        self._said_done, self._said_at = 0, clock()

    def advance(self) -> None:
        """Count one item."""
        self._done += 1
        self.look()

    def look(self) -> None:
        """Say how far it is, if it is time to."""
        if self._is_due():
            self._said_done, self._said_at = self._done, self._clock()
            of = f" of {self._total}" if self._total else ""
            self._say(f"{self._what}: {self._done}{of}")

    def _is_due(self) -> bool:
        if self._clock() - self._said_at >= EVERY_SECONDS:
            return True
        return self._total is not None and self._done - self._said_done >= self._total * EVERY_SHARE


@contextmanager
def _every(seconds: float, look: Callable[[], None]) -> Iterator[None]:
    # Linking takes a minute in which go says nothing: somebody else has to look at the clock.
    done = threading.Event()

    def keep_looking() -> None:
        while not done.wait(seconds):
            look()

    watch = threading.Thread(target=keep_looking, daemon=True)
    watch.start()
    try:
        yield
    finally:
        done.set()
        watch.join()


def _bar() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True))
