"""How upstream manifests are made to fit processes on loopback."""

import base64
from copy import deepcopy
from typing import Any

import pytest

from localcluster.manifests import bundle, overlaid, served_at, trusting

SERVICE = {"name": "hook", "namespace": "system", "path": "/convert"}


def named(kind: str, **fields: Any) -> dict[str, Any]:
    """An object of the kind, with fields."""
    return {"kind": kind, "metadata": {"name": kind.lower()}, **fields}


def webhooks(kind: str = "MutatingWebhookConfiguration") -> dict[str, Any]:
    """A webhook configuration with two webhooks."""
    return named(kind, webhooks=[{"clientConfig": {"service": dict(SERVICE)}} for _ in range(2)])


def definition(strategy: str) -> dict[str, Any]:
    """A custom resource with this conversion."""
    conversion: dict[str, Any] = {"strategy": strategy}
    if strategy == "Webhook":
        conversion["webhook"] = {"clientConfig": {"service": dict(SERVICE)}}
    return named("CustomResourceDefinition", spec={"conversion": conversion})


@pytest.mark.parametrize(
    "kind", ["Deployment", "APIService", "ServiceMonitor", "Certificate", "NetworkPolicy"]
)
def test_what_needs_pods_is_left_out(kind: str) -> None:
    """Nothing is applied that only makes sense where managers run as pods."""
    sorted_out = bundle([named(kind), named("ClusterRole")])
    assert sorted_out.objects == [named("ClusterRole")]


def test_definitions_come_before_objects_and_webhooks_last() -> None:
    """Each manifest lands in the part that is applied at its time, in upstream's order."""
    sorted_out = bundle(
        [
            webhooks(),
            named("Namespace"),
            named("ServiceAccount"),
            definition("None"),
            named("ConfigMap"),
        ]
    )
    assert [item["kind"] for item in sorted_out.definitions] == [
        "Namespace",
        "CustomResourceDefinition",
    ]
    assert [item["kind"] for item in sorted_out.objects] == ["ServiceAccount", "ConfigMap"]
    assert sorted_out.webhooks == [webhooks()]


def test_a_service_leads_to_localhost() -> None:
    """A Service keeps its name and becomes an ExternalName."""
    (service,) = served_at([named("Service", spec={"ports": [{"port": 443}]})], 1234)
    assert service == named("Service", spec={"type": "ExternalName", "externalName": "localhost"})


@pytest.mark.parametrize("kind", ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"])
def test_every_webhook_gets_the_port(kind: str) -> None:
    """The API server is told the port of the process, and still verifies the Service's name."""
    (configuration,) = served_at([webhooks(kind)], 1234)
    services = [webhook["clientConfig"]["service"] for webhook in configuration["webhooks"]]
    assert services == [{**SERVICE, "port": 1234}] * 2


def test_conversion_webhooks_get_the_port_too() -> None:
    """Conversion is dialled in the same way as admission."""
    with_webhook, without = served_at([definition("Webhook"), definition("None")], 1234)
    client = with_webhook["spec"]["conversion"]["webhook"]["clientConfig"]
    assert client == {"service": {**SERVICE, "port": 1234}}
    assert without == definition("None")


def test_the_authority_is_set_wherever_a_webhook_is_dialled() -> None:
    """Admission and conversion trust the authority that signed the manager's certificate."""
    configuration, converted = trusting([webhooks(), definition("Webhook")], b"PEM")
    clients = [webhook["clientConfig"] for webhook in configuration["webhooks"]]
    clients.append(converted["spec"]["conversion"]["webhook"]["clientConfig"])
    assert {client["caBundle"] for client in clients} == {base64.b64encode(b"PEM").decode()}


def test_what_was_rendered_stays_as_it_was() -> None:
    """Editing returns copies."""
    rendered = [webhooks(), named("Service", spec={}), definition("Webhook")]
    before = deepcopy(rendered)
    trusting(served_at(rendered, 1234), b"PEM")
    assert rendered == before


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {"a": {"b": 1, "c": [1]}}),
        ({"a": {"b": 2}}, {"a": {"b": 2, "c": [1]}}),
        ({"a": {"c": [2, 3]}}, {"a": {"b": 1, "c": [2, 3]}}),
        ({"a": None}, {"a": None}),
        ({"d": {"e": 1}}, {"a": {"b": 1, "c": [1]}, "d": {"e": 1}}),
    ],
)
def test_overlaid_merges_mappings_and_replaces_the_rest(
    changes: dict[str, Any], expected: dict[str, Any]
) -> None:
    """Mappings are merged key by key; lists and values are replaced."""
    base = {"a": {"b": 1, "c": [1]}}
    assert overlaid(base, changes) == expected
    assert base == {"a": {"b": 1, "c": [1]}}
