"""What is submitted: TrainJobs of three steps of a second or two, on a quota that holds them all.

Pure. Whole and stepped differ by one annotation.
"""

from enum import StrEnum
from typing import Final

from localcluster import users
from localcluster.demo import trace
from localcluster.demo.trace import (
    DATASET,
    GPU,
    LOCAL_QUEUE,
    MODEL,
    NODE,
    TRAINER,
    USER,
)
from localcluster.kwok import RUN_FOR
from localcluster.manifests import Object
from webhook.rules.names import MODE, QUEUE

RUNTIME: Final = "three-steps"
DOWNLOAD_FOR: Final = "1s"
TRAIN_FOR: Final = "2s"
STEPS: Final = 3
REQUESTS: Final = {"cpu": "100m", "memory": "64Mi"}


class Mode(StrEnum):
    """How Kueue admits a TrainJob."""

    WHOLE = "whole"
    STEPPED = "stepped"


SAID: Final = {Mode.WHOLE: "whole", Mode.STEPPED: "step"}
"""As the annotation spells it."""


def place(namespace: str, size: int) -> list[Object]:
    """A namespace with a queue of its own, for so many TrainJobs at once."""
    queue = trace.cluster_queue(namespace)
    (group,) = queue["spec"]["resourceGroups"]
    quota = {"cpu": size * STEPS, "memory": f"{size * STEPS}Gi", GPU: size}
    for resource in group["flavors"][0]["resources"]:
        resource["nominalQuota"] = quota[resource["name"]]
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        trace.flavor(),
        queue,
        trace.local_queue(LOCAL_QUEUE, namespace, leads_to=namespace),
        users.grant(namespace, USER),
        _runtime(namespace),
    ]


def trainjob(namespace: str, mode: Mode, number: int) -> Object:
    """One of them."""
    group = TRAINER.partition("/")[0]
    runtime = {"apiGroup": group, "kind": "TrainingRuntime", "name": RUNTIME}
    return {
        "apiVersion": TRAINER,
        "kind": "TrainJob",
        "metadata": {
            "name": f"train-{number}",
            "namespace": namespace,
            "labels": {QUEUE: LOCAL_QUEUE},
            "annotations": {MODE: SAID[mode]},
        },
        "spec": {"runtimeRef": runtime},
    }


def _runtime(namespace: str) -> Object:
    steps = [
        trace.step(DATASET, DATASET, _pods(DATASET, DOWNLOAD_FOR)),
        trace.step(MODEL, MODEL, _pods(MODEL, DOWNLOAD_FOR)),
        trace.step(NODE, "trainer", _pods(NODE, TRAIN_FOR, gpu=True), DATASET, MODEL),
    ]
    return trace.runtime(RUNTIME, namespace, steps)


def _pods(name: str, run_for: str, *, gpu: bool = False) -> Object:
    resources: Object = {"requests": REQUESTS | ({GPU: "1"} if gpu else {})}
    if gpu:
        resources["limits"] = {GPU: "1"}
    return {
        "metadata": {"annotations": {RUN_FOR: run_for}},
        "spec": {"containers": [{"name": name, "image": "simulated", "resources": resources}]},
    }
