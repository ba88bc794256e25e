"""`kueue-steps doctor` on the real control plane: in good order, and broken in many ways."""

import json
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from localcluster.cluster import Cluster
from localcluster.invariants.violation import Invariant
from tests.stack import in_process
from tests.stack.diagnosis import configuration, examine, run
from tests.stack.objects import (
    PRIORITY,
    QUEUE,
    RUN_FOR,
    STEP_QUEUE,
    Object,
    job,
    jobset,
    local_queue,
    named,
    step,
)
from tests.stack.team import Team

POLICY = "MutatingAdmissionPolicy"
BINDING = "MutatingAdmissionPolicyBinding"

Configure = Callable[..., Path]


@pytest.fixture
def team(team: Team) -> Team:
    """Its ClusterQueue is active: doctor tells of one of which Kueue has said nothing yet."""
    team.await_condition("clusterqueue", team.namespace, "Active")
    return team


@pytest.fixture
def configure(tmp_path: Path) -> Configure:
    """Writes a configuration file of the server."""
    return partial(configuration, tmp_path)


def _delete(cluster: Cluster, objects: Sequence[Object]) -> None:
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
    cluster.kubectl("delete", "--ignore-not-found", "-f", "-", stdin=text)


@contextmanager
def present(cluster: Cluster, *objects: Object) -> Iterator[None]:
    """Lets objects exist for a while; those that existed before stay."""
    kinds = {item["kind"] for item in objects}
    before = {_name(item) for kind in kinds for item in cluster.get(kind)["items"]}
    try:
        cluster.apply(objects)
        yield
    finally:
        _delete(cluster, [item for item in objects if _name(item) not in before])


@contextmanager
def without(cluster: Cluster, kind: str) -> Iterator[None]:
    """Lets no object of a kind exist for a while."""
    there = cluster.get(kind)["items"]
    for item in there:
        for key in ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"):
            item["metadata"].pop(key, None)
    try:
        _delete(cluster, there)
        yield
    finally:
        cluster.apply(there)


def _name(item: Object) -> tuple[str, str, str]:
    metadata = item["metadata"]
    return item["kind"], metadata.get("namespace", ""), metadata["name"]


def _elsewhere(cluster: Cluster, server: str, folder: Path) -> Path:
    """A kubeconfig that leads to another API server."""
    content = yaml.safe_load(cluster.kubeconfig().read_text())
    content["clusters"][0]["cluster"]["server"] = server
    path = folder / "config"
    path.write_text(yaml.safe_dump(content))
    return path


def test_a_good_installation_has_no_finding(team: Team) -> None:
    """Exit 0; what the control plane has no Deployments for is told as an info."""
    found = examine(team.cluster, "-n", team.namespace)
    assert found.problems == []
    assert found.code == 0
    for check in ("KueueVersion", "KueueUser", "JobSetUser", "ServerReplicas"):
        assert found.says(check, "info", "Can't tell")
    for check in ("RegistrationComplete", "RegistrationTrust", "ServerRights", "LocalQueues"):
        assert found.severities(check) == {"ok"}


def test_the_table_is_for_people(team: Team) -> None:
    """Without -o each finding is a line, and what to do is below it."""
    team.apply([local_queue("lost", team.namespace, "nowhere")])
    done = run("--kubeconfig", team.cluster.kubeconfig(), "-n", team.namespace)
    assert done.returncode == 1
    first, second, *_ = done.stdout.splitlines()
    assert first.startswith("warning LocalQueues ")
    assert f"LocalQueue {team.namespace}/lost: It leads to ClusterQueue nowhere" in first
    assert second.strip() == "> Create ClusterQueue nowhere."


def test_a_plain_user_is_told_what_can_not_be_told(team: Team) -> None:
    """Without the rights of an administrator there is no crash and nothing is called fine."""
    found = examine(team.cluster, "-n", team.namespace, user="alice")
    assert found.code == 1
    for check in ("RegistrationPresent", "Certificate", "ServerRights", "KueueConfiguration"):
        assert found.says(check, "warning", "Can't tell")
    assert found.severities("KubernetesVersion") == {"ok"}


def test_no_api_server_is_a_failure_that_names_the_way_out(team: Team, tmp_path: Path) -> None:
    """Exit 1 and one sentence on what to check."""
    server = "https://127.0.0.1:1"
    done = run("--kubeconfig", _elsewhere(team.cluster, server, tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{server} can't be reached" in done.stderr
    assert "--kubeconfig" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_api_server_that_hangs_is_not_waited_for(team: Team, tmp_path: Path) -> None:
    """One that lets connect and says no word ends it after ten seconds."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = f"https://127.0.0.1:{silent.getsockname()[1]}"
        done = run("--kubeconfig", _elsewhere(team.cluster, server, tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{server} can't be reached: there was no answer within 10 s" in done.stderr


def test_queues_that_lead_nowhere_are_found(team: Team) -> None:
    """A LocalQueue without its ClusterQueue, and a default one as an info."""
    team.apply(
        [
            local_queue("lost", team.namespace, "nowhere"),
            local_queue("default", team.namespace, team.namespace),
        ]
    )
    found = examine(team.cluster, "-n", team.namespace)
    assert found.problems == ["LocalQueues"]
    assert found.says("DefaultQueues", "info", "default LocalQueue")


def test_a_held_step_without_a_queue_is_found(team: Team) -> None:
    """A stepped JobSet that names a queue and a priority class which are not there."""
    labels = {QUEUE: "gone", PRIORITY: "none"}
    team.submit(jobset("lost", team.namespace, labels, step("a"), step("b", "a")))
    team.await_job("lost-a-0")
    found = examine(team.cluster, "-n", team.namespace)
    assert found.code == 1
    assert found.says("HeldJobs", "error", "LocalQueue gone does not exist")
    assert found.says("PriorityClasses", "warning", "WorkloadPriorityClass none")


@pytest.mark.exempt(*Invariant, because="the Job is made to look like a step that got loose")
def test_a_job_that_runs_without_admission_is_found(team: Team) -> None:
    """A Job with our label that nobody queues and nobody holds."""
    loose = job("loose", team.namespace, {STEP_QUEUE: "gpu"})
    loose["spec"]["template"]["metadata"]["annotations"][RUN_FOR] = "1h"
    team.apply([loose])
    found = examine(team.cluster, "-n", team.namespace)
    assert found.says("StartedJobs", "error", "Kueue has not admitted it")


def test_a_configuration_that_the_server_refuses_is_found(team: Team, configure: Configure) -> None:
    """The key is named, and the rest is examined with the defaults."""
    path = configure(log={"levl": "info"})
    found = examine(team.cluster, "-n", team.namespace, "--config", path)
    assert found.problems == ["Configuration"]
    assert found.says("Configuration", "error", "log.levl: unknown key")


def test_another_user_name_than_the_registration_has_is_found(
    team: Team, configure: Configure
) -> None:
    """The match conditions let somebody start Jobs whom the configuration does not know."""
    path = configure(controllers={"kueue": ["system:serviceaccount:kueue:kueue"]})
    found = examine(team.cluster, "-n", team.namespace, "--config", path)
    assert set(found.problems) == {"RegistrationUsers"}
    assert found.says("RegistrationUsers", "error", "kueue-controller-manager start Jobs")


DEFEATING = {
    "C16: batch/job is off": (
        {"integrations": {"frameworks": ["jobset.x-k8s.io/jobset"]}},
        ("KueueIntegrations", "error", "batch/job is off"),
    ),
    "C16: what has no queue name is managed": (
        {
            "manageJobsWithoutQueueName": True,
            "integrations": {"frameworks": ["batch/job", "jobset.x-k8s.io/jobset"]},
        },
        ("KueueIntegrations", "error", "Kueue takes every parent whole"),
    ),
    "C16: the namespace is not managed": (
        {"managedJobsNamespaceSelector": {"matchLabels": {"queued": "yes"}}},
        ("KueueNamespaces", "warning", "nothing in it is queued"),
    ),
}


@pytest.mark.parametrize(("settings", "expected"), DEFEATING.values(), ids=DEFEATING.keys())
def test_settings_of_kueue_that_defeat_stepping_are_found(
    new_team: Callable[..., Team],
    configure: Configure,
    settings: dict[str, Any],
    expected: tuple[str, str, str],
) -> None:
    """Read from a ConfigMap that our configuration names; the server may not read that one."""
    team, home = new_team(), new_team().namespace
    content = {"controller_manager_config.yaml": yaml.safe_dump(settings)}
    team.apply([named("ConfigMap", "v1", "kueue", home) | {"data": content}])
    path = configure(kueue={"namespace": home, "configMap": "kueue"})
    found = examine(team.cluster, "-n", team.namespace, "--config", path)
    assert found.says(*expected)
    assert found.says("ServerRights", "error", f"get configmaps kueue in {home}")


@pytest.mark.alone
def test_a_hold_in_the_api_server_that_nobody_binds_is_found(team: Team) -> None:
    """Policies without bindings hold nothing."""
    policies = [item for item in in_process.policies() if item["kind"] == POLICY]
    with without(team.cluster, BINDING), present(team.cluster, *policies):
        found = examine(team.cluster, "-n", team.namespace)
    assert found.problems == ["HoldPolicy"] * len(policies)
    assert found.says("HoldPolicy", "warning", "so it holds nothing")


@pytest.mark.alone
def test_the_accounts_of_the_controllers_are_compared(team: Team) -> None:
    """Kueue's Deployment runs, or would run, under another account than is configured."""
    labels = {"app": "kueue"}
    pod = {
        "serviceAccountName": "someone",
        "containers": [{"name": "manager", "image": "registry.example/kueue:v0.18.1"}],
    }
    deployment = named("Deployment", "apps/v1", "kueue-controller-manager", "kueue-system") | {
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        }
    }
    with present(team.cluster, deployment):
        found = examine(team.cluster, "-n", team.namespace)
    assert set(found.problems) == {"KueueUser", "KueueVersion"}
    assert found.says("KueueUser", "error", "system:serviceaccount:kueue-system:someone")
