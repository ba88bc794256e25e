"""Kubeflow Trainer, with a certificate from the control plane's own authority."""

import os
from pathlib import Path
from typing import Any

import yaml

from localcluster.component import Component, flags
from localcluster.identity import issue_service_pair
from localcluster.kubectl import Kubectl
from localcluster.layout import HOST, Layout
from localcluster.manifests import Object, overlaid, served_at, trusting
from localcluster.modules import TRAINER

NAMESPACE = "kubeflow-system"
SERVICE_ACCOUNT = "kubeflow-trainer-controller-manager"
WEBHOOK_SERVICE = "kubeflow-trainer-controller-manager"
# Upstream's overlay `manager`, without the JobSet that it fetches from the network.
PARTS = (
    "overlays/manager/namespace.yaml",
    "base/crds",
    "base/manager",
    "base/rbac",
    "base/webhook",
)


def manifests(layout: Layout, kubectl: Kubectl) -> list[Object]:
    """Upstream's installation in kubeflow-system."""
    folder = layout.folder("trainer", "kustomize").resolve()
    upstream = _upstream(layout)
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "namespace": NAMESPACE,
        # kustomize takes no absolute paths.
        "resources": [os.path.relpath(upstream / part, folder) for part in PARTS],
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    rendered = kubectl.render(folder)
    return trusting(served_at(rendered, layout.ports.trainer), layout.authority.read_bytes())


def runtimes(layout: Layout, kubectl: Kubectl) -> list[Object]:
    """The ClusterTrainingRuntimes that Trainer ships; its webhook has to answer first."""
    return kubectl.render(_upstream(layout) / "base" / "runtimes")


def configuration(shipped: dict[str, Any], layout: Layout) -> dict[str, Any]:
    """Upstream's shipped configuration, moved to loopback."""
    ports = layout.ports
    ours = {
        "leaderElection": {"leaderElect": False},
        "certManagement": {"enable": False},
        "health": {"healthProbeBindAddress": f"{HOST}:{ports.trainer_health}"},
        "metrics": {"bindAddress": f"{HOST}:{ports.trainer_metrics}", "secureServing": False},
        "webhook": {"host": HOST, "port": ports.trainer},
        "statusServer": {"port": ports.trainer_status},
    }
    return overlaid(shipped, ours)


def configure(layout: Layout) -> None:
    """Write the process's configuration file and its certificates."""
    # Where controller-runtime looks by default: Trainer's configuration can't say otherwise.
    serving = _temporary(layout) / "k8s-webhook-server" / "serving-certs"
    issue_service_pair(layout, WEBHOOK_SERVICE, NAMESPACE, serving)
    shipped = _upstream(layout) / "base" / "manager" / "controller_manager_config.yaml"
    written = configuration(yaml.safe_load(shipped.read_text()), layout)
    _configuration_file(layout).write_text(yaml.safe_dump(written))


def component(layout: Layout) -> Component:
    """Trainer's manager."""
    return Component(
        name="trainer",
        binary=layout.bin_dir / "trainer-controller-manager",
        arguments=flags(config=_configuration_file(layout), zap_log_level=2),
        environment={
            "KUBECONFIG": str(layout.kubeconfig(SERVICE_ACCOUNT)),
            "TMPDIR": str(_temporary(layout)),
        },
        ready=f"http://{HOST}:{layout.ports.trainer_health}/readyz",
    )


def _upstream(layout: Layout) -> Path:
    return (layout.modules[TRAINER] / "manifests").resolve()


def _temporary(layout: Layout) -> Path:
    return layout.root / "trainer" / "tmp"


def _configuration_file(layout: Layout) -> Path:
    return layout.folder("trainer") / "config.yaml"
