"""Looks again and again, and shows what changed, until it is told to stop."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from time import monotonic
from typing import Final, Protocol, Self

from webhook.cluster.listing import Unread
from webhook.steps.reading import Refused, Unknown
from webhook.steps.tree import Tree

SECONDS: Final = 2.0
LOOKS: Final = 2
"""A pause is at least as long as so many looks: who asks a slow API server asks it less often."""

ENDING: Final = (signal.SIGINT, signal.SIGTERM)

Look = Callable[[], Awaitable[Tree]]
Clock = Callable[[], datetime]


class Screen(Protocol):
    """Where trees are shown, for the length of a `with` block."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def show(self, tree: Tree, now: datetime) -> None:
        """Show the tree as it is now."""
        ...


class Printed:
    """A Screen of blocks, one below the other, each of them something new."""

    def __init__(self, block: Callable[[Tree, datetime], str], say: Callable[[str], None]) -> None:
        self._block = block
        self._say = say
        self._last: Tree | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing to put back."""

    def show(self, tree: Tree, now: datetime) -> None:
        """Print the tree if it is another one than before."""
        if tree != self._last:
            self._last = tree
            self._say(self._block(tree, now))


async def follow(
    look: Look, again: Look, screen: Screen, clock: Clock, *, seconds: float = SECONDS
) -> None:
    """Shows the tree every so many seconds, or less often, until SIGINT or SIGTERM.

    What `look` raises ends it; what `again` raises later is told, beside what was last seen.
    """
    loop, task = (
        asyncio.get_running_loop(),
        asyncio.ensure_future(_show(look, again, screen, clock, seconds)),
    )
    for number in ENDING:
        loop.add_signal_handler(number, task.cancel)
    await asyncio.wait([task])
    for number in ENDING:
        loop.remove_signal_handler(number)
    if not task.cancelled():
        task.result()


async def _show(look: Look, again: Look, screen: Screen, clock: Clock, seconds: float) -> None:
    began = monotonic()
    tree = await look()
    with screen:
        while True:
            pause = max(seconds, LOOKS * (monotonic() - began))
            screen.show(tree, clock())
            await asyncio.sleep(pause)
            began = monotonic()
            try:
                tree = await again()
            except (Refused, Unread) as error:
                tree = replace(tree, problem=f"{error}; trying again")
            except Unknown as error:
                tree = Tree(problem=str(error))
