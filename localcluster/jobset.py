"""JobSet, with a certificate from the control plane's own authority."""

from pathlib import Path
from typing import Any

import yaml

from localcluster.component import Component, flags
from localcluster.identity import issue_service_pair
from localcluster.kubectl import Kubectl
from localcluster.layout import HOST, Layout
from localcluster.manifests import Object, overlaid, served_at, trusting
from localcluster.modules import JOBSET

NAMESPACE = "jobset-system"
SERVICE_ACCOUNT = "jobset-controller-manager"
WEBHOOK_SERVICE = "jobset-webhook-service"


def manifests(layout: Layout, kubectl: Kubectl) -> list[Object]:
    """Upstream's default installation."""
    rendered = kubectl.render(layout.modules[JOBSET] / "config" / "default")
    return trusting(served_at(rendered, layout.ports.jobset), layout.authority.read_bytes())


def configuration(shipped: dict[str, Any], layout: Layout) -> dict[str, Any]:
    """Upstream's shipped configuration, moved to loopback."""
    ports, certificates = layout.ports, str(_certificates(layout))
    ours = {
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "health": {"healthProbeBindAddress": f"{HOST}:{ports.jobset_health}"},
        "metrics": {"bindAddress": f"{HOST}:{ports.jobset_metrics}", "certDir": certificates},
        "webhook": {"host": HOST, "port": ports.jobset, "certDir": certificates},
    }
    return overlaid(shipped, ours)


def configure(layout: Layout) -> None:
    """Write the process's configuration file and its certificates."""
    issue_service_pair(layout, WEBHOOK_SERVICE, NAMESPACE, _certificates(layout))
    manager = layout.modules[JOBSET] / "config" / "components" / "manager"
    shipped = yaml.safe_load((manager / "controller_manager_config.yaml").read_text())
    _configuration_file(layout).write_text(yaml.safe_dump(configuration(shipped, layout)))


def component(layout: Layout) -> Component:
    """JobSet's manager."""
    return Component(
        name="jobset",
        binary=layout.bin_dir / "jobset",
        arguments=flags(config=_configuration_file(layout)),
        environment={"KUBECONFIG": str(layout.kubeconfig(SERVICE_ACCOUNT))},
        ready=f"http://{HOST}:{layout.ports.jobset_health}/readyz",
    )


def _certificates(layout: Layout) -> Path:
    return layout.root / "jobset" / "certificates"


def _configuration_file(layout: Layout) -> Path:
    return layout.folder("jobset") / "config.yaml"
