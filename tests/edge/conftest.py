"""A served application, in memory and on real sockets, with small fakes for what lies behind it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from webhook.http.admission import Admission
from webhook.http.app import admission_app
from webhook.rules.errors import BadReview
from webhook.rules.facts import Absent, Answer, Key, Reader
from webhook.rules.policy import Policy
from webhook.rules.review import Request
from webhook.rules.verdict import Verdict


@dataclass
class Objects(Reader):
    """A reader on a dict."""

    known: dict[Key, Answer] = field(default_factory=dict)
    asked: list[Key] = field(default_factory=list)

    async def read(self, key: Key) -> Answer:
        self.asked.append(key)
        return self.known.get(key, Absent())


@dataclass
class Reports:
    """An observer that remembers."""

    reviewed_calls: list[tuple[str, Request, Verdict]] = field(default_factory=list)
    refusals: list[BadReview] = field(default_factory=list)
    overloads: list[Exception] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    misses: list[tuple[Key, str]] = field(default_factory=list)

    def reviewed(self, path: str, request: Request, verdict: Verdict, seconds: float) -> None:
        assert seconds >= 0
        self.reviewed_calls.append((path, request, verdict))

    def refused(self, path: str, error: BadReview) -> None:
        self.refusals.append(error)

    def overloaded(self, path: str, error: Exception) -> None:
        self.overloads.append(error)

    def failed(self, path: str, error: Exception) -> None:
        self.failures.append(error)

    def unreadable(self, key: Key, why: str) -> None:
        self.misses.append((key, why))


@pytest.fixture
def anyio_backend() -> str:
    """The event loop that the server runs on."""
    return "asyncio"


@pytest.fixture
def objects() -> Objects:
    """What the cluster holds: nothing, unless a test puts it there."""
    return Objects()


@pytest.fixture
def reports() -> Reports:
    """What the edge reports."""
    return Reports()


@pytest.fixture
def app(objects: Objects, reports: Reports) -> Any:
    """The admission application."""
    admission = Admission(objects, Policy(), reports)
    return admission_app(admission.mutate, admission.validate, reports)


@pytest.fixture
async def client(app: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the application, without sockets."""
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="https://webhook") as client:
        yield client
