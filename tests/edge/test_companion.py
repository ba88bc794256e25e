"""The companion as a whole, against a real HTTP server with one step in one namespace."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from tests.edge.objects_seen import Tree, condition, job, jobset, workload
from tests.edge.servers import connected_to
from webhook.cluster.companion import accompany
from webhook.cluster.items import Item

pytestmark = pytest.mark.anyio

EVENTS = "/api/v1/namespaces/team/events"
WORKLOAD = "/apis/kueue.x-k8s.io/v1beta2/namespaces/team/workloads/job-tune-node-0"


@dataclass
class Api:
    """Lists its objects, and is silent in watches; hangs where an Event is posted."""

    objects: Mapping[str, Item | list[Item]]
    takes_events: bool = True
    events: asyncio.Queue[Tree] = field(default_factory=asyncio.Queue)
    patches: asyncio.Queue[Tree] = field(default_factory=asyncio.Queue)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = (await receive())["body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        content = await self._answer(scope, json.loads(body or b"{}"))
        await send({"type": "http.response.body", "body": json.dumps(content).encode()})

    async def _answer(self, scope: Any, body: Tree) -> Tree:
        path, kind = scope["path"], scope["path"].rpartition("/")[2]
        if path == EVENTS:
            self.events.put_nowait(body)
        if b"watch=" in scope["query_string"] or (path == EVENTS and not self.takes_events):
            await self.over.wait()
        if scope["method"] == "PATCH":
            self.patches.put_nowait(body)
        if path == WORKLOAD:
            return {"metadata": {"resourceVersion": "7"}, "spec": {"active": True}}
        found = self.objects.get(kind, [])
        items = msgspec.to_builtins(found if isinstance(found, list) else [found])
        return {"metadata": {"resourceVersion": "5"}, "items": items}


@dataclass
class Witness:
    """Keeps what is lost."""

    losses: list[str] = field(default_factory=list)

    def event_recorded(self, namespace: str, name: str, reason: str, *, new: bool) -> None:
        """An Event is stored."""

    def workload_switched(self, namespace: str, name: str, action: str) -> None:
        """A Workload was switched."""

    def companion_lost(self, what: str, why: str) -> None:
        """Something is lost."""
        self.losses.append(f"{what}: {why}")


@asynccontextmanager
async def accompanied(api: Api) -> AsyncIterator[None]:
    """A companion at work, that loses nothing."""
    witness = Witness()
    async with connected_to(api) as connection:
        task = asyncio.create_task(accompany(connection, witness, "replica"))
        try:
            async with asyncio.timeout(10):
                yield
        finally:
            task.cancel()
            await asyncio.wait([task])
            api.over.set()
    assert witness.losses == []


def now() -> str:
    """This second, as the API server writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


async def test_a_step_of_which_kueue_says_nothing_is_told_to_wait_all_the_same() -> None:
    """No change follows, and the Event comes when Kueue has had time to say why."""
    objects = {
        "jobs": job(creationTimestamp=now()),
        "jobsets": jobset(),
        "workloads": workload(creationTimestamp=now()),
    }
    api = Api(objects)
    async with accompanied(api):
        event = await api.events.get()
    assert (event["reason"], event["message"]) == (
        "StepQueued",
        "Step node is queued in LocalQueue gpu.",
    )
    assert event["reportingInstance"] == "replica"


async def test_events_that_nobody_takes_hold_no_pause_up() -> None:
    """While writes of Events hang, the quota of a paused step is given back."""
    suspended = condition("Suspended", 0) | {"lastTransitionTime": now()}
    objects = {
        "jobs": job(marked=True, creationTimestamp=now()),
        "jobsets": jobset(suspended, suspended=True),
        "workloads": workload(),
    }
    api = Api(objects, takes_events=False)
    async with accompanied(api):
        assert (await api.events.get())["reason"] == "Paused"
        patch = await api.patches.get()
    assert patch["spec"] == {"active": False}


async def test_a_time_that_is_none_in_utc_costs_no_other_event() -> None:
    """Whoever may write a status may write any time there."""
    odd = condition("Complete", 0) | {"lastTransitionTime": "9999-12-31T23:59:59-05:00"}
    done = condition("Complete", 0) | {"lastTransitionTime": now()}
    jobs = [job(odd, uid="odd"), job(done, name="tune-node-1", uid="done")]
    api = Api({"jobs": jobs, "jobsets": jobset(replicas=2)})
    async with accompanied(api):
        event = await api.events.get()
        await asyncio.sleep(0.1)
    assert event["message"].startswith("Step node (Job tune-node-1) finished")
    assert api.events.empty()
