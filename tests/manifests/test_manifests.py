"""Manifests and code agree: paths, ports, probes, labels, user names, rights and order."""

from typing import Any

import pytest
import yaml

from tests.manifests.base import BASE, NAMESPACE, OBJECTS, one
from webhook.http.app import MUTATE_PATH, VALIDATE_PATH, operations_app
from webhook.rules import admit, names
from webhook.sections import ServerSection
from webhook.settings import Configuration, load

KUEUES_OWN = "kueue-mutating-webhook-configuration"


def _registered(kind: str) -> dict[str, dict[str, Any]]:
    return {webhook["name"]: webhook for webhook in one(kind)["webhooks"]}


MUTATING = _registered("MutatingWebhookConfiguration")
VALIDATING = _registered("ValidatingWebhookConfiguration")
EVERY = [*MUTATING.values(), *VALIDATING.values()]
CONTAINER = one("Deployment")["spec"]["template"]["spec"]["containers"][0]
POD = one("Deployment")["spec"]["template"]["spec"]


def test_both_configurations_have_the_contracted_name_and_come_before_kueues() -> None:
    """Configurations run in the order of their names, and Kueue is to see what we moved."""
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
        name = one(kind)["metadata"]["name"]
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
                "name": one("Service")["metadata"]["name"],
                "namespace": NAMESPACE,
                "path": path,
                "port": one("Service")["spec"]["ports"][0]["port"],
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
    known = {
        *(names.QUEUE, names.STEP_QUEUE, names.PRIORITY_CLASS, names.MAX_EXEC_TIME),
        *(names.PAUSED, names.KUEUE_USER, names.OURS, names.PATCH_MANAGER),
    }
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
    assert one("Service")["spec"]["ports"][0]["targetPort"] == "webhook"
    served = {
        getattr(route, "path", None) for route in operations_app(list, lambda: b"").router.routes
    }
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert CONTAINER[probe]["httpGet"]["port"] == "operations"
        assert CONTAINER[probe]["httpGet"]["path"] in served


def test_the_configuration_is_mounted_where_it_is_read() -> None:
    """The path of the mount is that of the argument; the Service's variables stay away."""
    mounts = {mount["name"]: mount["mountPath"] for mount in CONTAINER["volumeMounts"]}
    assert CONTAINER["args"] == ["serve", f"--config={mounts['config']}/configuration.yaml"]
    assert POD["enableServiceLinks"] is False


def _keys(content: Any) -> Any:
    """The keys at every depth."""
    if not isinstance(content, dict):
        return None
    return {key: _keys(value) for key, value in content.items()}


def test_the_configuration_says_every_default() -> None:
    """The file is the defaults: what is not in it is unset by default."""
    assert load(BASE / "configuration.yaml") == Configuration()
    said = yaml.safe_load((BASE / "configuration.yaml").read_text())
    defaults = Configuration().model_dump(by_alias=True, exclude_none=True)
    assert _keys(said) == _keys(defaults)


def test_the_pod_meets_the_restricted_standard() -> None:
    """Non-root, no privileges, read-only root, and the namespace enforces it."""
    assert POD["securityContext"]["runAsNonRoot"] is True
    assert POD["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert CONTAINER["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    labels = one("Namespace")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


def test_a_drain_ends_before_the_pod_is_killed() -> None:
    """Kubernetes waits longer than the server lets connections last."""
    assert POD["terminationGracePeriodSeconds"] >= ServerSection().drain.longest_seconds + 10


def test_two_replicas_survive_drains_and_roll_outs() -> None:
    """A roll-out adds before it takes, a drain takes one, and replicas keep apart."""
    deployment = one("Deployment")["spec"]
    assert deployment["replicas"] == 2
    assert deployment["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    budget = one("PodDisruptionBudget")["spec"]
    assert budget["maxUnavailable"] == 1
    labels = deployment["template"]["metadata"]["labels"].items()
    selectors = [budget["selector"], deployment["selector"]]
    spread = POD["topologySpreadConstraints"]
    selectors += [constraint["labelSelector"] for constraint in spread]
    assert all(selector["matchLabels"].items() <= labels for selector in selectors)
    assert one("Service")["spec"]["selector"].items() <= labels
    assert {constraint["topologyKey"] for constraint in spread} == {
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
    }


def test_every_namespaced_object_names_its_namespace() -> None:
    """None is left to the namespace that kubectl happens to be in."""
    cluster_wide = {"Namespace", "ClusterRole", "ClusterRoleBinding"}
    cluster_wide |= {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}
    for item in OBJECTS:
        assert ("namespace" in item["metadata"]) == (item["kind"] not in cluster_wide)


def test_the_priority_class_is_admitted_where_it_needs_a_quota() -> None:
    """The quota is for the Deployment's class and leaves room for a roll-out."""
    quota = one("ResourceQuota")["spec"]
    (scope,) = quota["scopeSelector"]["matchExpressions"]
    assert scope["values"] == [POD["priorityClassName"]]
    assert int(quota["hard"]["pods"]) > one("Deployment")["spec"]["replicas"] + 1
