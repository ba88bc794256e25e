"""What is known of TrainJobs from a watch, and that it is as good as reading them."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from tests.edge.conftest import Reports
from tests.edge.servers import connected_to
from tests.rules.factories import (
    MAX_EXEC,
    MODE,
    OWNER_KEY,
    PRIORITY,
    STEP_QUEUES,
    TRAINJOB_UID,
    S,
    annotated,
    changed,
    labelled,
    stored_trainjob,
    trainer_jobset,
)
from tests.rules.reviews import ALL, create
from webhook.cluster.changes import Begun, Change, Changed, Ended
from webhook.cluster.items import Item
from webhook.cluster.owners import LONGEST, Owners
from webhook.cluster.reader import ClusterReader
from webhook.http.admission import Admission
from webhook.rules import admit, review
from webhook.rules.facts import Facts, Found, Key, trainer_key
from webhook.rules.policy import Kueue, Policy
from webhook.rules.reasons import Reason

KEY = trainer_key("trainjobs", "tune-a", "team-a", TRAINJOB_UID)


def _item(content: dict[str, Any]) -> Item:
    return msgspec.convert(content, Item)


def _knowing(*trainjobs: dict[str, Any]) -> Owners:
    owners = Owners()
    _list(owners, *trainjobs)
    return owners


def _list(owners: Owners, *trainjobs: dict[str, Any]) -> None:
    changes: list[Change] = [Begun(), *(Changed(_item(one)) for one in trainjobs), Ended()]
    for change in changes:
        owners.see(change)


MEANT = annotated(
    labelled(stored_trainjob(), {PRIORITY: "low", MAX_EXEC: "60", "team": "a"}),
    {STEP_QUEUES: "node=big-q", MODE: "step", "note": "x" * 10_000},
)
"""A TrainJob with everything that a step may inherit, and more."""


def _decided(owner: Found) -> bytes:
    """The answer to the create of its JobSet."""
    request = review.read(create(trainer_jobset()))
    facts: Facts = {OWNER_KEY: owner}
    return review.write(request, admit.mutate(request, facts, Policy()))


def test_a_jobset_is_stepped_as_if_its_trainjob_were_read() -> None:
    """What is kept of a TrainJob is all that a rule looks at."""
    known = _knowing(MEANT).find(KEY)
    assert known is not None
    assert _decided(known) == _decided(Found(MEANT))
    assert b'allowed":true,"patchType' in _decided(known)


def test_of_a_trainjob_little_is_kept() -> None:
    """Thousands of them fit, whatever users write into them."""
    padded = annotated(MEANT, {"kueue-steps.io/x": "x" * 10_000, "kueue.x-k8s.io/y": "y"})
    known = _knowing(padded).find(KEY)
    assert known is not None
    assert len(json.dumps(known.content)) < 600


LEFT_TO_THE_READER: dict[str, dict[str, Any]] = {
    "step-queues too long to keep": annotated(MEANT, {STEP_QUEUES: "x" * LONGEST}),
    "an empty queue, which an update may still fill": labelled(MEANT, {S: ""}),
}


@pytest.mark.parametrize("odd", LEFT_TO_THE_READER.values(), ids=LEFT_TO_THE_READER.keys())
def test_what_is_odd_is_read(odd: dict[str, Any]) -> None:
    """Also if it was known before it became so."""
    owners = _knowing(MEANT)
    owners.see(Changed(_item(odd)))
    assert owners.find(KEY) is None


STRANGERS: dict[str, Key] = {
    "of another uid": trainer_key("trainjobs", "tune-a", "team-a", "other"),
    "of another name": trainer_key("trainjobs", "tune-b", "team-a", TRAINJOB_UID),
    "of another namespace": trainer_key("trainjobs", "tune-a", "team-b", TRAINJOB_UID),
    "of no uid": trainer_key("trainjobs", "tune-a", "team-a"),
}


@pytest.mark.parametrize("key", STRANGERS.values(), ids=STRANGERS.keys())
def test_an_owner_is_known_by_its_uid_in_its_place(key: Key) -> None:
    """Who writes an ownerReference may write what he likes into it."""
    assert _knowing(MEANT).find(key) is None


def _gone(owners: Owners) -> None:
    owners.see(Changed(_item(MEANT), deleted=True))


def _listed_without(owners: Owners) -> None:
    _list(owners, changed(MEANT, {"metadata": {"uid": "other"}}))


@pytest.mark.parametrize("end", [_gone, _listed_without])
def test_a_trainjob_that_is_gone_is_forgotten(end: Any) -> None:
    """Whether the watch tells it, or a list that no longer has it."""
    owners = _knowing(MEANT)
    end(owners)
    assert owners.find(KEY) is None


def test_what_changes_is_known_anew() -> None:
    """A priority goes to the steps once the watch has told it."""
    owners = _knowing(stored_trainjob())
    owners.see(Changed(_item(labelled(stored_trainjob(), {PRIORITY: "high"}))))
    known = owners.find(KEY)
    assert known is not None
    assert known.content["metadata"]["labels"] == {S: "gpu-q", PRIORITY: "high"}


class Api:
    """Lists one TrainJob, is silent in watches, and counts what else it is asked for."""

    def __init__(self, *listed: dict[str, Any]) -> None:
        self.listed = listed
        self.reads: list[str] = []
        self.over = asyncio.Event()
        self.watched = asyncio.Event()

    async def __call__(self, scope: Any, _receive: Any, send: Any) -> None:
        """Answers one request."""
        await send({"type": "http.response.start", "status": 200, "headers": []})
        content: dict[str, Any] = {"metadata": {"resourceVersion": "5"}, "items": self.listed}
        if b"watch=" in scope["query_string"]:
            self.watched.set()
            await self.over.wait()
        elif not scope["path"].endswith("/trainjobs"):
            self.reads.append(scope["path"])
            content = MEANT
        await send({"type": "http.response.body", "body": json.dumps(content).encode()})


class Witness:
    """Keeps what is lost."""

    def __init__(self) -> None:
        self.losses: list[str] = []

    def companion_lost(self, what: str, why: str) -> None:
        """A watch is lost."""
        self.losses.append(f"{what}: {why}")


@asynccontextmanager
async def _following(api: Api, owners: Owners, witness: Witness) -> AsyncIterator[ClusterReader]:
    """A reader whose owners have read their first list."""
    async with connected_to(api) as connection:
        task = asyncio.create_task(owners.follow(connection, witness))
        async with asyncio.timeout(10):
            await api.watched.wait()
        try:
            yield ClusterReader(connection, timeout=1, time_to_live=60, owners=owners)
        finally:
            task.cancel()
            api.over.set()
            await asyncio.wait([task])
            assert task.cancelled()


@pytest.mark.anyio
@pytest.mark.parametrize(("listed", "reads"), [((MEANT,), 0), ((), 1)], ids=["known", "not yet"])
async def test_a_jobset_of_an_owner_that_is_known_waits_for_no_read(
    listed: Iterable[dict[str, Any]], reads: int, reports: Reports
) -> None:
    """The whole way of its review: stepped either way, and the API server is asked only if not."""
    api, witness = Api(*listed), Witness()
    policy = Policy(kueue=Kueue(frozenset(ALL)))
    async with _following(api, Owners(), witness) as reader:
        admission = Admission(reader, policy, reports)
        verdict = await admission.mutate(review.read(create(trainer_jobset())))
    assert verdict.reason is Reason.STEPPED_BY_OWNER
    assert len([path for path in api.reads if "/trainjobs/" in path]) == reads
    assert witness.losses == []


@pytest.mark.anyio
async def test_a_bug_ends_no_replica() -> None:
    """It is told, and what there is is listed anew."""

    class Odd(Owners):
        def see(self, change: Change) -> None:
            if not witness.losses:
                raise ValueError(change)
            super().see(change)

    owners, witness = Odd(), Witness()
    async with _following(Api(MEANT), owners, witness):
        assert owners.find(KEY) is not None
    assert witness.losses == ["watch of trainjobs: ValueError(Begun())"]
