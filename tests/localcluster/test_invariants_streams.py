"""How the watcher's streams get over what an API server does to them."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import pytest

from localcluster.invariants.judge import Kind
from localcluster.invariants.streams import Back, Change, Changed, Listed, Lost, Stream
from localcluster.invariants.watcher import Watcher, WatcherLost
from localcluster.manifests import Object

pytestmark = pytest.mark.anyio

Answer = httpx.Response | Exception


def pod(name: str, version: int) -> Object:
    """An object as far as a stream looks at it."""
    return {"metadata": {"name": name, "resourceVersion": str(version)}}


def listed(version: int, *items: Object) -> httpx.Response:
    """The answer to a list."""
    return httpx.Response(
        200, json={"metadata": {"resourceVersion": str(version)}, "items": list(items)}
    )


class Events(httpx.AsyncByteStream):
    """A watch that sends these events and then ends, or breaks."""

    def __init__(self, *events: tuple[str, Object], breaks: bool = False) -> None:
        self._events = events
        self._breaks = breaks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for kind, item in self._events:
            yield json.dumps({"type": kind, "object": item}).encode() + b"\n"
        if self._breaks:
            raise httpx.ReadError("connection reset")


def watched(*events: tuple[str, Object], breaks: bool = False) -> httpx.Response:
    """The answer to a watch."""
    return httpx.Response(200, stream=Events(*events, breaks=breaks))


class Server:
    """Answers in turn, and keeps what was asked; the last answer is a connection refused."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        query = request.url.params
        self.asked.append(f"watch from {query['resourceVersion']}" if "watch" in query else "list")
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def changes(server: Callable[[httpx.Request], httpx.Response], count: int) -> list[Change]:
    """The first changes of a stream."""
    seen: list[Change] = []
    transport = httpx.MockTransport(server)
    async with httpx.AsyncClient(transport=transport, base_url="http://api") as http:
        stream = Stream(http, Kind.PODS).follow()
        async for change in stream:
            seen.append(change)
            if len(seen) == count:
                break
        await stream.aclose()
    return seen


async def test_a_list_is_followed_by_its_changes() -> None:
    """A watch goes on from the list, and a watch that ends from the last version seen."""
    one, two = pod("one", 3), pod("two", 6)
    server = Server(
        listed(2),
        watched(("ADDED", one), ("BOOKMARK", pod("", 5))),
        watched(("DELETED", two)),
    )
    assert await changes(server, 3) == [Listed([]), Changed(one, False), Changed(two, True)]
    assert server.asked == ["list", "watch from 2", "watch from 5"]


async def test_a_killed_api_server_is_told_of_once_and_asked_until_it_is_back() -> None:
    """Nothing is listed anew, because etcd kept its versions."""
    one, two = pod("one", 3), pod("two", 4)
    server = Server(
        listed(2),
        watched(("ADDED", one), breaks=True),
        httpx.ConnectError("connection refused"),
        httpx.Response(404),
        watched(("ADDED", two)),
    )
    assert await changes(server, 5) == [
        *(Listed([]), Changed(one, False)),
        *(Lost(), Back(), Changed(two, False)),
    ]
    assert server.asked == ["list", "watch from 2", *["watch from 3"] * 3]


EXPIRED = {
    "as an answer": httpx.Response(410),
    "as an event": watched(("ERROR", {"code": 410})),
}


@pytest.mark.parametrize("how", EXPIRED.values(), ids=EXPIRED.keys())
async def test_expired_versions_are_listed_anew(how: httpx.Response) -> None:
    """410 Gone, in either form, means that events were missed."""
    one = pod("one", 8)
    server = Server(listed(2), how, listed(8, one), watched())
    assert await changes(server, 2) == [Listed([]), Listed([one])]
    assert server.asked[:3] == ["list", "watch from 2", "list"]


async def test_a_server_that_is_not_there_yet_is_waited_for() -> None:
    """The first list may fail too."""
    server = Server(httpx.ConnectError("connection refused"), listed(2), watched())
    assert await changes(server, 3) == [Lost(), Listed([]), Back()]


def test_a_watcher_that_broke_says_so_instead_of_finding_nothing(tmp_path: Path) -> None:
    """Without a kubeconfig nothing can be seen: no verdict is given."""
    watcher = Watcher(tmp_path / "missing.yaml", tmp_path / "audit.jsonl")
    with pytest.raises(WatcherLost, match="No such file"), watcher:
        watcher.violations()
