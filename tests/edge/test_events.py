"""Events against a real HTTP server that takes, refuses, loses and knows them already."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest
from kubernetes.aio import client

from tests.edge.objects_seen import at
from tests.edge.servers import connected_to
from webhook.cluster.events import ATTEMPTS, WRITERS, Events
from webhook.cluster.happenings import Happening
from webhook.cluster.views import Parent
from webhook.rules.reasons import EventReason

pytestmark = pytest.mark.anyio

Answer = tuple[int, dict[str, Any]]
TAKEN: Answer = (201, {})
KNOWN: Answer = (409, {"reason": "AlreadyExists", "message": "already exists"})
NO_RIGHT: Answer = (403, {"reason": "Forbidden", "message": "events is forbidden"})
ENDING: Answer = (
    403,
    {
        "message": "unable to create new content",
        "details": {"causes": [{"reason": "NamespaceTerminating", "message": "is ending"}]},
    },
)
GONE: Answer = (404, {"message": 'namespaces "team" not found'})
INVALID: Answer = (422, {"message": "note: can have at most 1024 characters"})
PARENT = Parent("trainer.kubeflow.org/v1alpha1", "TrainJob", "team", "tune", "tj")


def happening(number: int = 0) -> Happening:
    """One of many."""
    return Happening(EventReason.STEP_EVICTED, PARENT, "wl", at(0), at(number), "Step node stops.")


@dataclass
class Api:
    """Answers each Event with the next of its script, and takes all that come after."""

    script: list[Answer] = field(default_factory=list)
    posted: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    unheard: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        content, more = b"", True
        while more:
            part = await receive()
            content, more = content + part["body"], part["more_body"]
        self.posted.append((scope["path"], json.loads(content)))
        status, body = self.script.pop(0) if self.script else TAKEN
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})
        self.unheard.release()

    async def heard(self, count: int) -> None:
        """Waits for so many more calls, and a moment for one too many."""
        async with asyncio.timeout(10):
            for _ in range(count):
                await self.unheard.acquire()
        for _ in range(10):  # The answer is read meanwhile, however late this is run.
            await asyncio.sleep(0.01)
        assert self.unheard.locked()


@pytest.fixture
def api() -> Api:
    """The API server."""
    return Api()


@dataclass
class Told:
    """What the writer tells: why Events are lost, and of stored ones if they are new."""

    lost: list[str] = field(default_factory=list)
    stored: list[bool] = field(default_factory=list)
    once_lost: asyncio.Event = field(default_factory=asyncio.Event)

    def event_recorded(self, namespace: str, name: str, reason: str, *, new: bool) -> None:
        """An Event is stored."""
        assert (namespace, reason) == ("team", "StepEvicted")
        assert name.startswith("tune.")
        self.stored.append(new)

    def companion_lost(self, what: str, why: str) -> None:
        """Events can't be written."""
        assert what == "write of an Event"
        self.lost.append(why)
        self.once_lost.set()


@pytest.fixture
def told() -> Told:
    """What is told of Events."""
    return Told()


@pytest.fixture
async def events(api: Api, told: Told) -> AsyncIterator[Events]:
    """A writer at work."""
    async with connected_to(api) as connection, working(connection, told) as events:
        yield events


@asynccontextmanager
async def working(connection: client.ApiClient, told: Told) -> AsyncIterator[Events]:
    """A writer that does not wait long between attempts."""
    events = Events(connection, "kueue-steps-0", told, pause=0.01)
    task = asyncio.create_task(events.run())
    yield events
    task.cancel()
    await asyncio.wait([task])


async def test_an_event_is_posted_whole(events: Events, api: Api) -> None:
    """Its fields are those of core/v1, with the times that readers of Events go by."""
    events.put(happening())
    await api.heard(1)
    assert api.posted == [
        (
            "/api/v1/namespaces/team/events",
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"namespace": "team", "name": happening().name},
                "eventTime": "2026-01-01T10:00:00.000000Z",
                "firstTimestamp": "2026-01-01T10:00:00Z",
                "lastTimestamp": "2026-01-01T10:00:00Z",
                "count": 1,
                "type": "Warning",
                "reason": "StepEvicted",
                "action": "Evicted",
                "message": "Step node stops.",
                "involvedObject": {
                    "apiVersion": "trainer.kubeflow.org/v1alpha1",
                    "kind": "TrainJob",
                    "namespace": "team",
                    "name": "tune",
                    "uid": "tj",
                },
                "source": {"component": "kueue-steps"},
                "reportingComponent": "kueue-steps",
                "reportingInstance": "kueue-steps-0",
            },
        )
    ]


PASSING: dict[str, Answer] = {
    "an API server that starts": (503, {}),
    "a bug of the API server": (500, {}),
    "too many requests": (429, {}),
    "a token that has just expired": (401, {}),
}


@pytest.mark.parametrize("answer", PASSING.values(), ids=PASSING.keys())
async def test_what_passes_is_tried_again(
    events: Events, api: Api, told: Told, answer: Answer
) -> None:
    """An Event that is taken in the end was never lost."""
    api.script = [answer] * (ATTEMPTS - 1)
    events.put(happening())
    await api.heard(ATTEMPTS)
    assert len({body["metadata"]["name"] for _, body in api.posted}) == 1
    assert (told.lost, told.stored) == ([], [True])


async def test_what_does_not_pass_is_dropped_and_the_rest_goes_on(
    events: Events, api: Api, told: Told
) -> None:
    """After a few attempts the Event is given up and told of, and others are written."""
    api.script = [(503, {"message": "no leader"})] * ATTEMPTS
    events.put(happening(0))
    await api.heard(ATTEMPTS)
    assert told.lost == ["503 no leader"]
    events.put(happening(1))
    await api.heard(1)
    assert told.lost == ["503 no leader"]


SILENT = {
    "another replica has written it": KNOWN,
    "the namespace is being deleted": ENDING,
    "the namespace is gone": GONE,
}


@pytest.mark.parametrize("answer", SILENT.values(), ids=SILENT.keys())
async def test_what_needs_no_word(events: Events, api: Api, told: Told, answer: Answer) -> None:
    """It is neither tried again nor told of."""
    api.script = [answer]
    events.put(happening())
    await api.heard(1)
    assert told.lost == []
    assert told.stored == ([False] if answer is KNOWN else [])


REFUSED = {"no right": (NO_RIGHT, "403 events is forbidden"), "a bug": (INVALID, "422 note: can")}


@pytest.mark.parametrize(("answer", "why"), REFUSED.values(), ids=REFUSED.keys())
async def test_a_refusal_is_told_once_until_a_write_succeeds(
    events: Events, api: Api, told: Told, answer: Answer, why: str
) -> None:
    """Where RBAC lacks the right the log says so once, and then how many Events it has cost."""
    api.script = [answer] * 20
    for number in range(20):
        events.put(happening(number))
    await api.heard(20)
    assert [text.startswith(why) for text in told.lost] == [True]
    api.script = [TAKEN]
    events.put(happening(20))
    await api.heard(1)
    api.script = [answer]
    events.put(happening(21))
    await api.heard(1)
    assert told.lost == [told.lost[0], "19 more Events were dropped", told.lost[0]]


async def test_an_api_server_that_is_gone_is_told_once(told: Told) -> None:
    """Nobody listens: Events are dropped after their attempts, and the writer lives on."""
    nowhere = client.Configuration(host="http://127.0.0.1:1")
    async with client.ApiClient(nowhere) as connection, working(connection, told) as events:
        for number in range(2 * ATTEMPTS):
            events.put(happening(number))
        async with asyncio.timeout(10):
            await told.once_lost.wait()
        await asyncio.sleep(0.2)
    (why,) = told.lost
    assert "127.0.0.1" in why


async def test_a_queue_that_is_full_takes_no_more_and_says_so(api: Api, told: Told) -> None:
    """Memory stays bounded; half of the room has to be free before old ones are put again."""
    async with connected_to(api) as connection:
        events = Events(connection, "kueue-steps-0", told, places=20)
        taken = [events.put(happening(number)) for number in range(30)]
        assert taken == [True] * 20 + [False] * 10
        writer, room = asyncio.create_task(events.run()), asyncio.create_task(events.room())
        await room
        assert 10 - WRITERS <= len(api.posted) < 20
        assert events.put(happening(20))
        await api.heard(21)
        writer.cancel()
        await asyncio.wait([writer])
    assert (len(told.stored), told.lost) == (21, [])


async def test_an_event_that_nobody_can_write_costs_no_other(
    events: Events, api: Api, told: Told
) -> None:
    """A bug that shows with one Event is told, and the writers live on."""
    for _ in range(WRITERS):
        events.put(replace(happening(), note=cast("str", object())))
    events.put(happening(1))
    await api.heard(1)
    assert told.stored == [True]
    assert len(told.lost) == 2
    assert told.lost[1] == f"{WRITERS - 1} more Events were dropped"
