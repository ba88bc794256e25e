"""Notes every change of Workloads, Pods and JobSets, in one thread of its own.

Three idle watches cost less than looking ten times a second, and tell the moment of each change.
"""

import asyncio
import time
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from bench.quota.errors import RecorderLost
from bench.quota.facts import Seen, fact
from localcluster.background import Background
from localcluster.invariants.judge import Kind
from localcluster.invariants.streams import Changed, Listed, Lost, Stream, client
from localcluster.manifests import Object

KINDS: Final = (Kind.WORKLOADS, Kind.PODS, Kind.JOBSETS)
START_SECONDS: Final = 30.0


class Recorder:
    """Records while it is entered."""

    def __init__(self, kubeconfig: Path) -> None:
        self._kubeconfig = kubeconfig
        self._seen: list[Seen] = []
        self._listed: set[Kind] = set()
        self._background = Background("recorder", self._watch)

    def seen(self, namespace: str) -> list[Seen]:
        """What was seen there so far, in order. Raises RecorderLost."""
        if not self._background.is_alive:
            raise RecorderLost(f"the recorder has ended, measure anew: {self._background.error!r}")
        return [item for item in list(self._seen) if item.namespace == namespace]

    def __enter__(self) -> Self:
        if not self._background.start(START_SECONDS):
            raise RecorderLost(f"the recorder saw no cluster: {self._background.error!r}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._background.stop()

    async def _watch(self) -> None:
        async with client(self._kubeconfig) as http, asyncio.TaskGroup() as tasks:
            for kind in KINDS:
                tasks.create_task(self._follow(kind, Stream(http, kind)))

    async def _follow(self, kind: Kind, stream: Stream) -> None:
        async for change in stream.follow():
            match change:
                case Listed(items):
                    for item in items:
                        self._note(kind, item, is_deleted=False)
                    self._listed.add(kind)
                    if len(self._listed) == len(KINDS):
                        self._background.begun()
                case Changed(item, is_deleted=is_deleted):
                    self._note(kind, item, is_deleted=is_deleted)
                case Lost():
                    raise RecorderLost("the API server went away: what it did then is unknown")

    def _note(self, kind: Kind, item: Object, *, is_deleted: bool) -> None:
        if found := fact(kind, item, is_deleted=is_deleted):
            self._seen.append(Seen(time.monotonic(), item["metadata"]["namespace"], found))
