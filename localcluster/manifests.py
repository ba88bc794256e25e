"""Make upstream manifests fit managers that run as processes on loopback. Pure.

A webhook Service becomes an ExternalName for localhost, and the port of the process goes into the
webhook's clientConfig. The API server then dials loopback but verifies <service>.<namespace>.svc,
as in a cluster, so that certificates which a manager mints for itself work unchanged.
"""

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]

# There are no pods to deploy, nobody scrapes, nothing is aggregated, and flow control of one's own
# would only slow a cluster of this size.
LEFT_OUT = frozenset(
    {
        "APIService",
        "Certificate",
        "Deployment",
        "FlowSchema",
        "Issuer",
        "NetworkPolicy",
        "PodDisruptionBudget",
        "PriorityLevelConfiguration",
        "ServiceMonitor",
    }
)
WEBHOOK_KINDS = frozenset({"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"})
DEFINITION_KINDS = frozenset({"CustomResourceDefinition", "Namespace"})


@dataclass(frozen=True)
class Bundle:
    """Manifests in the order in which they have to be applied."""

    definitions: list[Object]
    objects: list[Object]
    webhooks: list[Object]


def bundle(objects: Iterable[Object]) -> Bundle:
    """Sort into what comes first, what needs that, and what changes the fate of later writes."""
    kept = [item for item in objects if item["kind"] not in LEFT_OUT]
    return Bundle(
        definitions=[item for item in kept if item["kind"] in DEFINITION_KINDS],
        objects=[item for item in kept if item["kind"] not in DEFINITION_KINDS | WEBHOOK_KINDS],
        webhooks=[item for item in kept if item["kind"] in WEBHOOK_KINDS],
    )


def served_at(objects: Iterable[Object], port: int) -> list[Object]:
    """Let Services lead to localhost and webhooks, conversion too, to this port."""

    def lead(item: Object) -> None:
        if item["kind"] == "Service":
            item["spec"] = {"type": "ExternalName", "externalName": "localhost"}
        for client in _client_configs(item):
            client["service"]["port"] = port

    return _edited(objects, lead)


def trusting(objects: Iterable[Object], authority: bytes) -> list[Object]:
    """Let the API server verify the webhooks' certificates with this authority (PEM)."""
    encoded = base64.b64encode(authority).decode()

    def trust(item: Object) -> None:
        for client in _client_configs(item):
            client["caBundle"] = encoded

    return _edited(objects, trust)


def config_map(namespace: str, name: str, data: Mapping[str, str]) -> Object:
    """A ConfigMap."""
    metadata = {"namespace": namespace, "name": name}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": dict(data)}


def overlaid(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `changes` merged in: mappings key by key, anything else replaced."""
    merged = dict(base)
    for key, value in changes.items():
        old = merged.get(key)
        both = isinstance(value, Mapping) and isinstance(old, Mapping)
        merged[key] = overlaid(old or {}, value) if both else value
    return merged


def _edited(objects: Iterable[Object], edit: Callable[[Object], None]) -> list[Object]:
    copies = [deepcopy(item) for item in objects]
    for copy in copies:
        edit(copy)
    return copies


def _client_configs(item: Object) -> Iterator[Object]:
    if item["kind"] in WEBHOOK_KINDS:
        yield from (webhook["clientConfig"] for webhook in item["webhooks"])
    conversion = item.get("spec", {}).get("conversion", {})
    if item["kind"] == "CustomResourceDefinition" and conversion.get("strategy") == "Webhook":
        yield conversion["webhook"]["clientConfig"]
