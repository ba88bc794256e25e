"""Every right that is granted is used by the code, and none is missing."""

import json
from typing import Any

import pytest
import yaml

from tests.manifests.base import NAMESPACE, OBJECTS, one
from webhook.cluster.certificate_objects import GROUP, KINDS
from webhook.cluster.companion import JOBS, JOBSETS, WORKLOADS
from webhook.cluster.owners import TRAINJOBS
from webhook.rules import admit, names, review, trainjob
from webhook.rules.facts import Answer, Found, Key
from webhook.rules.policy import Policy
from webhook.sections import CertificatesSection

Right = tuple[str, str, str]
"""Verb, API group and resource."""


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


CONFIGURATION = ("", "configmaps")


def _granted(role: dict[str, Any]) -> dict[tuple[str, ...], set[Right]]:
    """What a role grants, by the names of objects that it is limited to."""
    granted: dict[tuple[str, ...], set[Right]] = {}
    for rule in role["rules"]:
        rights = {
            (verb, group, resource)
            for verb in rule["verbs"]
            for group in rule["apiGroups"]
            for resource in rule["resources"]
        }
        granted.setdefault(tuple(rule.get("resourceNames", ())), set()).update(rights)
    return granted


def test_cluster_wide_rights_are_what_reviews_and_companion_use() -> None:
    """`get` on what rules ask for, list and watch on what is followed, two writes."""
    read = {("get", *place) for place in _reads() - {CONFIGURATION}}
    followed = {
        (verb, kind.group, kind.plural)
        for kind in (JOBS, JOBSETS, WORKLOADS, TRAINJOBS)
        for verb in ("list", "watch")
    }
    switched = {(verb, WORKLOADS.group, WORKLOADS.plural) for verb in ("get", "patch")}
    told = {("create", "", "events")}
    assert _granted(one("ClusterRole", "kueue-steps")) == {(): read | followed | switched | told}


def test_in_kueues_namespace_only_its_configuration_is_readable() -> None:
    """The right to read ConfigMaps is for one name in one namespace."""
    policy = Policy()
    role = one("Role", "kueue-steps", policy.kueue_namespace)
    assert CONFIGURATION in _reads()
    assert _granted(role) == {(policy.kueue_config_map,): {("get", *CONFIGURATION)}}


def test_certificates_need_one_secret_and_our_own_registrations() -> None:
    """What is read, watched and written of each, by name; only a create can't be limited to one."""
    section = CertificatesSection()
    watched = ("get", "watch")
    registrations = {
        (verb, GROUP.partition("/")[0], plural) for plural in KINDS for verb in (*watched, "patch")
    }
    assert section.mutating_configuration == section.validating_configuration
    assert _granted(one("ClusterRole", "kueue-steps-certificates")) == {
        (section.mutating_configuration,): registrations
    }
    assert _granted(one("Role", "kueue-steps-certificates", section.namespace)) == {
        (section.secret,): {(verb, "", "secrets") for verb in (*watched, "update")},
        (): {("create", "", "secrets")},
    }


BINDINGS = [item for item in OBJECTS if item["kind"].endswith("RoleBinding")]


@pytest.mark.parametrize(
    "binding", BINDINGS, ids=lambda item: f"{item['kind']}-{item['metadata']['name']}"
)
def test_rights_are_bound_to_the_deployments_account(binding: dict[str, Any]) -> None:
    """Each binding means a role beside it, and the account that the Deployment runs as."""
    kind, name = binding["roleRef"]["kind"], binding["roleRef"]["name"]
    assert one(kind, name, binding["metadata"].get("namespace"))
    account = one("Deployment")["spec"]["template"]["spec"]["serviceAccountName"]
    assert one("ServiceAccount")["metadata"] == {"name": account, "namespace": NAMESPACE}
    (subject,) = binding["subjects"]
    assert subject == {"kind": "ServiceAccount", "name": account, "namespace": NAMESPACE}


def test_every_role_is_bound() -> None:
    """A role that nobody has would look like a right that is used."""
    roles = [item for item in OBJECTS if item["kind"] in {"Role", "ClusterRole"}]
    assert len(roles) == len(BINDINGS)
