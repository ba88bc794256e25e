"""How long simulated pods run, and how they end."""

from copy import deepcopy
from typing import Any

from localcluster import kwok

COMPLETION: dict[str, Any] = {
    "kind": "Stage",
    "metadata": {"name": "pod-complete"},
    "spec": {
        "selector": {"matchExpressions": [{"key": ".status.phase", "operator": "In"}]},
        "next": {"statusTemplate": "exitCode: 0\nreason: Completed\nphase: Succeeded\n"},
    },
}


def test_a_pod_runs_as_long_as_its_annotation_says() -> None:
    """Both ends come after the annotated time, or after the default."""
    for stage in (kwok.succeeding(COMPLETION), kwok.failing(COMPLETION)):
        assert stage["spec"]["delay"] == {
            "durationMilliseconds": 3000,
            "durationFrom": {
                "expressionFrom": '.metadata.annotations["localcluster.kueue-steps.io/run-for"]'
            },
        }


def test_each_pod_matches_exactly_one_end() -> None:
    """A pod fails if its annotation says so and succeeds otherwise, never both."""
    ends = (kwok.succeeding(COMPLETION), kwok.failing(COMPLETION))
    chosen = [stage["spec"]["selector"]["matchExpressions"][-1] for stage in ends]
    key = '.metadata.annotations["localcluster.kueue-steps.io/fail"]'
    assert chosen == [
        {"key": key, "operator": "NotIn", "values": ["true"]},
        {"key": key, "operator": "In", "values": ["true"]},
    ]
    assert len({stage["metadata"]["name"] for stage in ends}) == 2


def test_a_failing_pod_has_an_exit_code() -> None:
    """Failure looks like a container that exited with 1."""
    template = kwok.failing(COMPLETION)["spec"]["next"]["statusTemplate"]
    assert template == "exitCode: 1\nreason: Error\nphase: Failed\n"


def test_upstreams_stage_stays_as_it_was() -> None:
    """Both ends are copies."""
    before = deepcopy(COMPLETION)
    kwok.succeeding(COMPLETION)
    kwok.failing(COMPLETION)
    assert before == COMPLETION


def test_nodes_have_gpus() -> None:
    """Nodes are gpu-0, gpu-1 and so on, with eight GPUs each to allocate."""
    nodes = kwok.nodes(3)
    assert [node["metadata"]["name"] for node in nodes] == ["gpu-0", "gpu-1", "gpu-2"]
    assert {node["status"]["allocatable"]["nvidia.com/gpu"] for node in nodes} == {"8"}
