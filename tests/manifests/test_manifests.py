"""Manifests and code agree: paths, ports, probes, labels, user names, rights and order."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from webhook.cluster.companion import JOBS, JOBSETS, WORKLOADS
from webhook.http.app import MUTATE_PATH, VALIDATE_PATH, operations_app
from webhook.rules import admit, names, review, trainjob
from webhook.rules.facts import Answer, Found, Key
from webhook.rules.policy import Policy
from webhook.settings import ServerSection

BASE = Path(__file__).resolve().parents[2] / "manifests" / "base"
NAMESPACE = "kueue-steps-system"


def _objects() -> Iterator[dict[str, Any]]:
    kustomization = yaml.safe_load((BASE / "kustomization.yaml").read_text())
    assert kustomization["namespace"] == NAMESPACE
    for name in kustomization["resources"]:
        yield from yaml.safe_load_all((BASE / name).read_text())


KUEUES_OWN = "kueue-mutating-webhook-configuration"
OBJECTS = list(_objects())


def _one(kind: str) -> dict[str, Any]:
    (found,) = [item for item in OBJECTS if item["kind"] == kind]
    return found


def _registered(kind: str) -> dict[str, dict[str, Any]]:
    return {webhook["name"]: webhook for webhook in _one(kind)["webhooks"]}


MUTATING = _registered("MutatingWebhookConfiguration")
VALIDATING = _registered("ValidatingWebhookConfiguration")
EVERY = [*MUTATING.values(), *VALIDATING.values()]
CONTAINER = _one("Deployment")["spec"]["template"]["spec"]["containers"][0]
POD = _one("Deployment")["spec"]["template"]["spec"]


def test_both_configurations_have_the_contracted_name_and_come_before_kueues() -> None:
    """Configurations run in the order of their names, and Kueue is to see what we moved."""
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
        name = _one(kind)["metadata"]["name"]
        assert name == "a-kueue-steps"
        assert name < KUEUES_OWN


@pytest.mark.parametrize("webhook", EVERY, ids=lambda webhook: webhook["name"])
def test_every_registration_fails_closed_quickly_and_away_from_the_system(
    webhook: dict[str, Any],
) -> None:
    """Fail, 5 s, no side effects, and never kube-system, kueue-system or our own namespace."""
    assert webhook["failurePolicy"] == "Fail"
    assert webhook["timeoutSeconds"] == 5
    assert webhook["sideEffects"] == "None"
    assert webhook["matchPolicy"] == "Equivalent"
    (rule,) = webhook["namespaceSelector"]["matchExpressions"]
    assert rule["operator"] == "NotIn"
    assert {"kube-system", "kueue-system", NAMESPACE} <= set(rule["values"])


def test_registered_kinds_and_operations_are_those_of_the_rules() -> None:
    """CREATE and UPDATE of each kind that has a rule, and nothing else, on both paths."""
    for webhooks in (MUTATING, VALIDATING):
        found = {
            (group, resource, operation)
            for webhook in webhooks.values()
            for rule in webhook["rules"]
            for group in rule["apiGroups"]
            for resource in rule["resources"]
            for operation in rule["operations"]
        }
        assert found == {(*kind, verb) for kind in admit.KINDS for verb in ("CREATE", "UPDATE")}


def test_calls_go_to_the_paths_that_are_served() -> None:
    """One path for every kind, so that API servers share one pool of connections."""
    for webhooks, path in ((MUTATING, MUTATE_PATH), (VALIDATING, VALIDATE_PATH)):
        for webhook in webhooks.values():
            service = webhook["clientConfig"]["service"]
            assert service == {
                "name": _one("Service")["metadata"]["name"],
                "namespace": NAMESPACE,
                "path": path,
                "port": _one("Service")["spec"]["ports"][0]["port"],
            }


def test_only_creates_of_jobs_are_not_reinvoked() -> None:
    """Everything is called again after others have changed an object, but a Job's create."""
    policies = {name: webhook["reinvocationPolicy"] for name, webhook in MUTATING.items()}
    assert policies.pop("created-jobs.kueue-steps.io") == "Never"
    assert set(policies.values()) == {"IfNeeded"}


def test_jobs_reach_us_only_with_our_label() -> None:
    """The objectSelector of Jobs is our label, so other people's Jobs never depend on us."""
    for name in ("created-jobs.kueue-steps.io", "jobs.kueue-steps.io"):
        for webhooks in (MUTATING, VALIDATING):
            if name in webhooks:
                assert webhooks[name]["objectSelector"]["matchExpressions"] == [
                    {"key": names.STEP_QUEUE, "operator": "Exists"}
                ]


def test_conditions_use_the_words_of_the_code() -> None:
    """Each name of ours or Kueue's in a condition is one that the rules know."""
    known = {names.QUEUE, names.STEP_QUEUE, names.PAUSED, names.KUEUE_USER, "kueue-steps.io/"}
    for webhook in EVERY:
        for condition in webhook.get("matchConditions", []):
            quoted = condition["expression"].split("'")[1::2]
            ours = {word for word in quoted if "kueue" in word}
            assert ours <= known


def test_ports_and_probes_are_those_of_the_server() -> None:
    """The Service leads to the TLS port, probes to paths that the plain port serves."""
    ports = {port["name"]: port["containerPort"] for port in CONTAINER["ports"]}
    assert ports == {
        "webhook": ServerSection().port,
        "operations": ServerSection().operations_port,
    }
    assert _one("Service")["spec"]["ports"][0]["targetPort"] == "webhook"
    served = {
        getattr(route, "path", None) for route in operations_app(list, lambda: b"").router.routes
    }
    for probe in ("livenessProbe", "readinessProbe"):
        assert CONTAINER[probe]["httpGet"]["port"] == "operations"
        assert CONTAINER[probe]["httpGet"]["path"] in served


def test_configuration_and_certificate_are_mounted_where_they_are_read() -> None:
    """The paths of the mounts are those of the arguments and of the defaults."""
    mounts = {mount["name"]: mount["mountPath"] for mount in CONTAINER["volumeMounts"]}
    assert CONTAINER["args"] == ["serve", f"--config={mounts['config']}/configuration.yaml"]
    assert str(ServerSection().certificate_file) == f"{mounts['tls']}/tls.crt"
    assert str(ServerSection().key_file) == f"{mounts['tls']}/tls.key"
    assert POD["enableServiceLinks"] is False


class Answers(dict[Key, Answer]):
    """Facts under which a review of ours asks for everything that it may ever need."""

    def __init__(self) -> None:
        super().__init__()
        selector = {"matchLabels": {"team": "a"}}
        configuration = yaml.safe_dump({"managedJobsNamespaceSelector": selector})
        checks = {"admissionChecks": [{"name": "check"}]}
        self.content: dict[str, dict[str, Any]] = {
            "configmaps": {"data": {"controller_manager_config.yaml": configuration}},
            "localqueues": {"spec": {"clusterQueue": "queue"}},
            "clusterqueues": {"spec": {"admissionChecksStrategy": checks}},
        }

    def learn(self, key: Key) -> None:
        """What the API server would answer."""
        self[key] = Found(self.content.get(key.plural, {}))


def _asked(plural: str, kind: dict[str, Any], group: str) -> set[Key]:
    """Every object that a create of this kind asks for."""
    labels = {names.QUEUE: "gpu", names.PRIORITY_CLASS: "low"}
    whole = {
        "uid": "1",
        "resource": {"group": group, "version": "v1", "resource": plural},
        "operation": "CREATE",
        "namespace": "team",
        "object": {"metadata": {"labels": labels} | kind.get("metadata", {}), **kind["spec"]},
    }
    review_ = {"apiVersion": review.API_VERSION, "kind": review.KIND, "request": whole}
    request, answers = review.read(json.dumps(review_).encode()), Answers()
    while keys := admit.needs(request, answers, Policy()):
        for key in keys:
            answers.learn(key)
    return set(answers)


def _reads() -> set[tuple[str, str]]:
    owner = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "name": "tune",
        "uid": "u",
        "controller": True,
    }
    refs = [{"name": "torch", "kind": kind} for kind in trainjob.RUNTIME_PLURALS]
    asked = _asked(
        "jobsets", {"metadata": {"ownerReferences": [owner]}, "spec": {}}, "jobset.x-k8s.io"
    )
    for ref in refs:
        spec = {"spec": {"spec": {"runtimeRef": ref}}}
        asked |= _asked("trainjobs", spec, "trainer.kubeflow.org")
    return {(key.group, key.plural) for key in asked}


def test_rights_are_exactly_what_the_code_reads_and_writes() -> None:
    """`get` on what rules ask for, list and watch on what the companion follows, one patch."""
    watched = {(kind.group, kind.plural) for kind in (JOBS, JOBSETS, WORKLOADS)}
    switched = {(WORKLOADS.group, WORKLOADS.plural)}
    granted: dict[str, set[tuple[str, str]]] = {}
    for rule in _one("ClusterRole")["rules"]:
        for verb in rule["verbs"]:
            places = {(group, name) for group in rule["apiGroups"] for name in rule["resources"]}
            granted.setdefault(verb, set()).update(places)
    assert granted == {
        "get": _reads() | switched,
        "list": watched,
        "watch": watched,
        "patch": switched,
    }


def test_of_kueues_configmaps_only_its_configuration_is_readable() -> None:
    """The right to read ConfigMaps is for one name."""
    (rule,) = [r for r in _one("ClusterRole")["rules"] if r["resources"] == ["configmaps"]]
    assert rule["resourceNames"] == [Policy().kueue_config_map]


def test_the_rights_are_bound_to_the_deployments_account() -> None:
    """Deployment, ServiceAccount and binding mean the same account."""
    (subject,) = _one("ClusterRoleBinding")["subjects"]
    assert (
        subject["name"] == POD["serviceAccountName"] == _one("ServiceAccount")["metadata"]["name"]
    )
    assert subject["namespace"] == NAMESPACE


def test_the_pod_meets_the_restricted_standard() -> None:
    """Non-root, no privileges, read-only root, and the namespace enforces it."""
    assert POD["securityContext"]["runAsNonRoot"] is True
    assert POD["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert CONTAINER["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    labels = _one("Namespace")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
