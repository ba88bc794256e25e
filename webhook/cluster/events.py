"""Writes Events, beside everything else that the companion does and in the way of none of it.

What can't be written after a few attempts is dropped: an Event is a word to a person, and nothing
is decided on it. Another replica that has written the same one was as good: names are the same.
"""

import asyncio
import random
from datetime import UTC
from typing import Any, Final, Protocol

import msgspec
from aiohttp import ClientError
from kubernetes.aio import client
from kubernetes.aio.client.exceptions import ApiException

from webhook.cluster.calls import call, message
from webhook.cluster.happenings import Happening

CONTROLLER: Final = "kueue-steps"
LONGEST_INSTANCE: Final = 128

WRITE: Final = "write of an Event"
MOST_WAITING: Final = 2000
WRITERS: Final = 4
ATTEMPTS: Final = 4
FIRST_PAUSE: Final = 0.5
ANSWER_SECONDS: Final = 10.0

CREATED: Final = range(200, 300)
ALREADY_EXISTS: Final = 409
FORBIDDEN: Final = 403
NOT_FOUND: Final = 404
WORTH_ANOTHER_TRY: Final = frozenset({401, 408, 429, *range(500, 600)})


class Failure(Exception):
    """The API server did not take an Event; `kind` is the same for failures of one cause."""

    def __init__(self, kind: str, why: str, *, is_passing: bool = False) -> None:
        super().__init__(why)
        self.kind = kind
        self.is_passing = is_passing


class Witness(Protocol):
    """Told of what became of Events."""

    def event_recorded(self, namespace: str, name: str, reason: str, *, new: bool) -> None:
        """One is stored; not `new`: another replica, or this one before a restart, has done it."""
        ...

    def companion_lost(self, what: str, why: str) -> None:
        """Events can't be written.

        Told once of each cause until a write succeeds, and then how many more were dropped.
        """
        ...


class Events:
    """A bounded queue and its writers.

    `instance` is the replica, as `reportingInstance`; `pause` the seconds before a second attempt,
    `places` how many Events may wait.
    """

    def __init__(
        self,
        api: client.ApiClient,
        instance: str,
        witness: Witness,
        pause: float = FIRST_PAUSE,
        places: int = MOST_WAITING,
    ) -> None:
        self._api = api
        self._instance = instance[:LONGEST_INSTANCE]
        self._witness = witness
        self._pause = pause
        self._waiting: asyncio.Queue[Happening] = asyncio.Queue(places)
        self._taken = asyncio.Event()
        self._told: set[str] = set()
        self._dropped = 0

    def put(self, happening: Happening) -> bool:
        """Lets it be written, and tells whether there was room for it; never waits."""
        if self._waiting.full():
            return False
        self._waiting.put_nowait(happening)
        return True

    async def room(self) -> None:
        """Waits until half of the room is free: the other half is for what happens now."""
        while self._waiting.qsize() > self._waiting.maxsize // 2:
            self._taken.clear()
            await self._taken.wait()

    async def run(self) -> None:
        """Writes until it is cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for _ in range(WRITERS):
                tasks.create_task(self._write())

    async def _write(self) -> None:
        while True:
            happening = await self._waiting.get()
            self._taken.set()
            try:
                await self._persist(happening)
                self._recover()
            except Failure as failure:
                self._drop(failure)
            except Exception as error:  # noqa: BLE001 - one odd Event must not cost all others
                self._drop(Failure(type(error).__name__, repr(error)))

    async def _persist(self, happening: Happening) -> None:
        """Raises Failure."""
        pause = self._pause
        for _ in range(ATTEMPTS - 1):
            try:
                return await self._create(happening)
            except Failure as failure:
                if not failure.is_passing:
                    raise
            await asyncio.sleep(pause * random.uniform(0.5, 1))  # noqa: S311 - spreads replicas
            pause *= 2
        return await self._create(happening)

    async def _create(self, happening: Happening) -> None:
        path = f"/api/v1/namespaces/{happening.parent.namespace}/events"
        try:
            response = await call(
                self._api,
                "POST",
                path,
                body=body(happening, self._instance),
                patience=ANSWER_SECONDS,
            )
            status, content = response.status, await response.read()
        except (ApiException, ClientError, OSError, TimeoutError) as error:
            kind = type(error).__name__
            raise Failure(kind, f"{kind}: {error}", is_passing=True) from error
        if status in CREATED or status == ALREADY_EXISTS:
            self._witness.event_recorded(
                happening.parent.namespace,
                happening.name,
                happening.reason.value,
                new=status in CREATED,
            )
        elif not _is_place_gone(status, content):
            why = f"{status} {message(content)}"
            raise Failure(str(status), why, is_passing=status in WORTH_ANOTHER_TRY)

    def _drop(self, failure: Failure) -> None:
        if failure.kind in self._told:
            self._dropped += 1
        else:
            self._told.add(failure.kind)
            self._witness.companion_lost(WRITE, str(failure))

    def _recover(self) -> None:
        if self._dropped:
            self._witness.companion_lost(WRITE, f"{self._dropped} more Events were dropped")
        self._dropped = 0
        self._told.clear()


def body(happening: Happening, instance: str) -> dict[str, Any]:
    """The Event as the API server takes it.

    Of core/v1: kubectl's order and the Kubeflow SDK go by an Event's first and last time, which
    events.k8s.io/v1 does not let its writers set.
    """
    parent, at = happening.parent, happening.at.astimezone(UTC)
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": happening.name, "namespace": parent.namespace},
        "eventTime": at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "firstTimestamp": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "lastTimestamp": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "count": 1,
        "reason": happening.reason.value,
        "action": happening.reason.action,
        "type": "Warning" if happening.reason.is_warning else "Normal",
        "message": happening.note,
        "involvedObject": {
            "apiVersion": parent.api_version,
            "kind": parent.kind,
            "namespace": parent.namespace,
            "name": parent.name,
            "uid": parent.uid,
        },
        "source": {"component": CONTROLLER},
        "reportingComponent": CONTROLLER,
        "reportingInstance": instance,
    }


def _is_place_gone(status: int, content: bytes) -> bool:
    """Whether the namespace is gone or being deleted, with all that Events could be about."""
    if status != FORBIDDEN:
        return status == NOT_FOUND
    try:
        details = msgspec.json.decode(content, type=dict[str, Any]).get("details") or {}
    except msgspec.MsgspecError:
        return False
    causes = details.get("causes") or []
    return any(cause.get("reason") == "NamespaceTerminating" for cause in causes)
