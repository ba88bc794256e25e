"""Our own webhook, installed as in a cluster: by the manifests, with their account and RBAC.

Only what a process on loopback needs differs from a cluster: the Service is an ExternalName, the
ports are free ones, and the certificate is minted by the control plane's authority.
"""

import sys
from pathlib import Path
from typing import Any

from localcluster.cluster import Cluster
from localcluster.component import Component
from localcluster.identity import issue_service_pair
from localcluster.kubectl import Kubectl
from localcluster.layout import HOST, Layout, load_layout, unused
from localcluster.manifests import Object, bundle, served_at, trusting
from localcluster.modules import PROJECT_ROOT
from localcluster.processes import Process

NAME = "webhook"
NAMESPACE = "kueue-steps-system"
ACCOUNT = "kueue-steps"
SERVICE = "kueue-steps"
BASE = PROJECT_ROOT / "manifests" / "base"


def install(cluster: Cluster) -> Process:
    """Apply manifests/base and serve; returns when reviews are answered."""
    layout = load_layout(cluster.state_dir)
    ports = unused(2)
    objects = bundle(manifests(layout, ports[0]))
    cluster.apply(objects.definitions)
    cluster.apply(objects.objects)
    cluster.write_kubeconfig(ACCOUNT, cluster.token(NAMESPACE, ACCOUNT))
    issue_service_pair(layout, SERVICE, NAMESPACE, _folder(layout))
    process = cluster.spawn(component(layout, _configuration(objects.objects), *ports))
    cluster.apply(objects.webhooks)
    return process


def install_or_end(cluster: Cluster) -> None:
    """Install, or end the whole control plane: half of it is of no use."""
    try:
        install(cluster)
    except BaseException:
        cluster.down()
        raise


def manifests(layout: Layout, port: int) -> list[Object]:
    """The rendered base, leading to this port."""
    return trusting(served_at(Kubectl(layout).render(BASE), port), layout.authority.read_bytes())


def component(layout: Layout, configuration: str, port: int, operations: int) -> Component:
    """`kueue-steps serve` with the configuration of the manifests."""
    folder = _folder(layout)
    path = folder / "configuration.yaml"
    path.write_text(configuration)
    return Component(
        name=NAME,
        binary=Path(sys.executable),
        arguments=("-m", "webhook", "serve", f"--config={path}"),
        environment={
            "KUBECONFIG": str(layout.kubeconfig(ACCOUNT)),
            "KUEUE_STEPS_SERVER__HOST": HOST,
            "KUEUE_STEPS_SERVER__PORT": str(port),
            "KUEUE_STEPS_SERVER__OPERATIONS_PORT": str(operations),
            "KUEUE_STEPS_SERVER__CERTIFICATE_FILE": str(folder / "tls.crt"),
            "KUEUE_STEPS_SERVER__KEY_FILE": str(folder / "tls.key"),
        },
        ready=f"http://{HOST}:{operations}/readyz",
    )


def _configuration(objects: list[Object]) -> str:
    maps: list[dict[str, Any]] = [item for item in objects if item["kind"] == "ConfigMap"]
    content: str = maps[0]["data"]["configuration.yaml"]
    return content


def _folder(layout: Layout) -> Path:
    return layout.folder(NAME)
