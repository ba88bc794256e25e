"""Judges which Events are due, at each change, and hands them to their writer.

A state may last for a moment only, so it is judged when it is seen. A restart makes due at once
what happened in the last minutes: what the writer has no room for then is not told yet, and is
judged again when there is room. Nothing is lost for that, and no review waits for it.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol, TypeAlias

from webhook.cluster.events import WRITE, Witness
from webhook.cluster.happenings import LONGEST_AGE, Happening, Happenings
from webhook.cluster.pace import Pace

Later: TypeAlias = Callable[[float, Callable[[str], None], str], object]
"""The loop's `call_later`: seconds, what is called, and with which uid."""


class Writer(Protocol):
    """Takes Events."""

    def put(self, happening: Happening) -> bool:
        """Whether it is taken; never waits."""
        ...

    async def room(self) -> None:
        """Waits until there is room for what was not taken, beside what happens now."""
        ...


class Teller:
    """Has a timer for each uid whose step only just waits, and a list of those to judge again."""

    def __init__(
        self, happenings: Happenings, writer: Writer, witness: Witness, call_later: Later
    ) -> None:
        self._happenings = happenings
        self._writer = writer
        self._witness = witness
        self._call_later = call_later
        self._waiting: asyncio.Queue[str] = asyncio.Queue()
        self._queued: set[str] = set()
        self._timed: set[str] = set()

    def tell(self, uid: str) -> None:
        """Judges a Job or JobSet; never waits, never raises."""
        try:
            self._judge(uid, datetime.now(UTC))
        except Exception as error:  # noqa: BLE001 - one odd object must not cost all others
            self._witness.companion_lost(WRITE, f"{uid}: {error!r}")

    async def run(self) -> None:
        """Judges again what there was no room for, until it is cancelled."""
        pace = Pace()
        while True:
            uid = await self._waiting.get()
            await self._writer.room()
            self._queued.discard(uid)
            self.tell(uid)
            await pace.step()

    def _judge(self, uid: str, now: datetime) -> None:
        for happening in self._happenings.due(uid, now):
            if self._writer.put(happening):
                self._happenings.tell(uid, happening)
            elif uid not in self._queued:
                self._queued.add(uid)
                self._waiting.put_nowait(uid)
        patience = self._happenings.patience(uid, now)
        if patience is not None and uid not in self._timed:
            self._timed.add(uid)
            seconds = min(patience, LONGEST_AGE).total_seconds()
            self._call_later(seconds, self._tell_again, uid)

    def _tell_again(self, uid: str) -> None:
        self._timed.discard(uid)
        self.tell(uid)
