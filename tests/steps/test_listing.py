"""Lists of the cluster, against a real HTTP server that plays a good, slow and strict API."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import pytest
from kubernetes.aio import client

from tests.edge.servers import connected_to
from webhook.cluster.listing import NOT_KNOWN, VISIBILITY, Listing, Unread, listed, pending

pytestmark = pytest.mark.anyio

JOBS = Listing("batch", "v1", "jobs", "team-a", labels="a=b", fields="metadata.name=c")
PATH = "/apis/batch/v1/namespaces/team-a/jobs"
PAGES: dict[str, Any] = {
    "": {"items": [{"a": 1}, {"a": 2}], "metadata": {"continue": "more"}},
    "more": {"items": [{"a": 3}], "metadata": {}},
}
Answered = tuple[int, str]


@dataclass
class Api:
    """An API server that gives these answers first, then pages; and what it was asked."""

    first: list[Answered] = field(default_factory=list)
    delay: float = 0
    calls: list[tuple[str, dict[str, list[str]]]] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        query = parse_qs(scope["query_string"].decode())
        self.calls.append((scope["path"], query))
        await asyncio.sleep(self.delay)
        page = PAGES[query.get("continue", [""])[0]]
        status, body = self.first.pop(0) if self.first else (200, json.dumps(page))
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body.encode()})


@pytest.fixture
def api() -> Api:
    """The API server's behaviour."""
    return Api()


@pytest.fixture
async def connection(api: Api) -> AsyncIterator[client.ApiClient]:
    """A client of that API server."""
    async with connected_to(api) as connection:
        yield connection


async def _listed(connection: client.ApiClient) -> list[Any] | None:
    items = await listed(connection, JOBS, seconds=0.5)
    return None if items is None else [json.loads(bytes(item)) for item in items]


async def test_all_pages_are_one_list(connection: client.ApiClient, api: Api) -> None:
    """With the selectors on each of them."""
    assert await _listed(connection) == [{"a": 1}, {"a": 2}, {"a": 3}]
    asked = {"limit": ["500"], "labelSelector": ["a=b"], "fieldSelector": ["metadata.name=c"]}
    assert api.calls == [(PATH, asked), (PATH, {**asked, "continue": ["more"]})]


async def test_a_page_that_has_expired_is_read_from_the_first_on(
    connection: client.ApiClient, api: Api
) -> None:
    """Nothing is twice in the list."""
    api.first = [(200, json.dumps(PAGES[""])), (410, "{}")]
    assert await _listed(connection) == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert len(api.calls) == 4


async def test_a_kind_that_there_is_not_is_none(connection: client.ApiClient, api: Api) -> None:
    """An answer like any other."""
    api.first = [(404, "404 page not found")]
    assert await _listed(connection) is None


UNREAD: dict[str, tuple[Answered, str, bool]] = {
    "a right that is missing": ((403, '{"message": "not for you"}'), "not for you", True),
    "no credentials": ((401, '{"message": "Unauthorized"}'), NOT_KNOWN, False),
    "an API server that is not well": ((500, "oh"), "the API server answered 500", False),
    "an answer that is no JSON": ((200, "<html>"), "the API server's answer is no list", False),
    "an answer that is no list": ((200, "[]"), "the API server's answer is no list", False),
    "a first page that has expired": ((410, "{}"), "the API server answered 410", False),
}


@pytest.mark.parametrize(("answer", "why", "is_refused"), UNREAD.values(), ids=UNREAD.keys())
async def test_what_can_not_be_read_says_why(
    connection: client.ApiClient, api: Api, answer: Answered, why: str, *, is_refused: bool
) -> None:
    """And whether it is for want of a right."""
    api.first = [answer]
    with pytest.raises(Unread) as error:
        await _listed(connection)
    assert str(error.value).startswith(why)
    assert error.value.is_refused == is_refused


async def test_an_answer_that_takes_too_long_is_none(
    connection: client.ApiClient, api: Api
) -> None:
    """Each page has so many seconds."""
    api.delay = 1
    with pytest.raises(Unread, match=r"did not answer within 0\.5 s"):
        await _listed(connection)


async def test_nobody_who_answers_is_told_with_the_reason() -> None:
    """The address is in it."""
    settings = client.Configuration()
    settings.host = "http://127.0.0.1:1"
    async with client.ApiClient(settings) as nobody:
        with pytest.raises(Unread, match=r"can't be reached: .*127\.0\.0\.1"):
            await _listed(nobody)


async def test_what_waits_in_a_queue_is_asked_of_kueue(
    connection: client.ApiClient, api: Api
) -> None:
    """By the visibility API; None where it is not served."""
    found = await pending(connection, "team-a", "gpus", seconds=0.5)
    assert found is not None
    assert [json.loads(bytes(item)) for item in found] == [{"a": 1}, {"a": 2}]
    path = f"{VISIBILITY}/namespaces/team-a/localqueues/gpus/pendingworkloads"
    assert api.calls == [(path, {})]
    api.first = [(404, "404 page not found")]
    assert await pending(connection, "team-a", "gpus", seconds=0.5) is None
    api.first = [(503, '{"message": "no endpoints"}')]
    with pytest.raises(Unread, match="no endpoints"):
        await pending(connection, "team-a", "gpus", seconds=0.5)
