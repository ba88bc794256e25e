"""The ways of installing, rendered, in one form in which they can be compared."""

import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from localcluster.build import build
from localcluster.tools import tools
from webhook.settings import Configuration

MANIFESTS = Path(__file__).resolve().parents[2] / "manifests"
NAMESPACE = "kueue-steps-system"
COMPONENTS = {
    "cert-manager": ("certificates.source=certManager",),
    "in-process-hold": ("inProcessHold.enabled=true",),
    "monitoring": ("monitoring.enabled=true",),
    "network-policy": ("networkPolicy.enabled=true",),
}
"""Each kustomize component, and the values of the chart that say the same."""

CHECKSUM = "checksum/configuration"
"""The chart's annotation that rolls pods out for a new configuration; kustomize has no such."""

Object = dict[str, Any]
Objects = dict[tuple[str, str, str], Object]


def kustomized(folder: Path, *components: str) -> str:
    """The base with components, in a kustomization written into the folder."""
    kustomization = folder / "kustomization.yaml"
    content = {
        "resources": [_way(folder, MANIFESTS / "base")],
        "components": [_way(folder, MANIFESTS / "components" / name) for name in components],
    }
    kustomization.write_text(yaml.safe_dump(content))
    return _output(build(say=print) / "kubectl", "kustomize", folder)


def templated(*values: str, namespace: str = NAMESPACE) -> str:
    """The chart with these values."""
    return _output(*_template(namespace, values))


def refusal(*values: str) -> str:
    """What helm says to these values; fails if it takes them."""
    result = subprocess.run(
        _template(NAMESPACE, values), capture_output=True, text=True, check=False
    )
    assert result.returncode != 0, f"helm took {values}"
    return result.stderr


def installed() -> str:
    """The file install.yaml."""
    return (MANIFESTS / "install.yaml").read_text()


def objects(text: str) -> Objects:
    """By kind, namespace and name; configurations as the server understands them."""
    found: Objects = {}
    for item in filter(None, yaml.safe_load_all(text)):
        metadata = item["metadata"]
        key = (item["kind"], metadata.get("namespace", ""), metadata["name"])
        assert key not in found, f"{key} twice"
        found[key] = _comparable(item)
    return found


def without_namespace(found: Objects) -> Objects:
    """Helm makes the namespace itself, so the chart can't hold it."""
    return {key: item for key, item in found.items() if key[0] != "Namespace"}


def one(found: Objects, kind: str, name: str = "kueue-steps") -> Object:
    """The object of this kind and name, in whatever namespace."""
    (item,) = [item for key, item in found.items() if (key[0], key[2]) == (kind, name)]
    return item


def _comparable(item: Object) -> Object:
    if content := item.get("data", {}).get("configuration.yaml"):
        item["data"] = Configuration(**yaml.safe_load(content)).model_dump()
    for webhook in item.get("webhooks", []):
        for condition in webhook.get("matchConditions", []):
            # kustomize folds lines in its own way; CEL takes any white space for one.
            condition["expression"] = " ".join(condition["expression"].split())
    if item["kind"] == "Deployment":
        metadata = item["spec"]["template"]["metadata"]
        metadata.get("annotations", {}).pop(CHECKSUM, None)
        if not metadata.get("annotations"):
            metadata.pop("annotations", None)
    return item


def _template(namespace: str, values: Iterable[str]) -> list[str]:
    helm = [tools() / "helm", "template", "any-name", MANIFESTS / "chart", "-n", namespace]
    settings = [part for value in values for part in ("--set", value)]
    return [*map(str, helm), *settings]


def _way(folder: Path, target: Path) -> str:
    # kustomize takes no absolute paths.
    return str(Path(*[".."] * (len(folder.resolve().parts) - 1), *target.resolve().parts[1:]))


def _output(*command: str | Path) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
