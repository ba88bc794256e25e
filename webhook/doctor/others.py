"""Other people's webhooks: those that change what we changed, and those that our Pods wait for."""

from collections.abc import Iterator, Mapping
from typing import Any

from webhook.doctor import hooks, questions
from webhook.doctor.case import Case
from webhook.doctor.findings import Note, info
from webhook.rules import names


def later(case: Case) -> Iterator[Note]:
    """Mutating configurations that see parents or Jobs after us, the known controllers' apart."""
    for configuration in case.items(questions.MUTATING):
        name = configuration["metadata"]["name"]
        if name <= case.place.mutating or _is_known(configuration):
            continue
        kinds = [
            resource
            for group, resource in hooks.STEPPED_KINDS
            if any(hooks.matches(one, group, resource) for one in hooks.webhooks(configuration))
        ]
        if kinds:
            yield info(
                f"MutatingWebhookConfiguration {name}",
                f"It may change {', '.join(kinds)} after us.",
                "If it sets suspend or queue labels, leave the steps' Jobs out of it.",
            )


def in_the_way_of_pods(case: Case) -> Iterator[Note]:
    """Webhooks with failurePolicy Fail that our own Pods have to pass when they start."""
    labels = _labels(case)
    for kind, question in (
        ("Mutating", questions.MUTATING),
        ("Validating", questions.VALIDATING),
    ):
        for configuration in case.items(question):
            blocking = [one["name"] for one in _strict(configuration) if _blocks(one, labels)]
            if blocking:
                yield info(
                    f"{kind}WebhookConfiguration {configuration['metadata']['name']}",
                    f"While {', '.join(blocking)} does not answer, our Pods can't be created.",
                    f"Leave namespace {case.place.namespace} out of it if you can.",
                )


def _is_known(configuration: Mapping[str, Any]) -> bool:
    tests = (hooks.is_kueues, hooks.is_jobsets, hooks.is_trainers)
    return any(test(configuration) for test in tests)


def _labels(case: Case) -> dict[str, str]:
    found = case.find(questions.one_namespace(case.place.namespace))
    labels = found["metadata"].get("labels") if found else None
    return {**(labels or {}), names.NAMESPACE_NAME: case.place.namespace}


def _strict(configuration: Mapping[str, Any]) -> Iterator[Any]:
    for webhook in hooks.webhooks(configuration):
        if webhook.get("failurePolicy", "Fail") == "Fail" and not webhook.get("objectSelector"):
            yield webhook


def _blocks(webhook: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    return hooks.matches(webhook, "", "pods") and hooks.selects(webhook, labels)
