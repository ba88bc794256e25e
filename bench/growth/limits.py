"""The client limits of controllers that would be the bottleneck long before anything else."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import yaml

from localcluster import kubernetes, kwok
from localcluster.cluster import Cluster
from localcluster.component import flags
from localcluster.layout import load_layout

QPS: Final = 1000
BURST: Final = 2000
NODES: Final = 20

SAID: Final = (
    f"controller manager {QPS}/{BURST} instead of 20/30, Trainer {QPS}/{BURST} instead of 50/100; "
    "Kueue 300/500 and JobSet 500/500 as they ship; all workers as they ship"
)
"""Requests a second and burst."""


def raise_limits(cluster: Cluster) -> None:
    """Start the controller manager and Trainer anew, with limits that they do not reach."""
    layout = load_layout(cluster.state_dir)
    component = kubernetes.controller_manager(layout)
    kept = tuple(_without_limits(component.arguments))
    raised = kept + flags(kube_api_qps=QPS, kube_api_burst=BURST)
    cluster.stop(component.name)
    cluster.spawn(replace(component, arguments=raised))
    path = layout.folder("trainer") / "config.yaml"
    configuration = yaml.safe_load(path.read_text())
    configuration["clientConnection"] = {"qps": QPS, "burst": BURST}
    path.write_text(yaml.safe_dump(configuration))
    cluster.restart("trainer")


def add_nodes(cluster: Cluster) -> None:
    """Room for all the pods that run at a time."""
    cluster.apply(kwok.nodes(NODES), server_side=False)
    cluster.kubectl("wait", "node", "--all", "--for=condition=Ready", "--timeout=60s")


def _without_limits(arguments: tuple[str, ...]) -> Iterator[str]:
    return (item for item in arguments if not item.startswith("--kube-api-"))
