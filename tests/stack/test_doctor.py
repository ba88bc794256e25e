"""`kueue-steps doctor` on the real control plane: in good order, and broken in many ways."""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from localcluster.cluster import Cluster
from localcluster.invariants.violation import Invariant
from tests.stack.objects import (
    PRIORITY,
    QUEUE,
    STEP_QUEUE,
    Object,
    job,
    jobset,
    local_queue,
    named,
    step,
)
from tests.stack.team import Team, eventually
from webhook.pki.mint import mint_authority, mint_leaf

HEAD = {"apiVersion": "config.kueue-steps.io/v1alpha1", "kind": "Configuration"}
SYSTEM = "kueue-steps-system"
MUTATING = "mutatingwebhookconfiguration"
OURS = "a-kueue-steps"
SECRET = "kueue-steps-tls"
PROBLEMS = {"warning", "error"}

Configure = Callable[..., Path]


@dataclass(frozen=True)
class Diagnosis:
    """What the command printed, and its exit code."""

    code: int
    findings: list[Object]

    def severities(self, check: str) -> set[str]:
        """What was said under this name."""
        return {item["severity"] for item in self.findings if item["check"] == check}

    def says(self, check: str, severity: str, words: str) -> bool:
        """Whether such a finding has these words."""
        return any(
            words in item["message"]
            for item in self.findings
            if (item["check"], item["severity"]) == (check, severity)
        )

    @property
    def problems(self) -> list[str]:
        """The names of the checks with warnings and errors."""
        return [item["check"] for item in self.findings if item["severity"] in PROBLEMS]


def _run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "webhook", "doctor", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, env={**os.environ}
    )


def examine(cluster: Cluster, *arguments: str | Path, user: str = "admin") -> Diagnosis:
    """Run the command as a person would."""
    run = _run("--kubeconfig", cluster.kubeconfig(user), "-o", "json", *arguments)
    assert run.stderr == ""
    return Diagnosis(run.returncode, json.loads(run.stdout)["findings"])


@pytest.fixture
def configure(tmp_path: Path) -> Configure:
    """Writes a configuration file of the server."""

    def write(**sections: Any) -> Path:
        path = tmp_path / "configuration.yaml"
        path.write_text(yaml.safe_dump({**HEAD, **sections}))
        return path

    return write


@contextmanager
def restored(cluster: Cluster, kind: str, name: str, namespace: str | None = None) -> Iterator[Any]:
    """Lets the object be changed or deleted, and puts it back as it was."""
    before = cluster.get(kind, name, namespace=namespace)
    try:
        yield before
    finally:
        for field in ("uid", "resourceVersion", "managedFields", "creationTimestamp"):
            before["metadata"].pop(field, None)
        cluster.apply([before])


@contextmanager
def present(cluster: Cluster, *objects: Object) -> Iterator[None]:
    """Lets objects exist for a while."""
    cluster.apply(objects)
    try:
        yield
    finally:
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
        cluster.kubectl("delete", "--ignore-not-found", "-f", "-", stdin=text)


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
    run = _run("--kubeconfig", team.cluster.kubeconfig(), "-n", team.namespace)
    assert run.returncode == 1
    first, second, *_ = run.stdout.splitlines()
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
    content = yaml.safe_load(team.cluster.kubeconfig().read_text())
    content["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(content))
    run = _run("--kubeconfig", path)
    assert run.returncode == 1
    assert run.stdout == ""
    assert "https://127.0.0.1:1 can't be reached" in run.stderr
    assert "--kubeconfig" in run.stderr
    assert "Traceback" not in run.stderr


def test_wrong_usage_is_told_apart() -> None:
    """Exit 2 for a form that there is not."""
    assert _run("-o", "xml").returncode == 2


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
    team.apply([job("loose", team.namespace, {STEP_QUEUE: "gpu"})])
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
def test_a_registration_that_was_deleted_is_found(team: Team) -> None:
    """Nothing is stepped or held without it."""
    with restored(team.cluster, MUTATING, OURS):
        team.cluster.kubectl("delete", MUTATING, OURS)
        found = examine(team.cluster, "-n", team.namespace)
    assert found.problems == ["RegistrationPresent"]
    assert examine(team.cluster, "-n", team.namespace).code == 0


@pytest.mark.alone
def test_a_ca_bundle_that_was_wiped_is_found(team: Team) -> None:
    """C22: no call reaches us then."""
    with restored(team.cluster, MUTATING, OURS):
        bundle = {"op": "remove", "path": "/webhooks/0/clientConfig/caBundle"}
        team.cluster.kubectl("patch", MUTATING, OURS, "--type=json", "-p", json.dumps([bundle]))
        found = examine(team.cluster, "-n", team.namespace)
    assert found.problems == ["RegistrationTrust"]
    assert found.says("RegistrationTrust", "error", "trainjobs.kueue-steps.io has no caBundle")


@pytest.mark.alone
def test_a_certificate_that_has_expired_and_is_not_trusted_is_found(team: Team) -> None:
    """C22: the Secret holds a pair of another authority that ended yesterday."""
    then = datetime.now(UTC) - timedelta(days=3)
    pair = mint_leaf(
        mint_authority("stranger", now=then),
        dns_names=[f"kueue-steps.{SYSTEM}.svc"],
        now=then,
        lifetime=timedelta(days=2),
    )
    content = {"tls.crt": pair.certificate, "tls.key": pair.key}
    data = {key: base64.b64encode(value).decode() for key, value in content.items()}
    with present(
        team.cluster,
        named("Secret", "v1", SECRET, SYSTEM) | {"type": "kubernetes.io/tls", "data": data},
    ):
        found = examine(team.cluster, "-n", team.namespace)
    assert set(found.problems) == {"Certificate", "RegistrationTrust"}
    assert found.says("Certificate", "error", "expired on")
    assert found.says("RegistrationTrust", "error", "does not verify the certificate")


@pytest.mark.alone
def test_a_webhook_that_was_changed_is_found(team: Team) -> None:
    """One entry fails open, another is gone."""
    with restored(team.cluster, MUTATING, OURS):
        changes = [
            {"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore"},
            {"op": "remove", "path": "/webhooks/3"},
        ]
        team.cluster.kubectl("patch", MUTATING, OURS, "--type=json", "-p", json.dumps(changes))
        found = examine(team.cluster, "-n", team.namespace)
    assert found.problems == ["RegistrationComplete", "RegistrationComplete"]
    assert found.says("RegistrationComplete", "error", "failurePolicy Ignore")
    assert found.says("RegistrationComplete", "error", "jobs.kueue-steps.io is missing")


@pytest.mark.alone
def test_kueues_registration_before_ours_is_found(team: Team) -> None:
    """Whatever its name is, it is Kueue's if it registers Kueue's kinds."""
    rule = {"apiGroups": ["kueue.x-k8s.io"], "apiVersions": ["v1beta2"]}
    rule |= {"resources": ["none"], "operations": ["CREATE"]}
    webhook = {
        "name": "none.kueue.example",
        "clientConfig": {"url": "https://localhost:1/none"},
        "rules": [rule],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Ignore",
    }
    early = named(
        "MutatingWebhookConfiguration", "admissionregistration.k8s.io/v1", "a-a-kueue", None
    )
    with present(team.cluster, early | {"webhooks": [webhook]}):
        found = examine(team.cluster, "-n", team.namespace)
    assert found.problems == ["RegistrationOrder"]
    assert found.says("RegistrationOrder", "error", "sorts after Kueue's a-a-kueue")


@pytest.mark.alone
def test_a_right_that_was_taken_away_is_found(team: Team) -> None:
    """The API server itself is asked what the server's account may do."""
    with restored(team.cluster, "clusterrole", "kueue-steps") as role:
        rules = [one for one in role["rules"] if one["resources"] != ["workloads"]]
        patch = json.dumps([{"op": "replace", "path": "/rules", "value": rules}])
        team.cluster.kubectl("patch", "clusterrole", "kueue-steps", "--type=json", "-p", patch)
        found = eventually(lambda: _with(team, "ServerRights"), "the missing right is seen")
    assert set(found.problems) == {"ServerRights"}
    assert found.says("ServerRights", "error", "may not patch workloads.kueue.x-k8s.io")


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


def _with(team: Team, check: str) -> Diagnosis | None:
    found = examine(team.cluster, "-n", team.namespace)
    return found if check in found.problems else None
