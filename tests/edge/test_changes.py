"""Watches against a real HTTP server that ends, expires and breaks them."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qs

import msgspec
import pytest
from kubernetes.aio import client

from tests.edge.servers import connected_to
from webhook.cluster.changes import Begun, Changed, Changes, Ended, Kind
from webhook.cluster.pace import SLICE

pytestmark = pytest.mark.anyio

KIND = Kind("batch", "v1", "jobs", "kueue-steps.io/queue-name")


def item(name: str, version: int, **extra: Any) -> dict[str, Any]:
    """An object's metadata."""
    return {"metadata": {"name": name, "uid": name, "resourceVersion": str(version)} | extra}


def event(kind: str, content: dict[str, Any]) -> bytes:
    """One line of a watch."""
    return json.dumps({"type": kind, "object": content}).encode() + b"\n"


@dataclass
class Api:
    """Lists pages in turn, and answers each watch with the next of its scripts."""

    pages: list[dict[str, Any]] = field(default_factory=list)
    watches: list[tuple[int, list[bytes]]] = field(default_factory=list)
    asked: list[dict[str, str]] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    missing: int = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        query = {key: values[0] for key, values in parse_qs(scope["query_string"].decode()).items()}
        self.asked.append(query)
        self.accepted.append(dict(scope["headers"])[b"accept"].decode())
        status, chunks = 200, []
        if self.missing:
            self.missing, status = self.missing - 1, 404
        elif "watch" not in query:
            chunks = [json.dumps(self.pages.pop(0)).encode()]
        elif self.watches:
            status, chunks = self.watches.pop(0)
        else:
            await self.over.wait()
        await send({"type": "http.response.start", "status": status, "headers": []})
        for chunk in chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await asyncio.sleep(0.01)
        await send({"type": "http.response.body", "body": b""})


def page(version: int, *items: dict[str, Any], more: str = "") -> dict[str, Any]:
    """One page of a list."""
    return {"metadata": {"resourceVersion": str(version), "continue": more}, "items": list(items)}


@pytest.fixture
def api() -> Api:
    """The API server's script."""
    return Api()


@pytest.fixture
async def connection(api: Api) -> AsyncIterator[client.ApiClient]:
    """A connection to it."""
    async with connected_to(api) as connection:
        yield connection
        api.over.set()


async def _seen(
    connection: client.ApiClient,
    count: int,
    lost: Callable[[str], None] = lambda _: None,
    *,
    kind: Kind = KIND,
) -> list[str]:
    """The first changes, in short: a list as `=a,b`, a change as `+a`, a deletion as `-a`."""
    seen: list[str] = []
    listed: list[str] | None = None
    changes = Changes(connection, kind, lost).follow()
    async with asyncio.timeout(10):
        async for change in changes:
            match change:
                case Begun():
                    listed = []
                case Ended():
                    seen.append("=" + ",".join(listed or ()))
                    listed = None
                case Changed(item) if listed is not None:
                    listed.append(item.metadata.name)
                case Changed(item, deleted=deleted):
                    seen.append(("-" if deleted else "+") + item.metadata.name)
            if len(seen) == count:
                break
    await changes.aclose()
    return seen


async def test_a_list_in_pages_and_then_every_change(
    api: Api, connection: client.ApiClient
) -> None:
    """Pages are put together, and the watch goes on from the list's version."""
    api.pages = [page(5, item("a", 1), more="next"), page(7, item("b", 2))]
    api.watches = [(200, [event("MODIFIED", item("a", 8)), event("DELETED", item("b", 9))])]
    assert await _seen(connection, 3) == ["=a,b", "+a", "-b"]
    assert api.asked[1]["continue"] == "next"
    assert api.asked[2]["resourceVersion"] == "7"


async def test_of_a_list_one_page_is_held(api: Api, connection: client.ApiClient) -> None:
    """What is listed is handed on page by page: all of it at once would not fit."""
    api.pages = [page(5, item("a", 1), item("b", 2), more="next"), page(7, item("c", 3))]
    changes = Changes(connection, KIND, lambda _: None).follow()
    first = [await anext(changes) for _ in range(3)]
    assert len(api.asked) == 1
    rest = [await anext(changes) for _ in range(2)]
    await changes.aclose()
    assert [type(change) for change in first + rest] == [Begun, *[Changed] * 3, Ended]


async def test_others_run_while_a_page_is_read(api: Api, connection: client.ApiClient) -> None:
    """A review is not kept waiting for the last object of a long list."""
    api.pages = [page(5, *(item(str(number), number) for number in range(10 * SLICE)))]
    changes = Changes(connection, KIND, lambda _: None).follow()
    for _ in range(2):
        await anext(changes)
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    task = asyncio.create_task(others())
    for _ in range(10 * SLICE - 1):
        await anext(changes)
    assert turns > 5
    task.cancel()
    await asyncio.wait([task])
    await changes.aclose()


async def test_a_list_of_nothing_is_no_loss(api: Api, connection: client.ApiClient) -> None:
    """Of a kind without objects the API server lists the metadata as `items: null`."""
    losses: list[str] = []
    api.pages = [page(5) | {"items": None}]
    api.watches = [(200, [event("ADDED", item("a", 6))])]
    assert await _seen(connection, 2, losses.append) == ["=", "+a"]
    assert losses == []


async def test_a_watch_that_ends_goes_on_where_it_was(
    api: Api, connection: client.ApiClient
) -> None:
    """The server ends watches in time; a bookmark moves the place to go on from."""
    api.pages = [page(5)]
    api.watches = [
        (200, [event("ADDED", item("a", 6)), event("BOOKMARK", item("", 50))]),
        (200, [event("ADDED", item("b", 51))]),
    ]
    assert await _seen(connection, 3) == ["=", "+a", "+b"]
    assert [query.get("resourceVersion") for query in api.asked] == [None, "5", "50"]


async def test_a_watch_that_ends_at_once_is_told_and_not_opened_again_at_once(
    api: Api, connection: client.ApiClient
) -> None:
    """A server that lets no watch live is asked more and more seldom, and not for lists."""
    api.pages, api.watches = [page(5)], [(200, [])] * 4
    api.watches.append((200, [event("ADDED", item("a", 6))]))
    losses: list[str] = []
    begun = time.monotonic()
    assert await _seen(connection, 2, losses.append) == ["=", "+a"]
    assert losses == ["the watch has ended at once"] * 4
    assert time.monotonic() - begun > (0.2 + 0.4 + 0.8 + 1.6) / 2


async def test_lists_that_no_watch_follows_are_read_more_and_more_seldom(
    api: Api, connection: client.ApiClient
) -> None:
    """A list that can be read does not end the backing off: the watch has to work too."""
    api.pages, api.watches = [page(5)] * 4, [(410, [])] * 3
    begun = time.monotonic()
    assert await _seen(connection, 4) == ["="] * 4
    assert time.monotonic() - begun > (0.2 + 0.4 + 0.8) / 2


async def test_an_object_that_cannot_be_read_costs_no_other(
    api: Api, connection: client.ApiClient
) -> None:
    """It is left out and told of; the list and the watch go on."""
    odd = {"metadata": {"name": "odd", "resourceVersion": "7", "labels": ["a"]}}
    api.pages = [page(5, odd, item("a", 1))]
    api.watches = [(200, [event("ADDED", odd)]), (200, [event("ADDED", item("b", 8))])]
    losses: list[str] = []
    assert await _seen(connection, 2, losses.append) == ["=a", "+b"]
    assert [loss.split(":")[0] for loss in losses] == ["ValidationError"] * 2
    assert [query.get("resourceVersion") for query in api.asked] == [None, "5", "7"]


GONE = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
LOSSES: dict[str, tuple[int, list[bytes]]] = {
    "410 as an event": (200, [event("ERROR", GONE)]),
    "410 as the answer": (410, [json.dumps(GONE).encode()]),
    "an error of the server": (500, [b"oops"]),
    "a line that is no JSON": (200, [b"<html>\n"]),
}


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES.keys())
async def test_after_a_loss_everything_is_listed_anew(
    api: Api, connection: client.ApiClient, loss: tuple[int, list[bytes]]
) -> None:
    """A watch that can't go on is reported, and followed by a new list."""
    api.pages, api.watches = [page(5, item("a", 1)), page(9, item("b", 8))], [loss]
    reasons: list[str] = []
    assert await _seen(connection, 2, reasons.append) == ["=a", "=b"]
    assert len(reasons) == 1


async def test_lines_longer_than_any_buffer_are_read(
    api: Api, connection: client.ApiClient
) -> None:
    """An object of half a megabyte that comes in pieces is one change."""
    line = event("ADDED", item("big", 6, annotations={"a": "x" * 500_000}))
    api.pages, api.watches = [page(5)], [(200, [line[:200_000], line[200_000:]])]
    assert await _seen(connection, 2) == ["=", "+big"]


async def test_pages_are_short(api: Api, connection: client.ApiClient) -> None:
    """Whole objects are asked for, so a page of large ones must not fill the memory."""
    api.pages, api.watches = [page(5)], [(200, [event("ADDED", item("a", 6))])]
    await _seen(connection, 2)
    assert api.accepted == ["application/json"] * 2
    assert api.asked[0]["limit"] == "100"


async def test_of_a_kind_of_metadata_nothing_else_is_asked_for(
    api: Api, connection: client.ApiClient
) -> None:
    """A list of it and its changes have media types of their own."""
    api.pages, api.watches = [page(5)], [(200, [event("ADDED", item("a", 6))])]
    kind = replace(KIND, is_metadata=True)
    assert await _seen(connection, 2, kind=kind) == ["=", "+a"]
    assert [accept.split(";")[1] for accept in api.accepted] == [
        "as=PartialObjectMetadataList",
        "as=PartialObjectMetadata",
    ]


@pytest.mark.parametrize(("look_again", "lost"), [(0.05, 0), (None, 2)])
async def test_a_kind_that_a_cluster_may_lack_is_looked_for_again(
    api: Api, connection: client.ApiClient, look_again: float | None, lost: int
) -> None:
    """And followed once it is there; of any other kind it is a loss that it is missing."""
    api.pages, api.missing = [page(5, item("a", 1))], 2
    losses: list[str] = []
    kind = replace(KIND, look_again=look_again)
    assert await _seen(connection, 1, losses.append, kind=kind) == ["=a"]
    assert len(losses) == lost


async def test_an_object_too_deep_to_read_costs_no_other(
    api: Api, connection: client.ApiClient
) -> None:
    """It is told, and everything is listed anew."""
    deep = b'{"type": "ADDED", "object": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001 + b"\n"
    api.pages = [page(5, item("a", 1)), page(9, item("b", 8))]
    api.watches = [(200, [deep])]
    losses: list[str] = []
    assert await _seen(connection, 2, losses.append) == ["=a", "=b"]
    assert len(losses) == 1


async def test_of_an_object_only_the_slim_view_is_kept(
    api: Api, connection: client.ApiClient
) -> None:
    """Pod templates and managed fields are skipped, odd times are left as they are."""
    body = {
        "metadata": {"name": "a", "uid": "a", "managedFields": [{"manager": "m" * 1000}]},
        "spec": {"suspend": True, "template": {"spec": {"containers": [{"env": ["x" * 1000]}]}}},
        "status": {"conditions": [{"type": "Complete", "lastTransitionTime": "0000-00-00"}]},
    }
    api.pages = [page(5, body)]
    changes = Changes(connection, KIND, lambda _: None).follow()
    _, listed = await anext(changes), await anext(changes)
    await changes.aclose()
    assert isinstance(listed, Changed)
    kept = msgspec.json.encode(listed.item)
    assert len(kept) < 200
    assert b"0000-00-00" in kept
