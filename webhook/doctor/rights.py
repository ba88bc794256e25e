"""The rights that the server needs, and whether its ServiceAccount has them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from webhook.cluster.survey import Question
from webhook.doctor.case import Case
from webhook.doctor.findings import Note, error
from webhook.doctor.place import Place
from webhook.rules.policy import Policy

REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


@dataclass(frozen=True, slots=True)
class Right:
    """A verb on a resource: of one name and one namespace if they are given, else of all."""

    verb: str
    group: str
    resource: str
    name: str = ""
    namespace: str = ""

    def __str__(self) -> str:
        """As a sentence has it."""
        which = f" {self.name}" if self.name else ""
        where = f" in {self.namespace}" if self.namespace else ""
        group = f".{self.group}" if self.group else ""
        return f"{self.verb} {self.resource}{group}{which}{where}"


def needed(place: Place, policy: Policy) -> tuple[Right, ...]:
    """What the server reads and writes."""
    return (*_everywhere(), *_kueues(policy), *_own(place))


def question(right: Right, place: Place) -> Question:
    """Ask the API server whether the server's account has the right."""
    attributes = {
        "verb": right.verb,
        "group": right.group,
        "resource": right.resource,
        "name": right.name,
        "namespace": right.namespace,
    }
    spec = {
        "user": f"system:serviceaccount:{place.namespace}:{place.account}",
        "groups": [
            "system:serviceaccounts",
            f"system:serviceaccounts:{place.namespace}",
            "system:authenticated",
        ],
        "resourceAttributes": {key: value for key, value in attributes.items() if value},
    }
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": spec,
    }
    return Question(REVIEWS, body=json.dumps(review))


def missing(case: Case) -> Iterator[Note]:
    """Rights that the server's account lacks."""
    subject = f"ServiceAccount {case.place.namespace}/{case.place.account}"
    lacks = [
        right
        for right in needed(case.place, case.policy)
        if not ((case.need(question(right, case.place)).get("status") or {}).get("allowed"))
    ]
    for right in lacks:
        yield error(
            subject,
            f"It may not {right}, which the server needs.",
            "Apply the ClusterRole, Roles and bindings of the installation again.",
        )


def _everywhere() -> Iterator[Right]:
    for resource in ("trainjobs", "trainingruntimes", "clustertrainingruntimes"):
        yield Right("get", "trainer.kubeflow.org", resource)
    for resource in ("localqueues", "clusterqueues", "admissionchecks", "workloadpriorityclasses"):
        yield Right("get", "kueue.x-k8s.io", resource)
    yield Right("get", "", "namespaces")
    for verb in ("list", "watch"):
        yield Right(verb, "trainer.kubeflow.org", "trainjobs")
        yield Right(verb, "batch", "jobs")
        yield Right(verb, "jobset.x-k8s.io", "jobsets")
    for verb in ("get", "list", "watch", "patch"):
        yield Right(verb, "kueue.x-k8s.io", "workloads")
    yield Right("create", "", "events")


def _kueues(policy: Policy) -> Iterator[Right]:
    """A configuration that says all of Kueue itself needs no ConfigMap."""
    if policy.kueue is None:
        yield Right("get", "", "configmaps", policy.kueue_config_map, policy.kueue_namespace)


def _own(place: Place) -> Iterator[Right]:
    """What it takes to mint certificates and to have them trusted."""
    if not place.mints_certificates:
        return
    group = "admissionregistration.k8s.io"
    for verb in ("get", "watch", "patch"):
        yield Right(verb, group, "mutatingwebhookconfigurations", place.mutating)
        yield Right(verb, group, "validatingwebhookconfigurations", place.validating)
    for verb in ("get", "watch", "update"):
        yield Right(verb, "", "secrets", place.secret, place.namespace)
    yield Right("create", "", "secrets", namespace=place.namespace)
