"""Our two registrations: there, complete, before Kueue's, away from the system, true to users."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from webhook.doctor import hooks
from webhook.doctor.case import Case
from webhook.doctor.expected import (
    HELD_IN_PROCESS,
    MUTATE,
    MUTATING_ENTRIES,
    VALIDATE,
    VALIDATING_ENTRIES,
    Entry,
    fingerprint,
)
from webhook.doctor.findings import Note, error, info, warning
from webhook.doctor.questions import MUTATING, VALIDATING
from webhook.rules import names

APPLY: Final = "Apply the registrations of this version again."
NAMESPACE: Final = {"kubernetes.io/metadata.name"}


@dataclass(frozen=True, slots=True)
class Registration:
    """One of our configurations as it is in the cluster; `content` None where it is missing."""

    subject: str
    content: Mapping[str, Any] | None
    expected: Mapping[str, Entry]
    path: str

    @property
    def entries(self) -> dict[str, Any]:
        """Its webhooks by name, those alone that we ship."""
        found = hooks.webhooks(self.content) if self.content else []
        return {entry["name"]: entry for entry in found if entry["name"] in self.expected}


def registrations(case: Case) -> Iterator[Registration]:
    """The mutating and the validating one."""
    for kind, name, question, expected, path in (
        ("Mutating", case.place.mutating, MUTATING, MUTATING_ENTRIES, MUTATE),
        ("Validating", case.place.validating, VALIDATING, VALIDATING_ENTRIES, VALIDATE),
    ):
        found = {item["metadata"]["name"]: item for item in case.items(question)}
        subject = f"{kind}WebhookConfiguration {name}"
        yield Registration(subject, found.get(name), expected, path)


def absent(case: Case) -> Iterator[Note]:
    """A registration that does not exist."""
    for one in registrations(case):
        if one.content is None:
            yield error(
                one.subject,
                "It does not exist, so the API server never asks us: nothing is stepped or held.",
                "Apply it, or say its name in the configuration.",
            )


def incomplete(case: Case) -> Iterator[Note]:
    """Entries that are missing or differ from what this version ships."""
    for one in registrations(case):
        if one.content is None:
            continue
        entries = one.entries
        for name, expected in one.expected.items():
            if name not in entries:
                yield error(one.subject, f"The webhook {name} is missing from it.", APPLY)
                continue
            yield from _differences(one, name, entries[name], expected, case)


def misordered(case: Case) -> Iterator[Note]:
    """Ours has to come before Kueue's mutating configuration: they run in the order of names."""
    every = case.items(MUTATING)
    kueues = [item["metadata"]["name"] for item in every if hooks.is_kueues(item)]
    if not kueues:
        yield warning(
            "MutatingWebhookConfiguration",
            "None of Kueue's was found, so its place in the order can't be told.",
            "Install Kueue with its webhooks.",
        )
    for name in kueues:
        if not case.place.mutating < name:
            yield error(
                f"MutatingWebhookConfiguration {case.place.mutating}",
                f"It sorts after Kueue's {name}, so Kueue takes parents whole before we see them.",
                f"Give it a name that sorts before {name}, such as a-kueue-steps.",
            )


def wrong_scope(case: Case) -> Iterator[Note]:
    """Our entries must leave out the namespaces that a start of the cluster needs."""
    system = ("kube-system", case.policy.kueue_namespace, case.place.namespace)
    for one in registrations(case):
        for name, entry in one.entries.items():
            caught = [
                space for space in system if hooks.selects(entry, {names.NAMESPACE_NAME: space})
            ]
            if caught:
                yield error(
                    one.subject,
                    f"{name} also covers {', '.join(caught)}: they depend on us when they start.",
                    APPLY,
                )
            elif _is_narrowed(entry):
                yield info(
                    one.subject,
                    f"{name} covers only namespaces that its namespaceSelector chooses by label.",
                )


def wrong_users(case: Case) -> Iterator[Note]:
    """User names in match conditions have to be those of the configuration."""
    for one in registrations(case):
        for name, entry in one.entries.items():
            named = hooks.users(entry)
            if unknown := sorted(named - case.policy.kueue_users):
                yield error(
                    one.subject,
                    f"{name} lets {unknown[0]} start Jobs, which controllers.kueue of the "
                    "configuration does not name.",
                    "Say the same user name in the registration and in the configuration.",
                )
            elif named and (others := sorted(case.policy.kueue_users - named)):
                yield warning(
                    one.subject,
                    f"{name} does not name {others[0]}, so each start by that user waits for us.",
                    "Say the same user name in the registration and in the configuration.",
                )


def _differences(
    one: Registration, name: str, entry: Mapping[str, Any], expected: Entry, case: Case
) -> Iterator[Note]:
    yield from _misled(one, name, entry, case)
    if _rules(entry) != {(*expected.kind, verb) for verb in expected.operations}:
        yield error(one.subject, f"{name} does not cover what it has to, or covers more.", APPLY)
    if entry.get("failurePolicy", "Fail") != "Fail":
        yield error(
            one.subject,
            f"{name} has failurePolicy {entry['failurePolicy']}: while we are down, Jobs run "
            "that Kueue has not admitted.",
            "Set failurePolicy: Fail.",
        )
    reinvocation = entry.get("reinvocationPolicy")
    if reinvocation != expected.reinvocation:
        message = f"{name} has reinvocationPolicy {reinvocation}, not {expected.reinvocation}."
        yield warning(one.subject, message, APPLY)
    if expected.selects_steps and not _selects_steps(entry):
        message = f"{name} has no objectSelector for our label: every Job's write depends on us."
        yield error(one.subject, message, APPLY)
    for condition in _other_conditions(entry, expected):
        message = f"The matchCondition {condition} of {name} is not as this version ships it."
        yield warning(one.subject, message, APPLY)


def _misled(one: Registration, name: str, entry: Mapping[str, Any], case: Case) -> Iterator[Note]:
    """A call that goes elsewhere."""
    service = entry["clientConfig"].get("service") or {}
    place = (service.get("namespace"), service.get("name"), service.get("path"))
    wanted = (case.place.namespace, case.place.service, one.path)
    if place != wanted:
        url = entry["clientConfig"].get("url")
        leads = url or "/".join(str(part).strip("/") for part in place)
        yield error(
            one.subject,
            f"{name} leads to {leads} instead of Service {'/'.join(wanted).replace('//', '/')}.",
            "Apply the registrations again, or say the Service's name in the configuration.",
        )


def _other_conditions(entry: Mapping[str, Any], expected: Entry) -> list[str]:
    """Conditions that are missing, differ, or are somebody else's."""
    there = set(hooks.conditions(entry).items())
    if expected.may_be_held_in_process:
        there.discard(HELD_IN_PROCESS)
    found = {name: fingerprint(text) for name, text in there}
    every = sorted({*found, *expected.conditions})
    return [name for name in every if found.get(name) != expected.conditions.get(name)]


def _selects_steps(entry: Mapping[str, Any]) -> bool:
    """Whether it sees only what carries our label."""
    selector = (entry.get("objectSelector") or {}).get("matchExpressions") or []
    return {"key": names.STEP_QUEUE, "operator": "Exists"} in selector


def _rules(entry: Mapping[str, Any]) -> set[tuple[str, str, str]]:
    return {
        (group, resource, operation)
        for rule in entry.get("rules") or ()
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for operation in rule["operations"]
    }


def _is_narrowed(entry: Mapping[str, Any]) -> bool:
    selector = entry.get("namespaceSelector") or {}
    keys = {rule["key"] for rule in selector.get("matchExpressions") or ()}
    return bool(selector.get("matchLabels") or keys - NAMESPACE)
