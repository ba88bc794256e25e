"""The simulated kubelet: nodes that exist on paper, pods that run for as long as they say."""

from copy import deepcopy
from pathlib import Path

import yaml

from localcluster.component import Component, flags
from localcluster.identity import ADMIN
from localcluster.layout import HOST, Layout
from localcluster.manifests import Object
from localcluster.modules import KWOK

RUN_FOR = "localcluster.kueue-steps.io/run-for"
FAIL = "localcluster.kueue-steps.io/fail"
DEFAULT_RUN_MILLISECONDS = 3000
NODE_RESOURCES = {"cpu": "64", "memory": "512Gi", "pods": "200", "nvidia.com/gpu": "8"}

PLAIN_STAGES = (
    "node/fast/node-initialize.yaml",
    "pod/fast/pod-ready.yaml",
    "pod/fast/pod-delete.yaml",
    "volume/fast/pv-bind.yaml",
    "volume/fast/pv-delete.yaml",
    "volume/fast/pvc-delete.yaml",
    "volume/fast/pvc-provision.yaml",
)
COMPLETION_STAGE = "pod/fast/pod-complete.yaml"
STORAGE_CLASS = "volume/fast/storage-class.yaml"


def configure(layout: Layout) -> None:
    """Write the stages: upstream's, and a pod's end in two variants."""
    completion = _upstream(layout, COMPLETION_STAGE)
    stages = [_upstream(layout, name) for name in PLAIN_STAGES]
    stages += [succeeding(completion), failing(completion)]
    _stages_file(layout).write_text(yaml.safe_dump_all(stages))


def component(layout: Layout) -> Component:
    """KWOK's controller, as the kubelet of every node."""
    return Component(
        name="kwok",
        binary=layout.bin_dir / "kwok",
        arguments=flags(
            kubeconfig=layout.kubeconfig(ADMIN),
            config=_stages_file(layout),
            manage_all_nodes=True,
            node_ip=HOST,
            node_port=0,
            # Without leases the nodes go stale every 40 s, and with them their pods' timers.
            node_lease_duration_seconds=40,
            server_address=f"{HOST}:{layout.ports.kwok}",
        ),
        ready=f"http://{HOST}:{layout.ports.kwok}/readyz",
    )


def storage_class(layout: Layout) -> Object:
    """The default StorageClass, whose claims the volume stages bind."""
    return _upstream(layout, STORAGE_CLASS)


def nodes(count: int) -> list[Object]:
    """Nodes gpu-0, gpu-1 and so on, eight GPUs each."""
    return [_node(f"gpu-{number}") for number in range(count)]


def succeeding(completion: Object) -> Object:
    """Upstream's completion, after the time that the pod's annotation says."""
    return _delayed(completion, "pod-complete", "NotIn")


def failing(completion: Object) -> Object:
    """The same with exit code 1, for pods whose annotation says so."""
    stage = _delayed(completion, "pod-fail", "In")
    template = stage["spec"]["next"]["statusTemplate"]
    for old, new in (
        ("exitCode: 0", "exitCode: 1"),
        ("reason: Completed", "reason: Error"),
        ("phase: Succeeded", "phase: Failed"),
    ):
        template = template.replace(old, new)
    stage["spec"]["next"]["statusTemplate"] = template
    return stage


def _delayed(completion: Object, name: str, operator: str) -> Object:
    stage = deepcopy(completion)
    stage["metadata"]["name"] = name
    stage["spec"]["delay"] = {
        "durationMilliseconds": DEFAULT_RUN_MILLISECONDS,
        "durationFrom": {"expressionFrom": _annotation(RUN_FOR)},
    }
    condition = {"key": _annotation(FAIL), "operator": operator, "values": ["true"]}
    stage["spec"]["selector"]["matchExpressions"].append(condition)
    return stage


def _annotation(name: str) -> str:
    return f'.metadata.annotations["{name}"]'


def _node(name: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "pool": "gpu"}},
        "status": {"capacity": NODE_RESOURCES, "allocatable": NODE_RESOURCES},
    }


def _upstream(layout: Layout, name: str) -> Object:
    path = layout.modules[KWOK] / "kustomize" / "stage" / name
    document: Object = yaml.safe_load(path.read_text())
    return document


def _stages_file(layout: Layout) -> Path:
    return layout.folder("kwok") / "stages.yaml"
