"""What the pods of a step ask for, how many there are, and what a TrainJob changes in it."""

from typing import Any

import msgspec
import pytest

from webhook.preview.nodes import MLPolicy, Nodes, sized
from webhook.preview.pods import PodSpec, Step
from webhook.preview.quantities import written

ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"


def container(name: str = "main", **requests: Any) -> dict[str, Any]:
    """A container that asks for this."""
    return {"name": name, "resources": {"requests": requests}}


def step(name: str, ancestor: str | None = None, **spec: Any) -> Step:
    """A replicatedJob with one container `node` that asks for 1 CPU."""
    pod = {"spec": {"containers": [container("node", cpu=1)]}}
    labels = {ANCESTOR: ancestor} if ancestor else {}
    template = {"metadata": {"labels": labels}, "spec": {"template": pod, **spec}}
    return msgspec.convert({"name": name, "template": template}, Step)


SIDECAR = {**container("sidecar", cpu=2), "restartPolicy": "Always"}
PODS = {
    "containers are added up": (
        {"containers": [container(cpu="500m"), container(cpu=1, memory="1Gi")]},
        {"cpu": "1500m", "memory": "1Gi"},
    ),
    "a limit without a request is one": (
        {"containers": [{"resources": {"limits": {"cpu": 2, "a/gpu": 1}, "requests": {"cpu": 1}}}]},
        {"cpu": "1", "a/gpu": "1"},
    ),
    "the greatest of the init containers counts": (
        {"containers": [container(cpu=1)], "initContainers": [container(cpu=3), container(cpu=2)]},
        {"cpu": "3"},
    ),
    "a sidecar runs beside the containers": (
        {"containers": [container(cpu=1)], "initContainers": [SIDECAR]},
        {"cpu": "3"},
    ),
    "a sidecar runs beside the init containers after it": (
        {"containers": [container(cpu=1)], "initContainers": [SIDECAR, container(cpu=5)]},
        {"cpu": "7"},
    ),
    "overhead comes on top": (
        {"containers": [container(cpu=1)], "overhead": {"cpu": "250m"}},
        {"cpu": "1250m"},
    ),
    "what the pod asks for itself wins": (
        {"containers": [container(cpu=1, memory=5)], "resources": {"requests": {"cpu": 4}}},
        {"cpu": "4", "memory": "5"},
    ),
    "nothing": ({}, {}),
}


@pytest.mark.parametrize(("pod", "expected"), PODS.values(), ids=PODS.keys())
def test_a_pod_asks_for(pod: dict[str, Any], expected: dict[str, str]) -> None:
    """As the scheduler and Kueue count."""
    amounts = msgspec.convert(pod, PodSpec).amounts
    assert {key: written(value) for key, value in amounts.items()} == expected


COUNTS: dict[str, tuple[dict[str, int], int]] = {
    "one pod, where nothing is said": ({}, 1),
    "as many as run side by side": ({"parallelism": 3}, 3),
    "no more than have to complete": ({"parallelism": 3, "completions": 2}, 2),
    "side by side, not all that have to complete": ({"parallelism": 2, "completions": 9}, 2),
    "none, where none run": ({"parallelism": 0}, 0),
}


@pytest.mark.parametrize(("spec", "count"), COUNTS.values(), ids=COUNTS.keys())
def test_a_step_has_so_many_pods(spec: dict[str, int], count: int) -> None:
    """Of one replica, and of three."""
    one = step("a", None, **spec)
    assert one.pods == count
    assert msgspec.structs.replace(one, replicas=3).pods == 3 * count


def _sized(policy: Any, nodes: Any) -> dict[str, tuple[int, dict[str, str]]]:
    steps = [step("node", parallelism=2), step("launcher", "trainer"), step("data", "model")]
    found = sized(steps, msgspec.convert(policy, MLPolicy), msgspec.convert(nodes, Nodes))
    return {
        one.name: (one.pods, {key: written(value) for key, value in one.amounts.items()})
        for one in found
    }


CPU = {"cpu": "1"}
SIZES: dict[str, tuple[Any, Any, dict[str, tuple[int, dict[str, str]]]]] = {
    "the runtime's nodes, where the TrainJob says nothing": (
        {"numNodes": 4},
        {},
        {"node": (2, CPU), "launcher": (4, CPU), "data": (1, CPU)},
    ),
    "the TrainJob's nodes and what they ask for": (
        {"numNodes": 4},
        {"numNodes": 5, "resourcesPerNode": {"limits": {"a/gpu": 1}}},
        {"node": (2, CPU), "launcher": (5, {**CPU, "a/gpu": "1"}), "data": (1, CPU)},
    ),
    "MPI's nodes are those of the step node": (
        {"numNodes": 1, "mpi": {}},
        {"numNodes": 5, "resourcesPerNode": {"requests": {"cpu": 3}}},
        {"node": (5, CPU), "launcher": (1, {"cpu": "3"}), "data": (1, CPU)},
    ),
    "MPI's launcher is one of the nodes": (
        {"numNodes": 1, "mpi": {"runLauncherAsNode": True}},
        {"numNodes": 5, "resourcesPerNode": {"requests": {"cpu": 3}}},
        {"node": (4, {"cpu": "3"}), "launcher": (1, {"cpu": "3"}), "data": (1, CPU)},
    ),
}


@pytest.mark.parametrize(("policy", "nodes", "expected"), SIZES.values(), ids=SIZES.keys())
def test_a_trainjob_has_so_many_nodes(policy: Any, nodes: Any, expected: Any) -> None:
    """As Trainer 2.3.0 counts, replicas of its steps being one."""
    assert _sized(policy, nodes) == expected
