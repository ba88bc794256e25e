"""Reads for an examination, against a real HTTP server that plays a good, slow and strict API."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import pytest
from kubernetes.aio import client

from tests.edge.servers import connected_to
from webhook.cluster.connection import NoCluster
from webhook.cluster.survey import VERSION, Answers, Question, survey
from webhook.rules.facts import Absent, Found, Unreadable

pytestmark = pytest.mark.anyio

ONE = Question("/api/v1/namespaces/team-a")
JOBS = Question("/apis/batch/v1/jobs", selector="a=b", is_list=True)
REVIEW = Question("/apis/authorization.k8s.io/v1/subjectaccessreviews", body='{"spec":{}}')
PAGES: dict[str, Any] = {
    "": {"items": [1, 2], "metadata": {"continue": "more"}},
    "more": {"items": [3], "metadata": {}},
}


@dataclass
class Api:
    """An API server: what it answers by path, how late, and what it was asked."""

    statuses: dict[str, int] = field(default_factory=dict)
    slow: set[str] = field(default_factory=set)
    calls: list[tuple[str, str, dict[str, list[str]]]] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        path, query = scope["path"], parse_qs(scope["query_string"].decode())
        self.calls.append((scope["method"], path, query))
        await asyncio.sleep(2 if path in self.slow else 0)
        content: Any = {"path": path}
        if path == JOBS.path:
            content = PAGES[query.get("continue", [""])[0]]
        status = self.statuses.get(path, 200)
        if status != 200:
            content = {"message": "not for you"} if status == 403 else None
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(content).encode()})


@pytest.fixture
def api() -> Api:
    """The API server's behaviour."""
    return Api()


@pytest.fixture
async def connection(api: Api) -> AsyncIterator[client.ApiClient]:
    """A client of that API server."""
    async with connected_to(api) as opened:
        yield opened


async def _ask(connection: client.ApiClient, *questions: Question, seconds: float = 10) -> Answers:
    return await survey(connection, lambda _: questions, seconds=seconds)


async def test_objects_lists_and_reviews_are_answered(
    connection: client.ApiClient, api: Api
) -> None:
    """A list in all its pages and with its selector; what has a body is posted; once each."""
    answers = await _ask(connection, ONE, JOBS, REVIEW, VERSION)
    assert answers[ONE] == Found({"path": ONE.path})
    assert answers[JOBS] == Found({"items": [1, 2, 3]})
    assert sorted((method, path) for method, path, _ in api.calls) == [
        ("GET", ONE.path),
        *[("GET", JOBS.path)] * 2,
        ("GET", VERSION.path),
        ("POST", REVIEW.path),
    ]
    assert all(
        query["labelSelector"] == ["a=b"] for _, path, query in api.calls if path == JOBS.path
    )


async def test_answers_lead_to_further_questions(connection: client.ApiClient, api: Api) -> None:
    """What is asked next depends on what is known, until there is nothing new."""

    def needs(known: Answers) -> Iterable[Question]:
        yield JOBS
        if JOBS in known:
            yield ONE

    answers = await survey(connection, needs, seconds=10)
    assert set(answers) == {VERSION, JOBS, ONE}
    assert api.calls[-1][1] == ONE.path


UNREADABLE = {
    "forbidden": (403, "not for you"),
    "broken": (500, "answered 500"),
}


@pytest.mark.parametrize(("status", "words"), UNREADABLE.values(), ids=UNREADABLE.keys())
async def test_what_can_not_be_read_says_why(
    connection: client.ApiClient, api: Api, status: int, words: str
) -> None:
    """In the API server's own words where it has some; the others are read all the same."""
    api.statuses = {ONE.path: status, JOBS.path: 404}
    answers = await _ask(connection, ONE, JOBS, REVIEW)
    answer = answers[ONE]
    assert isinstance(answer, Unreadable)
    assert words in answer.why
    assert answers[JOBS] == Absent()
    assert isinstance(answers[REVIEW], Found)


async def test_a_slow_answer_is_not_waited_for(connection: client.ApiClient, api: Api) -> None:
    """Each read has its own bound."""
    api.slow = {ONE.path}
    answers = await _ask(connection, ONE, REVIEW, seconds=1)
    assert answers[ONE] == Unreadable("there was no answer within 1 s")
    assert isinstance(answers[REVIEW], Found)


async def test_credentials_that_are_not_known_end_it(
    connection: client.ApiClient, api: Api
) -> None:
    """Nothing can be told then, and the message says what to do."""
    api.statuses = {VERSION.path: 401}
    with pytest.raises(NoCluster, match=r"does not accept these credentials.*--kubeconfig"):
        await _ask(connection, ONE)


async def test_an_api_server_that_hangs_ends_it(connection: client.ApiClient, api: Api) -> None:
    """So does one that does not answer the first question in time."""
    api.slow = {VERSION.path}
    with pytest.raises(NoCluster, match=r"can't be reached: there was no answer within 1 s"):
        await _ask(connection, ONE, seconds=1)
