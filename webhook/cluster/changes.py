"""A list and then every change of one kind, for ever: through closed watches, 410, lost servers.

Objects are decoded into a slim view, since their bodies are large; pages are short for the same
reason, and none is kept. Lines are cut here and not by aiohttp, whose limit of 128 KiB a large
JobSet exceeds.
"""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgspec
from aiohttp import ClientError
from kubernetes.aio import client
from kubernetes.aio.client.exceptions import ApiException

from webhook.cluster.calls import JSON, METADATA, METADATA_LIST
from webhook.cluster.items import Item
from webhook.cluster.pace import Pace
from webhook.rules.objects import View

NOT_FOUND: Final = 404
GONE: Final = 410
WATCH_SECONDS: Final = 300
GRACE_SECONDS: Final = 30
LIST_LIMIT: Final = 100
FIRST_PAUSE: Final = 0.2
LONGEST_PAUSE: Final = 10.0
SHORTEST_WATCH: Final = 1.0
"""Seconds; a watch that ends earlier and tells nothing is not opened again at once."""


class Expired(Exception):
    """The watch can't go on from where it was (410 Gone): the list has to be read anew."""


class Missing(Exception):
    """The cluster has no such kind."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What is watched: a resource of all namespaces, narrowed by a label selector.

    Where metadata is all that counts, nothing else is asked for. A kind that a cluster may lack is
    looked for again after so many seconds; of any other kind, that it is missing is a loss.
    """

    group: str
    version: str
    plural: str
    selector: str
    is_metadata: bool = False
    look_again: float | None = None

    def accept(self, *, watch: bool) -> str:
        """The media type that is asked for."""
        if not self.is_metadata:
            return JSON
        return METADATA if watch else METADATA_LIST


@dataclass(frozen=True, slots=True)
class Begun:
    """A list begins: of everything that there is now a `Changed` follows, and then `Ended`.

    One that breaks off has no end; another begins.
    """


@dataclass(frozen=True, slots=True)
class Ended:
    """The list is complete: what was known before and was not in it is gone."""


@dataclass(frozen=True, slots=True)
class Changed:
    """One object was listed, made, changed or deleted."""

    item: Item
    deleted: bool = False


Change: TypeAlias = Begun | Changed | Ended


class _ListMeta(View, frozen=True):
    resource_version: str
    continue_: str = msgspec.field(name="continue", default="")


class _Page(View, frozen=True):
    metadata: _ListMeta
    items: list[msgspec.Raw] | None  # Of a kind without any object some servers say null.


class _Event(View, frozen=True):
    type: str
    object: msgspec.Raw


class _VersionMetadata(View, frozen=True):
    resource_version: str


class _Version(View, frozen=True):
    """As much of an object as the next watch needs."""

    metadata: _VersionMetadata


class Changes:
    """The changes of one kind. `on_loss` is told of each that is lost, and why."""

    def __init__(self, api: client.ApiClient, kind: Kind, on_loss: Callable[[str], None]) -> None:
        self._objects = client.CustomObjectsApi(api)
        self._kind = kind
        self._on_loss = on_loss
        self._pace = Pace()
        self._pause = 0.0
        self._version = ""

    async def follow(self) -> AsyncGenerator[Change, None]:
        """A list first and after each loss, `Changed` between; never ends, never raises."""
        while True:
            try:
                async for change in self._list():
                    yield change
                while True:
                    async for change in self._watch():
                        yield change
            except Missing:
                await asyncio.sleep(self._kind.look_again or 0)
                continue
            except (
                *(Expired, ApiException, ClientError, OSError, TimeoutError),
                *(msgspec.MsgspecError, RecursionError),
            ) as error:
                self._lose(error)
            await self._rest()

    async def _list(self) -> AsyncGenerator[Change, None]:
        yield Begun()
        token, more = "", True
        while more:
            response = await self._get(limit=LIST_LIMIT, _continue=token)
            async with response:
                page = msgspec.json.decode(await response.read(), type=_Page)
            for content in page.items or ():
                if item := self._read(content):
                    yield Changed(item)
                await self._pace.step()
            token = page.metadata.continue_
            self._version, more = page.metadata.resource_version, bool(token)
        yield Ended()

    async def _watch(self) -> AsyncGenerator[Changed, None]:
        """One watch; after one that ended at once, and in vain, it rests."""
        begun, is_in_vain = time.monotonic(), True
        try:
            async for event in self._events():
                is_in_vain = False
                item = self._read(event.object)
                # What can't be read is passed over, but its version must not be lost.
                self._version = item.metadata.resource_version if item else _version(event)
                if item and event.type != "BOOKMARK":
                    yield Changed(item, deleted=event.type == "DELETED")
                await self._pace.step()
        finally:
            is_in_vain &= time.monotonic() - begun < SHORTEST_WATCH
            if not is_in_vain:
                self._pause = 0.0
        if is_in_vain:
            self._on_loss("the watch has ended at once")
            await self._rest()

    async def _events(self) -> AsyncGenerator[_Event, None]:
        response = await self._get(
            watch=True,
            resource_version=self._version,
            timeout_seconds=WATCH_SECONDS,
            allow_watch_bookmarks=True,
            # The server ends the watch; the client's own limit of five minutes would come first.
            _request_timeout=float(WATCH_SECONDS + GRACE_SECONDS),
        )
        async with response:
            async for line in _lines(response.content):
                event = msgspec.json.decode(line, type=_Event)
                if event.type == "ERROR":
                    raise Expired(bytes(event.object).decode())
                yield event

    def _read(self, content: msgspec.Raw) -> Item | None:
        """The object; None if it is so odd that it can't be read: it must not cost all others."""
        try:
            return msgspec.json.decode(content, type=Item)
        except (msgspec.MsgspecError, RecursionError) as error:
            self._lose(error)
            return None

    def _lose(self, error: Exception) -> None:
        self._on_loss(f"{type(error).__name__}: {error}".splitlines()[0])

    async def _rest(self) -> None:
        self._pause = min(LONGEST_PAUSE, 2 * self._pause or FIRST_PAUSE)
        await asyncio.sleep(self._pause * random.uniform(0.5, 1))  # noqa: S311 - spreads replicas

    async def _get(self, **query: Any) -> Any:
        response = await self._objects.list_cluster_custom_object_without_preload_content(
            self._kind.group,
            self._kind.version,
            self._kind.plural,
            label_selector=self._kind.selector,
            _headers={"Accept": self._kind.accept(watch="watch" in query)},
            **query,
        )
        if response.status == GONE:
            raise Expired("410 Gone")
        if response.status == NOT_FOUND and self._kind.look_again is not None:
            raise Missing
        response.raise_for_status()
        return response


def _version(event: _Event) -> str:
    return msgspec.json.decode(event.object, type=_Version).metadata.resource_version


async def _lines(content: Any) -> AsyncGenerator[bytes, None]:
    rest = b""
    async for chunk in content.iter_any():
        *complete, rest = (rest + chunk).split(b"\n")
        for line in complete:
            yield line
