"""What the demo submits: the same for both modes, and nothing a user would not write."""

from typing import Any

from localcluster.demo import trace
from localcluster.demo.trace import STEPPED, WHOLE, Lane


def without_namespace(item: dict[str, Any]) -> dict[str, Any]:
    """The object, wherever it is."""
    metadata = {key: value for key, value in item["metadata"].items() if key != "namespace"}
    return item | {"metadata": metadata}


def test_both_modes_get_the_same_trainjobs() -> None:
    """The comparison is fair: three TrainJobs that differ in their namespace only."""
    whole, stepped = ([*map(without_namespace, trace.trainjobs(x))] for x in (WHOLE, STEPPED))
    assert whole == stepped
    assert len(whole) == 3


def test_users_set_one_label_and_nothing_else() -> None:
    """A TrainJob of the trace names its queue and its runtime, and knows nothing of stepping."""
    assert trace.trainjobs(STEPPED)[0] == {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {
            "name": "train-a",
            "namespace": "stepped",
            "labels": {"kueue.x-k8s.io/queue-name": "gpu"},
        },
        "spec": {
            "runtimeRef": {
                "apiGroup": "trainer.kubeflow.org",
                "kind": "TrainingRuntime",
                "name": "download-then-train",
            }
        },
    }


def test_both_modes_get_equal_queues() -> None:
    """The quotas of the two lanes are the same eight GPUs."""

    def quota(lane: Lane) -> Any:
        return trace.cluster_queue(lane.namespace)["spec"]

    assert quota(WHOLE) == quota(STEPPED)
    resources = quota(WHOLE)["resourceGroups"][0]["flavors"][0]["resources"]
    assert {"name": "nvidia.com/gpu", "nominalQuota": 8} in resources


def test_only_training_asks_for_gpus() -> None:
    """Downloads ask for CPU and memory, training for all eight GPUs once both are complete."""
    steps = trace.training_runtime("x")["spec"]["template"]["spec"]["replicatedJobs"]
    asked = {step["name"]: _requests(step) for step in steps}
    plain = {"cpu": "1", "memory": "1Gi"}
    assert asked == {
        "dataset-initializer": plain,
        "model-initializer": plain,
        "node": plain | {"nvidia.com/gpu": "8"},
    }
    assert [edge["name"] for edge in steps[2]["dependsOn"]] == [*trace.STEPS[:2]]


def test_a_further_trainjob_gets_a_new_name_each_time() -> None:
    """What `--keep` offers to submit can be created twice."""
    metadata = trace.another_trainjob()["metadata"]
    assert (metadata["generateName"], "name" in metadata) == ("train-", False)


def _requests(step: dict[str, Any]) -> Any:
    return step["template"]["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]
