"""A stranger who reaches the webhook's port: what he changes (nothing) and what he learns (names).

API servers are not asked who they are by default, so anybody who reaches the port may post reviews
and be answered. See docs/security.md, "A stranger at the port".
"""

import base64
import json
import ssl
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from localcluster.cluster import Cluster
from localcluster.errors import KubectlError
from localcluster.layout import HOST
from localcluster.webhook import ACCOUNT, NAMESPACE, REGISTRATION, SECRET, SERVICE
from tests.rules.factories import KUEUE
from tests.rules.reviews import create, update
from tests.stack.objects import (
    PAUSED,
    STEP_QUEUE,
    Object,
    jobset,
    step,
    training_runtime,
    trainjob,
)
from tests.stack.team import Team, eventually

HELD = "wait-train-0"


@pytest.fixture
def port(cluster: Cluster) -> Iterator[httpx.Client]:
    """A client with no credentials at all, on the port that the API server calls."""
    registered = cluster.get("mutatingwebhookconfiguration", REGISTRATION)["webhooks"][0]
    bundle = base64.b64decode(registered["clientConfig"]["caBundle"]).decode()
    name = f"{SERVICE}.{NAMESPACE}.svc"
    address = f"https://{HOST}:{registered['clientConfig']['service']['port']}"
    context = ssl.create_default_context(cadata=bundle)
    with httpx.Client(
        base_url=address, verify=context, headers={"host": name}, timeout=30
    ) as client:
        yield client


@pytest.fixture
def ask(port: httpx.Client) -> Callable[[bytes], Object]:
    """Posts a review and returns the response in its answer."""

    def post(body: bytes) -> Object:
        headers = {"content-type": "application/json"}
        extensions = {"sni_hostname": f"{SERVICE}.{NAMESPACE}.svc"}
        answer = port.post("/mutate", content=body, headers=headers, extensions=extensions)
        assert answer.status_code == 200
        response: Object = answer.json()["response"]
        return response

    return post


@pytest.fixture
def held(new_team: Callable[..., Team]) -> Team:
    """A team whose one step is held."""
    team = new_team(gpus=1)
    team.submit(
        jobset("wait", team.namespace, team.label, step("train", gpus=8), step("b", "train"))
    )
    team.workload_of(HELD)
    return team


def test_a_stranger_who_says_that_he_is_kueue_starts_nothing(
    held: Team, ask: Callable[[bytes], Object]
) -> None:
    """His review is answered, and that is all: answers change objects in API servers alone."""
    stored = held.one("jobs", HELD)
    started = json.loads(json.dumps(stored))
    started["spec"]["suspend"] = False
    response = ask(update(started, stored, user=KUEUE, namespace=held.namespace, name=HELD))
    assert response["allowed"] is True
    assert "patch" not in response
    assert held.one("jobs", HELD)["spec"]["suspend"] is True
    assert held.pods_of(HELD) == []


def test_a_stranger_cannot_pause_anybody(held: Team, ask: Callable[[bytes], Object]) -> None:
    """The companion acts on what is stored, never on what is posted."""
    stored = held.one("jobs", HELD)
    paused = json.loads(json.dumps(stored))
    paused["metadata"].setdefault("annotations", {})[PAUSED] = "true"
    ask(update(paused, stored, namespace=held.namespace, name=HELD))
    ask(create(paused, namespace=held.namespace, name=HELD))
    assert PAUSED not in held.one("jobs", HELD)["metadata"].get("annotations", {})
    companion = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
    assert [w for w in held.writes("workloads", "patch", "update") if w.user == companion] == []
    assert held.workload_of(HELD)["spec"].get("active", True) is True


def test_what_a_stranger_learns_is_whether_a_name_exists(
    team: Team, ask: Callable[[bytes], Object]
) -> None:
    """Warnings tell a queue that there is from one that there is not, as they tell a user."""
    there = ask(create(_queued(team, "gpu"), namespace=team.namespace))
    missing = ask(create(_queued(team, "cpu"), namespace=team.namespace))
    assert there.get("warnings", []) == []
    (warning,) = missing["warnings"]
    assert warning.startswith("LocalQueue cpu does not exist in this namespace")


def test_nothing_that_the_cluster_holds_is_in_an_answer(
    team: Team, ask: Callable[[bytes], Object]
) -> None:
    """Of a runtime the names of its steps can be learnt, of other objects not even that."""
    runtime = training_runtime("steps", team.namespace, gpus=1, download="1s", train="1s")
    for one in runtime["spec"]["template"]["spec"]["replicatedJobs"]:
        one["template"]["spec"]["template"]["spec"]["containers"][0]["env"] = [
            {"name": "PASSWORD", "value": "hunter2"}
        ]
    team.apply([runtime])
    wrong = trainjob("probe", team.namespace, team.label)
    wrong["metadata"]["annotations"] = {"kueue-steps.io/step-queues": "nobody=gpu"}
    answers = [
        ask(create(item, namespace=team.namespace))
        for item in (trainjob("probe", team.namespace, team.label), wrong)
    ]
    text = json.dumps(answers)
    assert "the steps are dataset-initializer, model-initializer, node" in text
    for secret in (
        "hunter2",
        "PASSWORD",
        "simulated",
        team.one("localqueues", "gpu")["metadata"]["uid"],
    ):
        assert secret not in text


OWNERS: dict[str, Callable[[Object], Object]] = {
    "a TrainJob that there is not": lambda _: {"name": "nobody", "uid": "1"},
    "a TrainJob of another uid": lambda job: {"name": job["metadata"]["name"], "uid": "1"},
    "a name that is a path": lambda job: {"name": "../x", "uid": job["metadata"]["uid"]},
}


@pytest.mark.parametrize("reference", OWNERS.values(), ids=OWNERS.keys())
def test_a_trainjob_is_not_told_from_one_that_is_not_there(
    team: Team, ask: Callable[[bytes], Object], reference: Callable[[Object], Object]
) -> None:
    """Who does not know a TrainJob's uid does not learn from a JobSet's review that it exists."""
    team.apply([training_runtime("steps", team.namespace, gpus=1, download="9s", train="9s")])
    team.submit(trainjob("real", team.namespace, team.label))
    stored = team.one("trainjobs", "real")
    assert stored["metadata"]["labels"][STEP_QUEUE] == "gpu"
    forged = jobset("real", team.namespace, {}, step("a"), step("b", "a"))
    head = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "controller": True}
    owner = reference(stored)
    forged["metadata"]["ownerReferences"] = [head | owner]
    response = ask(create(forged, namespace=team.namespace))
    assert response["allowed"] is False
    expected = f'Forbidden: "{owner["name"]}": this TrainJob could not be read'
    assert expected in response["status"]["message"]


MAY: list[tuple[str, ...]] = [
    ("list", "jobs.batch", "-A"),
    ("watch", "jobsets.jobset.x-k8s.io", "-A"),
    ("patch", "workloads.kueue.x-k8s.io", "-A"),
    ("create", "events", "-A"),
    ("get", f"secret/{SECRET}", "-n", NAMESPACE),
    ("patch", f"mutatingwebhookconfigurations/{REGISTRATION}", "-A"),
]
MAY_NOT: list[tuple[str, ...]] = [
    ("get", "secrets", "-A"),
    ("list", "secrets", "-n", NAMESPACE),
    ("get", "secret/other", "-n", NAMESPACE),
    ("delete", f"secret/{SECRET}", "-n", NAMESPACE),
    ("patch", "mutatingwebhookconfigurations/kueue-mutating-webhook-configuration", "-A"),
    ("create", "mutatingwebhookconfigurations", "-A"),
    ("create", "pods", "-A"),
    ("create", "pods", "-n", NAMESPACE),
    ("patch", "jobs.batch", "-A"),
    ("patch", "jobsets.jobset.x-k8s.io", "-A"),
    ("patch", "trainjobs.trainer.kubeflow.org", "-A"),
    ("patch", "workloads.kueue.x-k8s.io", "--subresource=status", "-A"),
    ("delete", "workloads.kueue.x-k8s.io", "-A"),
    ("list", "events", "-A"),
    ("patch", "events", "-A"),
    ("create", "events.events.k8s.io", "-A"),
    ("list", "pods", "-A"),
    ("get", "configmaps", "-A"),
    ("impersonate", "users"),
    ("create", "serviceaccounts/token", "-A"),
    ("*", "*", "-A"),
]


@pytest.mark.parametrize("asked", MAY, ids=" ".join)
def test_what_a_stolen_token_could_do(cluster: Cluster, asked: tuple[str, ...]) -> None:
    """The rights of the server's account that docs/security.md weighs."""
    assert _may(cluster, asked)


@pytest.mark.parametrize("asked", MAY_NOT, ids=" ".join)
def test_what_a_stolen_token_could_not_do(cluster: Cluster, asked: tuple[str, ...]) -> None:
    """Other Secrets, other registrations, Pods and the objects of users are out of its reach."""
    assert not _may(cluster, asked)


def _may(cluster: Cluster, asked: tuple[str, ...]) -> bool:
    """What the API server says to the account itself; an error where it can't be asked."""
    try:
        return cluster.kubectl("auth", "can-i", *asked, user=ACCOUNT).strip() == "yes"
    except KubectlError as error:  # An answer of no is one too.
        if error.stderr:
            raise
        return False


def _queued(team: Team, queue: str) -> Any:
    return jobset(
        "probe", team.namespace, {"kueue.x-k8s.io/queue-name": queue}, step("a"), step("b", "a")
    )


def test_audit_entries_carry_the_decision(team: Team) -> None:
    """Who reads the API server's audit log finds the decision under the webhook's name."""
    team.submit(_queued(team, "gpu"))
    (write,) = eventually(lambda: team.writes("jobsets", "create"), "its entry")
    assert write.annotations["jobsets.kueue-steps.io/decision"] == "Stepped"
