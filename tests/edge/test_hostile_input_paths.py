"""What a review names is looked up in its own namespace, and nowhere else, however it is spelt.

The reads carry the server's token, so a name that leads to another path would read for a stranger
what the server may read (as in CVE-2026-22039).
"""

import json
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.edge.conftest import Reports
from tests.edge.servers import connected_to
from tests.rules.factories import (
    PRIORITY,
    STEP_QUEUES,
    Q,
    changed,
    owner,
    step,
    trainer_jobset,
    trainjob,
    user_jobset,
)
from tests.rules.reviews import create
from webhook.cluster.reader import ClusterReader
from webhook.http.admission import Admission
from webhook.http.app import admission_app
from webhook.rules.policy import Policy

pytestmark = pytest.mark.anyio

NAME = r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?"
ALLOWED = (
    rf"/apis/trainer\.kubeflow\.org/v1alpha1/namespaces/team-a/(trainjobs|trainingruntimes)/{NAME}",
    rf"/apis/trainer\.kubeflow\.org/v1alpha1/clustertrainingruntimes/{NAME}",
    rf"/apis/kueue\.x-k8s\.io/v1beta2/namespaces/team-a/localqueues/{NAME}",
    rf"/apis/kueue\.x-k8s\.io/v1beta2/(clusterqueues|admissionchecks)/{NAME}",
    rf"/apis/kueue\.x-k8s\.io/v1beta2/workloadpriorityclasses/{NAME}",
    r"/api/v1/namespaces/kueue-system/configmaps/kueue-manager-config",
)
"""Every path that a review in team-a may lead to; a query never belongs to it."""


@dataclass
class Api:
    """An API server that has whatever is asked for; `content` is the spec of all its objects."""

    content: dict[str, Any] = field(default_factory=dict)
    targets: list[str] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        query = scope["query_string"]
        self.targets.append((scope["raw_path"] + (b"?" + query if query else b"")).decode())
        body = json.dumps({"metadata": {"uid": "u"}, "spec": self.content}).encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})


@pytest.fixture
def api() -> Api:
    """The API server."""
    return Api()


@pytest.fixture
async def webhook(api: Api) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the whole edge, which reads from that API server."""
    async with connected_to(api) as connection:
        reader = ClusterReader(connection, timeout=1, time_to_live=0)
        admission = Admission(reader, Policy(), reports := Reports())
        app = admission_app(admission.mutate, admission.validate, reports)
        transport = httpx.ASGITransport(app=app)
        headers = {"content-type": "application/json"}
        async with httpx.AsyncClient(
            transport=transport, base_url="https://webhook", headers=headers
        ) as client_:
            yield client_
    assert reports.failures == []


def _owned(name: str) -> Any:
    reference = owner("TrainJob", name, "u", "trainer.kubeflow.org/v1alpha1")
    return changed(trainer_jobset(), {"metadata": {"ownerReferences": [reference]}})


PLACES: dict[str, Callable[[str], bytes]] = {
    "the queue": lambda name: create(trainjob({Q: name})),
    "a queue in the annotation": lambda name: create(
        trainjob(annotations={STEP_QUEUES: f"node={name}"})
    ),
    "a step's own queue": lambda name: create(
        user_jobset(steps=[step("a", labels={Q: name}), step("b", "a")])
    ),
    "the priority class": lambda name: create(trainjob({Q: "gpu-q", PRIORITY: name})),
    "the runtime": lambda name: create(trainjob(runtimeRef={"name": name})),
    "a namespaced runtime": lambda name: create(
        trainjob(runtimeRef={"name": name, "kind": "TrainingRuntime"})
    ),
    "the owner": lambda name: create(_owned(name)),
}
SECRET = "namespaces/kueue-steps-system/secrets/kueue-steps-tls"
NAMES: dict[str, str] = {
    "up and down again": f"../../../../../../api/v1/{SECRET}",
    "up, and the rest as a query": f"../../../../../../api/v1/{SECRET}?",
    "up, and the rest as a fragment": f"../../../../../../api/v1/{SECRET}#",
    "one up": "..",
    "here": ".",
    "percent-encoded": "%2e%2e%2f%2e%2e%2fsecrets%2fx",
    "encoded twice": "%252e%252e%252fx",
    "a subresource": "gpu/status",
    "a query": "gpu?watch=1",
    "another address": "//evil.example.com/x",
    "a whole URL": "http://evil.example.com/",
    "an @": "gpu@evil.example.com",
    "a backslash": "..\\..\\x",
    "line breaks": "gpu\r\nHost: evil.example.com\r\n\r\nGET /x",
    "a line break behind": "gpu\n",
    "a NUL": "gpu\x00",
    "a wide full stop": "\N{FULLWIDTH FULL STOP}\N{FULLWIDTH FULL STOP}\N{FULLWIDTH SOLIDUS}x",
    "capitals": "GPU",
    "nothing": "",
    "a space": " ",
    "a very long one": "a" * 100_000,
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
async def test_no_name_leads_out_of_its_place(
    webhook: httpx.AsyncClient, api: Api, place: Callable[[str], bytes]
) -> None:
    """Whatever is named, only objects of the kinds that are meant are read, by good names."""
    for what, name in NAMES.items():
        for path in ("/mutate", "/validate"):
            assert (await webhook.post(path, content=place(name))).status_code == 200, what
    assert [target for target in api.targets if not _is_allowed(target)] == []


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
async def test_no_namespace_leads_out_of_its_place(
    webhook: httpx.AsyncClient, api: Api, place: Callable[[str], bytes]
) -> None:
    """What can't be a namespace is not looked into; without any, there is no such path."""
    for namespace in filter(None, NAMES.values()):
        review = json.loads(place("gpu-q"))
        review["request"]["namespace"] = namespace
        await webhook.post("/mutate", content=json.dumps(review))
    assert [target for target in api.targets if not _is_allowed(target)] == []


async def test_no_object_of_the_cluster_leads_out_of_its_place(
    webhook: httpx.AsyncClient, api: Api
) -> None:
    """What a LocalQueue or ClusterQueue names is material too."""
    for name in NAMES.values():
        checks = {"admissionChecks": [{"name": name}]}
        api.content = {"clusterQueue": name, "admissionChecksStrategy": checks}
        assert (await webhook.post("/mutate", content=create(user_jobset()))).status_code == 200
    assert len(api.targets) >= len(NAMES)
    assert [target for target in api.targets if not _is_allowed(target)] == []


async def test_good_names_are_looked_up(webhook: httpx.AsyncClient, api: Api) -> None:
    """The reads are there that the tests above forbid elsewhere."""
    for body in (place("gpu-q") for place in PLACES.values()):
        await webhook.post("/mutate", content=body)
    reached = {pattern for pattern in ALLOWED for target in api.targets if _fits(pattern, target)}
    assert reached >= set(ALLOWED[:3])
    assert reached >= set(ALLOWED[4:])


def _is_allowed(target: str) -> bool:
    return any(_fits(pattern, target) for pattern in ALLOWED)


def _fits(pattern: str, target: str) -> bool:
    return re.fullmatch(pattern, target, re.ASCII) is not None
