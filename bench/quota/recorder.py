"""Notes every change of Workloads, Pods and JobSets, in one thread of its own.

Three idle watches cost less than looking ten times a second, and tell the moment of each change.
"""

import asyncio
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from bench.quota.errors import RecorderLost
from bench.quota.facts import Seen, fact
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
        self._recording = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._error: BaseException | None = None

    def seen(self, namespace: str) -> list[Seen]:
        """What was seen there so far, in order. Raises RecorderLost."""
        if not self._thread.is_alive():
            raise RecorderLost(f"the recorder has ended, measure anew: {self._error!r}")
        return [item for item in list(self._seen) if item.namespace == namespace]

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._recording.wait(START_SECONDS) or self._error:
            self._stop()
            raise RecorderLost(f"the recorder saw no cluster: {self._error!r}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._loop and self._task:
            # The loop is closed already where the recorder broke.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._watch())
        except asyncio.CancelledError:
            pass
        except BaseException as error:  # noqa: BLE001 - told to whoever asks what was seen
            self._error = error
        finally:
            self._recording.set()

    async def _watch(self) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
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
                        self._recording.set()
                case Changed(item, is_deleted=is_deleted):
                    self._note(kind, item, is_deleted=is_deleted)
                case Lost():
                    raise RecorderLost("the API server went away: what it did then is unknown")

    def _note(self, kind: Kind, item: Object, *, is_deleted: bool) -> None:
        if found := fact(kind, item, is_deleted=is_deleted):
            self._seen.append(Seen(time.monotonic(), item["metadata"]["namespace"], found))
