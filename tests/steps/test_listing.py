"""Lists of the cluster, against a real HTTP server that plays a good, slow and strict API."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qs

import pytest
from kubernetes.aio import client

from tests.edge.servers import connected_to
from webhook.cluster.listing import (
    NOT_KNOWN,
    RESTARTS,
    VISIBILITY,
    Listing,
    NoQueue,
    Unread,
    listed,
    pending,
)

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


async def _listed(connection: client.ApiClient, listing: Listing = JOBS) -> list[Any] | None:
    items = await listed(connection, listing, seconds=0.5)
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


async def test_pages_that_always_expire_are_given_up(
    connection: client.ApiClient, api: Api
) -> None:
    """After a few tries, and it is said what to ask for."""
    api.first = [(200, json.dumps(PAGES[""])), (410, "{}")] * 9
    with pytest.raises(Unread, match=r"list of jobs changes faster .* ask for one namespace"):
        await _listed(connection)
    assert len(api.calls) == 2 * (1 + RESTARTS)


async def test_a_list_that_may_lag_behind_is_the_api_servers_own(
    connection: client.ApiClient, api: Api
) -> None:
    """Only its beginning says so: the pages after it are of the same state."""
    assert await _listed(connection, replace(JOBS, is_cached=True)) == [
        {"a": 1},
        {"a": 2},
        {"a": 3},
    ]
    assert [query.get("resourceVersion") for _, query in api.calls] == [["0"], None]
    api.calls.clear()
    await _listed(connection)
    assert [query.get("resourceVersion") for _, query in api.calls] == [None, None]


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
    assert api.calls == [(path, {"limit": ["1000"], "offset": ["0"]})]
    api.first = [(404, "404 page not found")]
    assert await pending(connection, "team-a", "gpus", seconds=0.5) is None
    api.first = [(503, '{"message": "no endpoints"}')]
    with pytest.raises(Unread, match="no endpoints"):
        await pending(connection, "team-a", "gpus", seconds=0.5)


NOT_FOUND = {
    "kind": "Status",
    "message": 'localqueue.visibility.kueue.x-k8s.io "gpus" not found',
    "details": {"name": "gpus", "group": "visibility.kueue.x-k8s.io", "kind": "localqueue"},
}


async def test_a_queue_that_kueue_does_not_know_is_told_from_an_api_that_is_not_served(
    connection: client.ApiClient, api: Api
) -> None:
    """Both are answered with 404."""
    api.first = [(404, json.dumps(NOT_FOUND))]
    with pytest.raises(NoQueue):
        await pending(connection, "team-a", "gpus", seconds=0.5)
    for other in ("404 page not found", '{"kind": "Status", "details": {"kind": "namespaces"}}'):
        api.first = [(404, other)]
        assert await pending(connection, "team-a", "gpus", seconds=0.5) is None


LENGTHS = ((0, 1000), (1000, 2000), (2000, 2300))


async def test_more_than_a_thousand_that_wait_are_read_in_pages(
    connection: client.ApiClient, api: Api
) -> None:
    """Kueue gives so many at once, and from an offset on."""
    pages = [[{"a": number} for number in range(first, last)] for first, last in LENGTHS]
    api.first = [(200, json.dumps({"items": page})) for page in pages]
    found = await pending(connection, "team-a", "gpus", seconds=5)
    assert [json.loads(bytes(item))["a"] for item in found or ()] == list(range(2300))
    assert [query["offset"] for _, query in api.calls] == [["0"], ["1000"], ["2000"]]
