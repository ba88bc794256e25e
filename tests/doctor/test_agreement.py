"""What the doctor expects is what the manifests ship, what it says is what the docs explain."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonpatch import JsonPatch

from tests.doctor.patient import BASE, PLACE, POLICY, shipped
from webhook.doctor import hooks, rights
from webhook.doctor.expected import (
    HELD_IN_PROCESS,
    MUTATE,
    MUTATING_ENTRIES,
    VALIDATE,
    VALIDATING_ENTRIES,
    Entry,
    fingerprint,
)
from webhook.doctor.findings import Check, Severity
from webhook.doctor.place import HOLD_POLICIES
from webhook.doctor.rights import Right
from webhook.http.app import MUTATE_PATH, VALIDATE_PATH
from webhook.rules import names

HOLD = BASE.parent / "components" / "in-process-hold"
DOCS = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "doctor.md"
MUTATING, VALIDATING = shipped()


def _entry(webhook: dict[str, Any]) -> Entry:
    (rule,) = webhook["rules"]
    selector = (webhook.get("objectSelector") or {}).get("matchExpressions")
    return Entry(
        kind=(*rule["apiGroups"], *rule["resources"]),
        operations=frozenset(rule["operations"]),
        conditions={k: fingerprint(text) for k, text in hooks.conditions(webhook).items()},
        reinvocation=webhook.get("reinvocationPolicy"),
        selects_steps=selector == [{"key": names.STEP_QUEUE, "operator": "Exists"}],
    )


@pytest.mark.parametrize(
    ("configuration", "expected"),
    [(MUTATING, MUTATING_ENTRIES), (VALIDATING, VALIDATING_ENTRIES)],
    ids=["mutating", "validating"],
)
def test_expected_registrations_are_those_of_the_manifests(
    configuration: dict[str, Any], expected: dict[str, Entry]
) -> None:
    """Entries, kinds, operations, conditions and reinvocation are compared as a whole."""
    assert {hook["name"]: _entry(hook) for hook in configuration["webhooks"]} == expected


def test_the_hold_in_the_api_server_is_that_of_the_component() -> None:
    """Its policies, each with a binding, and what it makes of the registration."""
    objects = [
        item
        for name in ("created_jobs.yaml", "updated_jobs.yaml")
        for item in yaml.safe_load_all((HOLD / name).read_text())
    ]
    policies = [o["metadata"]["name"] for o in objects if o["kind"] == "MutatingAdmissionPolicy"]
    bound = [o["spec"]["policyName"] for o in objects if o["kind"].endswith("Binding")]
    assert policies == bound == list(HOLD_POLICIES)
    patch = JsonPatch(yaml.safe_load((HOLD / "registrations.yaml").read_text()))
    patched = {hook["name"]: hook for hook in patch.apply(MUTATING)["webhooks"]}
    for name, expected in MUTATING_ENTRIES.items():
        held = HELD_IN_PROCESS in hooks.conditions(patched[name]).items()
        assert held == expected.may_be_held_in_process
    assert not any(entry.may_be_held_in_process for entry in VALIDATING_ENTRIES.values())


def test_certificates_of_others_need_no_rights() -> None:
    """What the component cert-manager takes away is what is not asked for then."""
    theirs = replace(PLACE, mints_certificates=False)
    taken = set(rights.needed(PLACE, POLICY)) - set(rights.needed(theirs, POLICY))
    assert taken == set(_granted(BASE / "rbac_certificates.yaml"))


def test_paths_are_those_that_are_served() -> None:
    """The doctor must not import the server, so it says the paths again."""
    assert (MUTATE, VALIDATE) == (MUTATE_PATH, VALIDATE_PATH)


def test_names_of_the_place_are_those_of_the_manifests() -> None:
    """Each object that the doctor looks for by name is one of the manifests."""
    there = {(o["kind"], o["metadata"]["name"]) for o in _objects()}
    kustomization = yaml.safe_load((BASE / "kustomization.yaml").read_text())
    generated = {("ConfigMap", one["name"]) for one in kustomization["configMapGenerator"]}
    assert {
        ("Namespace", PLACE.namespace),
        ("Service", PLACE.service),
        ("Deployment", PLACE.deployment),
        ("ServiceAccount", PLACE.account),
        ("ConfigMap", PLACE.config_map),
        ("MutatingWebhookConfiguration", PLACE.mutating),
        ("ValidatingWebhookConfiguration", PLACE.validating),
    } <= there | generated


def _objects(*files: Path) -> Iterator[dict[str, Any]]:
    """Of these files, else of all that the base has."""
    kustomization = yaml.safe_load((BASE / "kustomization.yaml").read_text())
    for path in files or (BASE / name for name in kustomization["resources"]):
        yield from yaml.safe_load_all(path.read_text())


def _granted(*files: Path) -> Iterator[Right]:
    for role in _objects(*files):
        if role["kind"] not in {"ClusterRole", "Role"}:
            continue
        where = role["metadata"].get("namespace", "")
        for rule in role["rules"]:
            every = product(
                rule["verbs"],
                rule["apiGroups"],
                rule["resources"],
                rule.get("resourceNames", [""]),
            )
            yield from (Right(*one, namespace=where) for one in every)


def test_rights_that_are_looked_for_are_those_of_the_manifests() -> None:
    """Verb by verb, each of its resource, name and namespace."""
    assert set(rights.needed(PLACE, POLICY)) == set(_granted())


def _documented() -> list[tuple[str, str]]:
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", DOCS.read_text(), re.MULTILINE)
    return [(name, severities.strip()) for name, severities in rows]


def test_the_documentation_explains_every_check_in_order() -> None:
    """The table of docs/how-to/doctor.md has one row for each name."""
    assert [name for name, _ in _documented()] == list(Check)


def test_the_documentation_knows_the_severities() -> None:
    """The second column holds severities and nothing else."""
    for _, severities in _documented():
        assert set(severities.split(", ")) <= set(Severity)
