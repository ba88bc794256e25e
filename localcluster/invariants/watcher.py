"""Watches a control plane in one thread of its own, and holds what the judge finds.

It must not slow what it watches: six idle connections, and four looks at the clock a second.
"""

import asyncio
import time
from collections.abc import Collection
from pathlib import Path
from types import TracebackType
from typing import Self

from localcluster import audit
from localcluster.background import Background
from localcluster.errors import LocalClusterError
from localcluster.invariants.judge import Judge, Kind
from localcluster.invariants.streams import Back, Changed, Listed, Lost, Stream, client
from localcluster.invariants.violation import Violation

TICK_SECONDS = 0.25
START_SECONDS = 30.0
# Two seconds until the judge decides, one to spare.
SETTLE_SECONDS = 3.0
ANSWER_SECONDS = 30.0


class WatcherLost(LocalClusterError):
    """The watcher itself broke: nobody knows whether anything was violated."""


class Watcher:
    """Watches while it is entered."""

    def __init__(self, kubeconfig: Path, audit_log: Path) -> None:
        self._kubeconfig = kubeconfig
        self._audit_log = audit_log
        self._audited = audit.end(audit_log)
        self._judge = Judge()
        self._listed: set[Kind] = set()
        self._lost: set[Kind] = set()
        self._background = Background("invariants", self._watch)

    def violations(self, namespaces: Collection[str] | None = None) -> list[Violation]:
        """What was found so far, in these namespaces or in all; WatcherLost if it broke."""
        if not self._background.is_alive:
            raise WatcherLost(f"the invariant watcher has ended: {self._background.error!r}")
        found = list(self._judge.violations)
        return [
            item
            for item in found
            if namespaces is None or not item.namespaces.isdisjoint(namespaces)
        ]

    def settle(self, namespaces: Collection[str]) -> None:
        """Return when all Pods seen in these namespaces are judged."""
        end = time.monotonic() + SETTLE_SECONDS
        while time.monotonic() < end and self._is_undecided(namespaces):
            time.sleep(TICK_SECONDS / 2)

    def __enter__(self) -> Self:
        if not self._background.start(START_SECONDS):
            raise WatcherLost(f"the invariant watcher saw no cluster: {self._background.error!r}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._background.stop()

    def _is_undecided(self, namespaces: Collection[str]) -> bool:
        if not self._background.is_alive:
            return False
        return self._background.ask(self._ask(namespaces), ANSWER_SECONDS)

    async def _ask(self, namespaces: Collection[str]) -> bool:
        return self._judge.is_undecided(namespaces)

    async def _watch(self) -> None:
        async with client(self._kubeconfig) as http, asyncio.TaskGroup() as tasks:
            for kind in Kind:
                tasks.create_task(self._follow(kind, Stream(http, kind)))
            tasks.create_task(self._tick())

    async def _follow(self, kind: Kind, stream: Stream) -> None:
        async for change in stream.follow():
            now = time.monotonic()
            match change:
                case Listed(items):
                    self._judge.listed(kind, items, now)
                    self._listed.add(kind)
                case Changed(item, is_deleted=True):
                    self._judge.gone(kind, item)
                case Changed(item):
                    self._judge.seen(kind, item, now)
                case Lost():
                    self._lost.add(kind)
                case Back():
                    self._lost.discard(kind)
                    self._judge.restart(now)

    async def _tick(self) -> None:
        while True:
            # While nothing can be seen nobody can act either.
            if len(self._listed) == len(Kind) and not self._lost:
                self._judge.check(time.monotonic())
                self._background.begun()
            self._read_audit_log()
            await asyncio.sleep(TICK_SECONDS)

    def _read_audit_log(self) -> None:
        now = time.monotonic()
        for event in audit.events(self._audit_log, self._audited):
            self._audited = event.end
            self._judge.audited(event, now)
