"""Kueue's own configuration: settings under which stepping can't work, read as the rules do."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import msgspec
import yaml

from webhook.cluster.survey import Question
from webhook.doctor import questions
from webhook.doctor.case import Case
from webhook.doctor.findings import Note, error, info, warning
from webhook.rules import kueue, names
from webhook.rules.facts import Facts, Found, Key
from webhook.rules.policy import Kueue

SHOWN: Final = 5
PARENTS: Final = (names.TRAINJOB_FRAMEWORK, names.JOBSET_FRAMEWORK)


def unread(case: Case) -> Iterator[Note]:
    """Kueue's configuration is not where it is looked for, or can't be understood."""
    policy = case.policy
    subject = f"ConfigMap {policy.kueue_namespace}/{policy.kueue_config_map}"
    if policy.kueue is not None:
        yield info(subject, "It is not asked: kueue.frameworks of our configuration says all.")
        return
    found = case.find(_config_map(case))
    if found is None:
        yield warning(
            subject,
            "It does not exist, so the server takes batch/job, JobSet and TrainJob to be on.",
            "Say where it is (kueue.namespace, kueue.configMap), or kueue.frameworks and "
            "kueue.manageJobsWithoutQueueName.",
        )
    elif not _is_understood((found.get("data") or {}).get(kueue.CONFIGURATION_KEY)):
        yield warning(
            subject,
            f"Its key {kueue.CONFIGURATION_KEY} is not a configuration of Kueue, "
            "so the server takes batch/job, JobSet and TrainJob to be on.",
            "Mend it, or say kueue.frameworks and kueue.manageJobsWithoutQueueName.",
        )


def defeating(case: Case) -> Iterator[Note]:
    """C16: integrations that are off, or that take all Jobs of a parent for managed by it."""
    settings = _settings("default", case)
    subject = f"ConfigMap {case.policy.kueue_namespace}/{case.policy.kueue_config_map}"
    if not settings.admits(names.JOB_FRAMEWORK):
        yield error(
            subject,
            f"The integration {names.JOB_FRAMEWORK} is off, so nothing can be stepped.",
            f"Add {names.JOB_FRAMEWORK} to integrations.frameworks of Kueue.",
        )
    elif not replace(settings, manages_namespace=True).admits_steps:
        yield error(
            subject,
            "manageJobsWithoutQueueName is on together with the integration of a parent, "
            "so Kueue takes every parent whole.",
            "Switch manageJobsWithoutQueueName off, or the JobSet and TrainJob integrations.",
        )
    for framework in PARENTS:
        if not settings.admits(framework):
            yield info(
                subject,
                f"The integration {framework} is off: parents that need all their steps at once "
                "are stepped too, since nothing else would queue them.",
            )


def left_out(case: Case) -> Iterator[Note]:
    """Namespaces that Kueue does not manage: their parents are left as submitted."""
    system = {"kube-system", case.policy.kueue_namespace, case.place.namespace}
    unmanaged = [
        name
        for name, facts in _spaces(case).items()
        if name not in system and not _settings(name, case, facts).manages_namespace
    ]
    queued = {
        item["metadata"]["namespace"] for item in case.items(questions.local_queues(case.namespace))
    }
    for name in unmanaged:
        if name in queued:
            yield warning(
                f"Namespace {name}",
                "It has a LocalQueue, but Kueue's managedJobsNamespaceSelector leaves it out: "
                "nothing in it is queued.",
                "Label the namespace as the selector wants it, or widen the selector.",
            )
    if others := [name for name in unmanaged if name not in queued]:
        shown = ", ".join(others[:SHOWN]) + (", ..." if len(others) > SHOWN else "")
        yield info(
            f"{len(others)} namespaces" if len(others) > 1 else f"Namespace {others[0]}",
            f"Kueue's managedJobsNamespaceSelector leaves out {shown}.",
        )


def _settings(namespace: str, case: Case, facts: Facts | None = None) -> Kueue:
    """As the rules see it; where Kueue's configuration may not be read, CantTell."""
    key = kueue.configuration_key(case.policy)
    if case.policy.kueue is None and (found := case.find(_config_map(case))):
        facts = {**(facts or {}), key: Found(found)}
    return kueue.settings(namespace, facts or {}, case.policy)


def _spaces(case: Case) -> dict[str, Facts]:
    """The examined namespaces by name, as facts."""
    if case.namespace:
        items = [case.need(questions.one_namespace(case.namespace))]
    else:
        items = case.items(questions.all_namespaces())
    names_and_items = ((item["metadata"]["name"], item) for item in items)
    return {
        name: {Key("", "v1", "namespaces", name): Found(item)} for name, item in names_and_items
    }


def _config_map(case: Case) -> Question:
    return questions.config_map(case.policy.kueue_namespace, case.policy.kueue_config_map)


def _is_understood(text: str | None) -> bool:
    try:
        msgspec.convert(yaml.safe_load(text or ""), kueue.Configuration)
    except (yaml.YAMLError, ValueError, RecursionError):
        return False
    return True
