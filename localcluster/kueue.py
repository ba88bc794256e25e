"""Kueue, with the certificates that it mints for itself and the configuration that tests vary."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import yaml

from localcluster.component import Component, flags
from localcluster.errors import KubectlError
from localcluster.identity import ADMIN
from localcluster.kubectl import Kubectl
from localcluster.layout import HOST, Layout
from localcluster.manifests import Object, config_map, overlaid, served_at
from localcluster.modules import KUEUE, PROJECT_ROOT
from localcluster.options import Options

NAMESPACE = "kueue-system"
SERVICE_ACCOUNT = "kueue-controller-manager"
CONFIG_MAP = "kueue-manager-config"
CONFIG_KEY = "controller_manager_config.yaml"
POLL_SECONDS = 0.2
CERTIFICATE_SECRET = "kueue-webhook-server-cert"  # noqa: S105  (its name, not its content)
# A kind with a Kueue webhook and no other effect: a dry run tells whether the webhooks answer.
PROBE = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "ResourceFlavor",
    "metadata": {"name": "localcluster-probe"},
}


def manifests(layout: Layout, kubectl: Kubectl) -> list[Object]:
    """Upstream's default installation, its configuration left to `configure`."""
    rendered = kubectl.render(layout.modules[KUEUE] / "config" / "default")
    ours = ("ConfigMap", CONFIG_MAP)
    kept = [item for item in rendered if (item["kind"], item["metadata"]["name"]) != ours]
    return served_at(kept, layout.ports.kueue)


def configuration(shipped: dict[str, Any], layout: Layout, options: Options) -> dict[str, Any]:
    """Upstream's shipped configuration, moved to loopback, with what the options ask for."""
    ports = layout.ports
    ours = {
        "namespace": NAMESPACE,
        "health": {"healthProbeBindAddress": f"{HOST}:{ports.kueue_health}"},
        "metrics": {"bindAddress": f"{HOST}:{ports.kueue_metrics}"},
        "webhook": {"host": HOST, "port": ports.kueue, "certDir": str(_certificates(layout))},
        "leaderElection": {"leaderElect": False},
        # With it off, Kueue wants its certificates under /etc.
        "internalCertManagement": {"enable": True},
        "manageJobsWithoutQueueName": options.manage_all,
        "integrations": {"frameworks": list(options.frameworks)},
    }
    return overlaid(overlaid(shipped, ours), options.kueue_extra)


def configure(layout: Layout, options: Options) -> Object:
    """Write the process's configuration file; return the ConfigMap that says the same."""
    shipped = layout.modules[KUEUE] / "config" / "components" / "manager" / CONFIG_KEY
    written = configuration(yaml.safe_load(shipped.read_text()), layout, options)
    text = yaml.safe_dump(written)
    _configuration_file(layout).write_text(text)
    return config_map(NAMESPACE, CONFIG_MAP, {CONFIG_KEY: text})


def component(layout: Layout) -> Component:
    """Kueue's manager."""
    return Component(
        name="kueue",
        binary=layout.bin_dir / "kueue",
        arguments=flags(
            config=_configuration_file(layout),
            zap_log_level=2,
            # The visibility server wants an in-cluster configuration.
            feature_gates="VisibilityOnDemand=false",
        ),
        environment={"KUBECONFIG": str(layout.kubeconfig(SERVICE_ACCOUNT))},
        ready=f"http://{HOST}:{layout.ports.kueue_health}/readyz",
    )


def certificate_mount(layout: Layout) -> Component:
    """What the kubelet does for Kueue's pod: keeps the Secret's content in its certDir."""
    return Component(
        name="kueue-certificates",
        binary=Path(sys.executable),
        arguments=(
            "-m",
            "localcluster.secretsync",
            *flags(
                kubeconfig=layout.kubeconfig(ADMIN),
                namespace=NAMESPACE,
                secret=CERTIFICATE_SECRET,
                to=_certificates(layout),
            ),
        ),
        environment={"PYTHONPATH": str(PROJECT_ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
    )


def await_webhooks(kubectl: Kubectl, *, within: float = 60.0) -> None:
    """Return when the API server gets answers from Kueue's webhooks; else the last KubectlError.

    Readiness of the process is not enough: the authority has to be in the webhooks by then too.
    """
    deadline = time.monotonic() + within
    while True:
        try:
            kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(PROBE))
        except KubectlError:
            if time.monotonic() > deadline:
                raise
            time.sleep(POLL_SECONDS)
        else:
            return


def _certificates(layout: Layout) -> Path:
    return layout.root / "kueue" / "certificates"


def _configuration_file(layout: Layout) -> Path:
    return layout.folder("kueue") / "config.yaml"
