"""Reads a cluster once, for whoever examines it: concurrent, each read bounded in time.

What may not be read, or not in time, is an answer like any other. Nothing is cached and nothing is
written: a SubjectAccessReview is a question that happens to be a POST.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgspec
from aiohttp import ClientError
from kubernetes.aio import client

from webhook.cluster.calls import call, message
from webhook.cluster.connection import NoCluster
from webhook.rules.facts import Absent, Answer, Found, Unreadable

SIDE_BY_SIDE: Final = 8
PAGE: Final = 500
UNAUTHORIZED: Final = 401
NOT_FOUND: Final = 404
GOOD: Final = frozenset({200, 201})


@dataclass(frozen=True, slots=True)
class Question:
    """One read: an object, or a list in pages, narrowed by a label selector.

    With a `body`, JSON, it is a POST: how one asks what somebody may do.
    """

    path: str
    selector: str = ""
    is_list: bool = False
    body: str = ""


Answers: TypeAlias = Mapping[Question, Answer]

VERSION: Final = Question("/version")


async def survey(
    api: client.ApiClient, needs: Callable[[Answers], Iterable[Question]], *, seconds: float
) -> dict[Question, Answer]:
    """Every answer that `needs` asks for, given the answers so far, until it asks for no more.

    `seconds` bounds each page of each answer. Raises NoCluster if the API server can't be
    reached at all or does not know who asks.
    """
    answers: dict[Question, Answer] = {VERSION: await _greet(api, seconds)}
    turns = asyncio.Semaphore(SIDE_BY_SIDE)

    async def ask(question: Question) -> None:
        async with turns:
            answers[question] = await _answer(api, question, seconds)

    while new := set(needs(dict(answers))) - answers.keys():
        async with asyncio.TaskGroup() as tasks:
            for question in new:
                tasks.create_task(ask(question))
    return answers


async def _greet(api: client.ApiClient, seconds: float) -> Answer:
    try:
        status, content = await _call(api, VERSION, {}, seconds)
    except _Unanswered as error:
        raise NoCluster(
            f"The API server {api.configuration.host} can't be reached: {error}. "
            "Check that the cluster runs, or name another one with --kubeconfig."
        ) from error
    if status == UNAUTHORIZED:
        raise NoCluster(
            f"The API server {api.configuration.host} does not accept these credentials. "
            "Log in again, or name others with --kubeconfig."
        )
    return _judged(status, content)


async def _answer(api: client.ApiClient, question: Question, seconds: float) -> Answer:
    try:
        if question.is_list:
            return await _listed(api, question, seconds)
        return _judged(*await _call(api, question, {}, seconds))
    except _Unanswered as error:
        return Unreadable(str(error))


async def _listed(api: client.ApiClient, question: Question, seconds: float) -> Answer:
    """All pages as one list."""
    items: list[Any] = []
    query = {"limit": str(PAGE)}
    while True:
        answer = _judged(*await _call(api, question, query, seconds))
        if not isinstance(answer, Found):
            return answer
        items += answer.content.get("items") or []
        token = (answer.content.get("metadata") or {}).get("continue")
        if not token:
            return Found({"items": items})
        query["continue"] = token


class _Unanswered(Exception):
    """No HTTP answer came; the message says why."""


async def _call(
    api: client.ApiClient, question: Question, query: Mapping[str, str], seconds: float
) -> tuple[int, bytes]:
    query = {**query, **({"labelSelector": question.selector} if question.selector else {})}
    try:
        async with asyncio.timeout(seconds):
            response = await call(
                api,
                "POST" if question.body else "GET",
                question.path,
                query=query,
                body=msgspec.json.decode(question.body) if question.body else None,
            )
            return response.status, await response.read()
    except TimeoutError as error:
        raise _Unanswered(f"there was no answer within {seconds:g} s") from error
    except (ClientError, OSError) as error:
        raise _Unanswered(str(error) or type(error).__name__) from error


def _judged(status: int, content: bytes) -> Answer:
    if status == NOT_FOUND:
        return Absent()
    if status not in GOOD:
        return Unreadable(message(content) or f"the API server answered {status}")
    try:
        return Found(msgspec.json.decode(content))
    except msgspec.DecodeError:
        return Unreadable("the API server's answer is no JSON")
