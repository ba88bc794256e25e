"""What the pods of a step ask for, and how many there are."""

from typing import Any

import msgspec
import pytest

from webhook.demand.pods import PodSpec, Step
from webhook.demand.quantities import written


def container(name: str = "main", **requests: Any) -> dict[str, Any]:
    """A container that asks for this."""
    return {"name": name, "resources": {"requests": requests}}


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
    one = msgspec.convert({"name": "a", "template": {"spec": spec}}, Step)
    assert one.pods == count
    assert msgspec.structs.replace(one, replicas=3).pods == 3 * count
