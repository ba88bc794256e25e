"""Reads of the cluster, against a real HTTP server that plays a good, a slow and a broken API."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from kubernetes.aio import client
from msgspec.structs import replace

from tests.edge.conftest import Reports
from tests.edge.reviews import jobset, review
from tests.edge.servers import connected_to
from webhook.cluster.reader import ClusterReader
from webhook.http.admission import Admission
from webhook.http.app import admission_app
from webhook.rules.facts import Absent, Found, Key, Unreadable, trainer_key
from webhook.rules.policy import Policy

pytestmark = pytest.mark.anyio

RUNTIME = trainer_key("clustertrainingruntimes", "torch")
TRAINJOB = trainer_key("trainjobs", "tune", "team-a", "u")
PATHS = {
    RUNTIME: "/apis/trainer.kubeflow.org/v1alpha1/clustertrainingruntimes/torch",
    TRAINJOB: "/apis/trainer.kubeflow.org/v1alpha1/namespaces/team-a/trainjobs/tune",
}


@dataclass
class Api:
    """An API server of two objects; `status` and `delay` are what it answers with, and when."""

    status: int = 200
    delay: float = 0
    padding: int = 0
    calls: list[str] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.calls.append(scope["path"])
        self.accepted.append(dict(scope["headers"])[b"accept"].decode())
        await asyncio.sleep(self.delay)
        content = {"metadata": {"name": scope["path"].rpartition("/")[2]}}
        body = json.dumps(content).encode() + b" " * self.padding
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@pytest.fixture
def api() -> Api:
    """The API server's behaviour."""
    return Api()


@pytest.fixture
async def reader(api: Api) -> AsyncIterator[ClusterReader]:
    """A reader of that API server, in no hurry."""
    async with connected_to(api) as connection:
        yield ClusterReader(connection, timeout=10, time_to_live=60)


@pytest.fixture
async def hasty(api: Api) -> AsyncIterator[ClusterReader]:
    """One with a time-out of a second."""
    async with connected_to(api) as connection:
        yield ClusterReader(connection, timeout=1, time_to_live=60)


@pytest.mark.parametrize("key", PATHS, ids=lambda key: key.plural)
async def test_an_object_is_found_at_its_path(reader: ClusterReader, api: Api, key: Key) -> None:
    """Cluster-wide and namespaced objects are read from their own paths."""
    assert await reader.read(key) == Found({"metadata": {"name": key.name}})
    assert api.calls == [PATHS[key]]


async def test_a_missing_object_is_absent(reader: ClusterReader, api: Api) -> None:
    """404 is an answer."""
    api.status = 404
    assert await reader.read(RUNTIME) == Absent()


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
async def test_a_refused_read_is_unreadable(reader: ClusterReader, api: Api, status: int) -> None:
    """Any other status means that we don't know, and says so for the log."""
    api.status = status
    answer = await reader.read(RUNTIME)
    assert isinstance(answer, Unreadable)
    assert str(status) in answer.why


async def test_a_slow_api_server_is_not_waited_for(hasty: ClusterReader, api: Api) -> None:
    """C23: a read ends at its bound, whatever the API server does."""
    api.delay = 5
    async with asyncio.timeout(4):
        answer = await hasty.read(RUNTIME)
    assert answer == Unreadable("the API server did not answer within 1 s")


async def test_an_api_server_that_is_gone_is_unreadable() -> None:
    """A refused connection is no exception."""
    async with client.ApiClient(client.Configuration(host="http://127.0.0.1:1")) as connection:
        answer = await ClusterReader(connection, timeout=1, time_to_live=60).read(RUNTIME)
    assert isinstance(answer, Unreadable)


async def test_runtimes_are_remembered_and_trainjobs_are_not(
    reader: ClusterReader, api: Api
) -> None:
    """A runtime is read once in a while; a TrainJob each time, since its uid is checked."""
    for key in (RUNTIME, RUNTIME, TRAINJOB, TRAINJOB):
        await reader.read(key)
    assert api.calls == [PATHS[RUNTIME], PATHS[TRAINJOB], PATHS[TRAINJOB]]


async def test_of_trainjobs_only_metadata_is_asked_for(reader: ClusterReader, api: Api) -> None:
    """A TrainJob may be large, and is read at every create of its JobSet."""
    await reader.read(RUNTIME)
    await reader.read(TRAINJOB)
    whole, partial = api.accepted
    assert whole == "application/json"
    assert partial.startswith("application/json;as=PartialObjectMetadata;")


async def test_reviews_that_ask_at_once_share_one_read(reader: ClusterReader, api: Api) -> None:
    """When the memory of a runtime ends, a burst of reviews asks the API server once."""
    api.delay = 0.05
    answers = await asyncio.gather(*(reader.read(RUNTIME) for _ in range(25)))
    assert api.calls == [PATHS[RUNTIME]]
    assert all(isinstance(answer, Found) for answer in answers)


async def test_every_jobset_has_its_trainjob_read_anew(reader: ClusterReader, api: Api) -> None:
    """A read that another review began may be older than the TrainJob."""
    api.delay = 0.05
    await asyncio.gather(reader.read(TRAINJOB), reader.read(TRAINJOB))
    assert api.calls == [PATHS[TRAINJOB], PATHS[TRAINJOB]]


async def test_what_a_shared_read_did_not_find_is_asked_for_again(
    reader: ClusterReader, api: Api
) -> None:
    """A runtime may have been made while another review's read was under way."""
    api.delay, api.status = 0.05, 404
    first = asyncio.create_task(reader.read(RUNTIME))
    await asyncio.sleep(0)
    second = asyncio.create_task(reader.read(RUNTIME))
    assert await first == Absent()
    api.status = 200
    assert isinstance(await second, Found)


async def test_what_a_shared_read_missed_is_read_once_for_all(
    reader: ClusterReader, api: Api
) -> None:
    """Of a runtime that there is not, 25 reviews at once make two reads."""
    api.delay, api.status = 0.05, 404
    answers = await asyncio.gather(*(reader.read(RUNTIME) for _ in range(25)))
    assert answers == [Absent()] * 25
    assert len(api.calls) == 2


async def test_a_failure_is_not_shared(hasty: ClusterReader, api: Api) -> None:
    """A review that came late into a read that hangs has its own time: whole is for ever."""
    api.delay = 1.2
    first = asyncio.create_task(hasty.read(RUNTIME))
    await asyncio.sleep(0.6)
    api.delay = 0
    assert isinstance(await hasty.read(RUNTIME), Found)
    assert isinstance(await first, Unreadable)


async def test_a_read_that_follows_another_keeps_the_bound(hasty: ClusterReader, api: Api) -> None:
    """Who joins a read and then has to ask anew waits no longer than others."""
    api.delay, api.status = 0.6, 404
    first = asyncio.create_task(hasty.read(RUNTIME))
    await asyncio.sleep(0)
    answer = await hasty.read(RUNTIME)
    assert answer == Unreadable("the API server did not answer within 1 s")
    assert await first == Absent()


async def test_without_memory_nothing_is_shared(api: Api) -> None:
    """`lookups.cacheSeconds: 0` asks each time."""
    api.delay = 0.05
    async with connected_to(api) as connection:
        reader = ClusterReader(connection, timeout=10, time_to_live=0)
        await asyncio.gather(reader.read(RUNTIME), reader.read(RUNTIME))
    assert len(api.calls) == 2


async def test_a_review_that_is_given_up_takes_no_other_with_it(
    reader: ClusterReader, api: Api
) -> None:
    """The one that began the read may be cancelled; who joined it gets the answer."""
    api.delay = 0.05
    first = asyncio.create_task(reader.read(RUNTIME))
    await asyncio.sleep(0)
    second = asyncio.create_task(reader.read(RUNTIME))
    await asyncio.sleep(0)
    first.cancel()
    assert isinstance(await second, Found)
    assert api.calls == [PATHS[RUNTIME]]


async def test_what_is_remembered_has_a_size(reader: ClusterReader, api: Api) -> None:
    """Three objects of 3 MiB are more than is kept: the first is read anew."""
    api.padding = 3 * 1024 * 1024
    keys = [replace(RUNTIME, name=name) for name in ("a", "b", "c", "a", "c")]
    for key in keys:
        await reader.read(key)
    assert [call.rpartition("/")[2] for call in api.calls] == ["a", "b", "c", "a"]


async def test_an_object_that_is_read_anew_counts_once(api: Api) -> None:
    """Else one that is read often would make the reader forget all the others."""
    api.padding = 3 * 1024 * 1024
    often, other = (replace(RUNTIME, name=name) for name in ("often", "other"))
    async with connected_to(api) as connection:
        reader = ClusterReader(connection, timeout=10, time_to_live=3.0)
        await reader.read(often)
        await asyncio.sleep(2.0)
        await reader.read(other)
        await asyncio.sleep(1.2)
        await reader.read(often)
        assert len(api.calls) == 3
        assert reader.at_hand(other) is not None


async def test_failures_are_not_remembered(reader: ClusterReader, api: Api) -> None:
    """After a failed read the next one asks again."""
    api.status = 503
    await reader.read(RUNTIME)
    api.status = 200
    assert isinstance(await reader.read(RUNTIME), Found)


async def test_a_jobset_whose_owner_cannot_be_read_is_denied_in_time(
    hasty: ClusterReader, api: Api, reports: Reports
) -> None:
    """C23: with the API server hanging, a JobSet of a TrainJob is denied, logged, never run."""
    api.delay = 2
    owned = jobset()
    owned["metadata"]["ownerReferences"] = [
        {
            "apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": "TrainJob",
            "name": "tune",
            "uid": "u",
            "controller": True,
        }
    ]
    admission = Admission(hasty, Policy(), reports)
    app = admission_app(admission.mutate, admission.validate, reports)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="https://webhook") as caller:
        response = (await caller.post("/mutate", json=review(owned))).json()["response"]
    assert response["allowed"] is False
    assert "could not be read" in response["status"]["message"]
    assert [key for key, _ in reports.misses] == [TRAINJOB]


@pytest.mark.parametrize(
    "name", ["../../other/trainingruntimes/x", "a?watch=1", "%2e%2e", "a/b", ""]
)
async def test_a_name_never_leads_to_another_path(
    reader: ClusterReader, api: Api, name: str
) -> None:
    """What can't be an object's name is absent without a call."""
    assert await reader.read(trainer_key("trainingruntimes", name, "team-a")) == Absent()
    assert api.calls == []
