"""The server behind the registrations: a Service that leads to ready replicas, at least two."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from webhook.doctor import questions
from webhook.doctor.case import Case
from webhook.doctor.findings import Note, error, info, warning
from webhook.rules.selectors import Selector

ENOUGH: Final = 2


def unserved(case: Case) -> Iterator[Note]:
    """A Service that is missing or leads to no ready Pod: every create of a parent is refused."""
    place = case.place
    subject = f"Service {place.namespace}/{place.service}"
    service = case.find(questions.service(place.namespace, place.service))
    if service is None:
        yield error(
            subject,
            "It does not exist, so no call of the API server reaches us.",
            "Apply it, or say its name in the configuration.",
        )
    elif service["spec"].get("type") == "ExternalName":
        name = service["spec"].get("externalName")
        yield info(
            subject,
            f"Can't tell whether the server is ready: the Service leads outside, to {name}.",
        )
    elif not any(_is_ready(item) for item in _endpoints(case)):
        yield error(
            subject,
            "It leads to no ready Pod, so TrainJobs and JobSets can't be created.",
            f"See why: kubectl -n {place.namespace} get pods, and the log of those.",
        )


def few_replicas(case: Case) -> Iterator[Note]:
    """Fewer replicas than wanted, or wanted fewer than two."""
    subject = f"Deployment {case.place.namespace}/{case.place.deployment}"
    deployment = case.find(questions.deployment(case.place))
    if deployment is None:
        yield info(subject, "Can't tell how many replicas run: there is no such Deployment.")
        return
    wanted = deployment["spec"].get("replicas", 1)
    ready = (deployment.get("status") or {}).get("readyReplicas", 0)
    if ready < wanted:
        where = f"kubectl -n {case.place.namespace} describe deployment {case.place.deployment}"
        yield error(subject, f"{ready} of {wanted} replicas are ready.", f"See why: {where}")
    if wanted < ENOUGH:
        yield warning(
            subject,
            "While its one replica moves, TrainJobs and JobSets can't be created.",
            f"Set replicas to {ENOUGH} or more.",
        )


def unbudgeted(case: Case) -> Iterator[Note]:
    """No PodDisruptionBudget: a drain may take all replicas at once."""
    subject = f"Deployment {case.place.namespace}/{case.place.deployment}"
    deployment = case.find(questions.deployment(case.place))
    if deployment is None:
        yield info(
            subject,
            "Can't tell what a PodDisruptionBudget would cover: there is no such Deployment.",
        )
        return
    labels = deployment["spec"]["template"]["metadata"].get("labels") or {}
    if not any(_covers(budget, labels) for budget in case.items(questions.budgets(case.place))):
        yield warning(
            subject,
            "No PodDisruptionBudget covers its Pods, so a drain may take all of them at once.",
            "Apply the PodDisruptionBudget of the installation.",
        )


def _endpoints(case: Case) -> Iterator[Mapping[str, Any]]:
    for part in case.items(questions.endpoints(case.place)):
        yield from part.get("endpoints") or ()


def _is_ready(endpoint: Mapping[str, Any]) -> bool:
    """A condition that is not given counts as true (discovery/v1)."""
    return (endpoint.get("conditions") or {}).get("ready") is not False


def _covers(budget: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    selector = msgspec.convert(budget["spec"].get("selector") or {}, Selector)
    return selector.matches(labels)
