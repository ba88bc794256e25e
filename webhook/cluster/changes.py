"""A list and then every change of one kind, for ever: through closed watches, 410, lost servers.

Objects are decoded into a slim view, since their bodies are large; pages are short for the same
reason. Lines are cut here and not by aiohttp, whose limit of 128 KiB a large JobSet exceeds.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgspec
from aiohttp import ClientError
from kubernetes.aio import client
from kubernetes.aio.client.exceptions import ApiException

from webhook.cluster.calls import JSON
from webhook.cluster.items import Item
from webhook.rules.objects import View

WATCH_SECONDS: Final = 300
GRACE_SECONDS: Final = 30
LIST_LIMIT: Final = 100
LONGEST_PAUSE: Final = 10.0


class Expired(Exception):
    """The watch can't go on from where it was (410 Gone): the list has to be read anew."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What is watched: a resource of all namespaces, narrowed by a label selector."""

    group: str
    version: str
    plural: str
    selector: str


@dataclass(frozen=True, slots=True)
class Listed:
    """Everything that there is now; what was known before and is not among it is gone."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Changed:
    """One object was made, changed or deleted."""

    item: Item
    deleted: bool = False


Change: TypeAlias = Listed | Changed


class _ListMeta(View, frozen=True):
    resource_version: str
    continue_: str = msgspec.field(name="continue", default="")


class _Page(View, frozen=True):
    metadata: _ListMeta
    items: list[Item] | None  # Of a kind without any object some servers say null.


class _Event(View, frozen=True):
    type: str
    object: msgspec.Raw


class Changes:
    """The changes of one kind. `on_loss` is told each time that the list has to be read anew."""

    def __init__(self, api: client.ApiClient, kind: Kind, on_loss: Callable[[str], None]) -> None:
        self._objects = client.CustomObjectsApi(api)
        self._kind = kind
        self._on_loss = on_loss

    async def follow(self) -> AsyncGenerator[Change, None]:
        """A `Listed` first and after each loss, `Changed` between; never ends, never raises."""
        pause = 0.0
        while True:
            try:
                version, items = await self._list()
                yield Listed(items)
                # Or this frame would keep them for as long as it watches.
                del items
                pause = 0.0
                async for change in self._watch_on(version):
                    yield change
            except (
                *(Expired, ApiException, ClientError, OSError, TimeoutError),
                msgspec.MsgspecError,
            ) as error:
                self._on_loss(f"{type(error).__name__}: {error}".splitlines()[0])
            pause = min(LONGEST_PAUSE, 2 * pause or 0.2)
            await asyncio.sleep(pause * random.uniform(0.5, 1))  # noqa: S311 - spreads replicas

    async def _list(self) -> tuple[str, tuple[Item, ...]]:
        items: list[Item] = []
        token = ""
        while True:
            response = await self._get(limit=LIST_LIMIT, _continue=token)
            async with response:
                page = msgspec.json.decode(await response.read(), type=_Page)
            items.extend(page.items or ())
            token = page.metadata.continue_
            if not token:
                return page.metadata.resource_version, tuple(items)

    async def _watch_on(self, version: str) -> AsyncGenerator[Changed, None]:
        while True:
            async for kind, item in self._watch(version):
                version = item.metadata.resource_version
                if kind != "BOOKMARK":
                    yield Changed(item, deleted=kind == "DELETED")

    async def _watch(self, version: str) -> AsyncGenerator[tuple[str, Item], None]:
        response = await self._get(
            watch=True,
            resource_version=version,
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
                yield event.type, msgspec.json.decode(event.object, type=Item)

    async def _get(self, **query: Any) -> Any:
        response = await self._objects.list_cluster_custom_object_without_preload_content(
            self._kind.group,
            self._kind.version,
            self._kind.plural,
            label_selector=self._kind.selector,
            _headers={"Accept": JSON},
            **query,
        )
        if response.status == 410:
            raise Expired("410 Gone")
        response.raise_for_status()
        return response


async def _lines(content: Any) -> AsyncGenerator[bytes, None]:
    rest = b""
    async for chunk in content.iter_any():
        *complete, rest = (rest + chunk).split(b"\n")
        for line in complete:
            yield line
