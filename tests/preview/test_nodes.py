"""What a TrainJob changes in the pods of its steps."""

from typing import Any

import msgspec
import pytest

from webhook.demand.pods import Step
from webhook.demand.quantities import written
from webhook.preview.nodes import MLPolicy, Nodes, sized

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
