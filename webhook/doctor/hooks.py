"""Views of webhook configurations: whose they are, where they lead, what they match."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from webhook.rules import names
from webhook.rules.selectors import Selector

Object = Mapping[str, Any]

STEPPED_KINDS: Final = (
    (names.TRAINER_GROUP, "trainjobs"),
    (names.JOBSET_GROUP, "jobsets"),
    (names.BATCH_GROUP, "jobs"),
)
# The path that controller-runtime makes of the kind; Kueue's webhook for JobSets has it too.
JOBSET_PATH: Final = "/mutate-jobset-x-k8s-io-v1alpha2-jobset"
TRAINER_PATH: Final = "/mutate-trainer-kubeflow-org-v1alpha1-trainjob"
ACCOUNT: Final = re.compile(r"'(system:serviceaccount:[^']+)'")
QUOTED_ACCOUNT: Final = "'<user>'"


def webhooks(configuration: Object) -> list[Any]:
    """The entries of a configuration."""
    return configuration.get("webhooks") or []


def matches(webhook: Object, group: str, resource: str) -> bool:
    """Whether one of its rules covers creating or updating the resource."""
    return any(
        _covers(rule.get("apiGroups"), group)
        and _covers(rule.get("resources"), resource)
        and {"*", "CREATE", "UPDATE"} & set(rule.get("operations") or ())
        for rule in webhook.get("rules") or ()
    )


def is_kueues(configuration: Object) -> bool:
    """Whether it is Kueue's, whatever its name: it registers Kueue's own kinds."""
    return any(
        group == names.KUEUE_GROUP
        for webhook in webhooks(configuration)
        for rule in webhook.get("rules") or ()
        for group in rule.get("apiGroups") or ()
    )


def is_jobsets(configuration: Object) -> bool:
    """Whether it is the JobSet controller's."""
    return not is_kueues(configuration) and JOBSET_PATH in _paths(configuration)


def is_trainers(configuration: Object) -> bool:
    """Whether it is Trainer's."""
    return not is_kueues(configuration) and TRAINER_PATH in _paths(configuration)


def services(configuration: Object) -> set[tuple[str, str]]:
    """Namespace and name of the Services that it leads to."""
    return {
        (service["namespace"], service["name"]) for service in _services(webhooks(configuration))
    }


def selects(webhook: Object, labels: Mapping[str, str]) -> bool:
    """Whether its namespaceSelector takes a namespace with these labels."""
    selector = msgspec.convert(webhook.get("namespaceSelector") or {}, Selector)
    return selector.matches(labels)


def conditions(webhook: Object) -> dict[str, str]:
    """Its match conditions by name, white space and user names apart."""
    return {
        condition["name"]: ACCOUNT.sub(QUOTED_ACCOUNT, " ".join(condition["expression"].split()))
        for condition in webhook.get("matchConditions") or ()
    }


def users(webhook: Object) -> set[str]:
    """The ServiceAccounts that its match conditions name."""
    return {
        user
        for condition in webhook.get("matchConditions") or ()
        for user in ACCOUNT.findall(condition["expression"])
    }


def _covers(words: Iterable[str] | None, word: str) -> bool:
    return bool({"*", "*/*", word} & set(words or ()))


def _services(entries: Iterable[Object]) -> Iterator[Any]:
    for webhook in entries:
        if service := webhook["clientConfig"].get("service"):
            yield service


def _paths(configuration: Object) -> set[str]:
    return {service.get("path", "") for service in _services(webhooks(configuration))}
