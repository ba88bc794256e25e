"""The namespace that somebody works in: the kubeconfig's context says it, or the Pod's own."""

import os
from pathlib import Path
from typing import Any, Final

import yaml
from kubernetes.aio import config
from kubernetes.aio.config import ConfigException

from webhook.cluster.connection import IN_POD

DEFAULT: Final = "default"
POD_NAMESPACE: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


def namespace_of(kubeconfig: Path | None) -> str:
    """As kubectl chooses it; `default` where nothing says otherwise."""
    if kubeconfig is None and IN_POD in os.environ:
        return POD_NAMESPACE.read_text().strip() if POD_NAMESPACE.is_file() else DEFAULT
    try:
        _, active = config.list_kube_config_contexts(str(kubeconfig) if kubeconfig else None)
    except (ConfigException, OSError, yaml.YAMLError, TypeError):
        return DEFAULT  # Whoever connects says what is wrong with the file.
    context: Any = (active or {}).get("context") or {}
    return str(context.get("namespace") or DEFAULT)
