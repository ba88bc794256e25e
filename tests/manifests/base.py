"""The objects of manifests/base, as written."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

BASE = Path(__file__).resolve().parents[2] / "manifests" / "base"
NAMESPACE = "kueue-steps-system"


def _objects() -> Iterator[dict[str, Any]]:
    kustomization = yaml.safe_load((BASE / "kustomization.yaml").read_text())
    for name in kustomization["resources"]:
        yield from yaml.safe_load_all((BASE / name).read_text())


OBJECTS = list(_objects())


def one(kind: str, name: str | None = None, namespace: str | None = None) -> dict[str, Any]:
    """The only object of the kind, or the one of that name and namespace."""
    (found,) = [
        item
        for item in OBJECTS
        if item["kind"] == kind
        and name in {None, item["metadata"]["name"]}
        and namespace in {None, item["metadata"].get("namespace")}
    ]
    return found
