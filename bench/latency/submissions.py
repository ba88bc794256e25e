"""What is submitted so that the API server itself makes the reviews: TrainJobs of several sizes.

All are held at first, since the queue has no GPUs; with some, Kueue starts their last step. That
step then runs for hours, so that nothing more happens and every owner is alive.
"""

import json
from typing import Final, NamedTuple

from localcluster import users
from localcluster.demo import trace
from localcluster.demo.trace import (
    ANCESTOR_STEP,
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
from webhook.rules.names import QUEUE

KIBIBYTE: Final = 1024
LINE: Final = 256
"""Bytes of one environment variable, as long as there are fewer than MOST_LINES."""

MOST_LINES: Final = 120
"""Trainer takes 128."""

FULL_RUNTIME: Final = "full"
SHORT_RUNTIME: Final = "short"
GPUS: Final = 8


class Submission(NamedTuple):
    """A TrainJob: its name, about how many bytes of JSON its environment has, and its runtime."""

    name: str
    size: int
    runtime: str = FULL_RUNTIME


SUBMISSIONS: Final = (
    Submission("small", 0, SHORT_RUNTIME),
    Submission("median", 3 * KIBIBYTE),
    # An UPDATE carries the object twice.
    Submission("half-large", 92 * KIBIBYTE),
    Submission("large", 192 * KIBIBYTE),
    Submission("half-huge", 740 * KIBIBYTE),
    Submission("huge", 1480 * KIBIBYTE),
)


def place(namespace: str) -> list[Object]:
    """What an administrator sets up, with a queue that has no GPUs yet."""
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        trace.flavor(),
        cluster_queue(namespace, gpus=0),
        {
            "apiVersion": trace.KUEUE,
            "kind": "LocalQueue",
            "metadata": {"name": LOCAL_QUEUE, "namespace": namespace},
            "spec": {"clusterQueue": namespace},
        },
        users.grant(namespace, USER),
        _runtime(SHORT_RUNTIME, namespace, DATASET),
        _runtime(FULL_RUNTIME, namespace, DATASET, MODEL),
    ]


def cluster_queue(name: str, *, gpus: int) -> Object:
    """The queue of the namespace, with so many GPUs."""
    item = trace.cluster_queue(name)
    (group,) = item["spec"]["resourceGroups"]
    for resource in group["flavors"][0]["resources"]:
        if resource["name"] == GPU:
            resource["nominalQuota"] = gpus
    return item


def trainjob(submission: Submission, namespace: str) -> Object:
    """The TrainJob, as a user submits it."""
    count = min(submission.size // LINE, MOST_LINES)
    environment = [
        {"name": f"SETTING_{n:03}", "value": _text(submission.size // count)} for n in range(count)
    ]
    trainer = {"numNodes": 1, "resourcesPerNode": {"limits": {GPU: "1"}}, "env": environment}
    group = TRAINER.partition("/")[0]
    runtime = {"apiGroup": group, "kind": "TrainingRuntime", "name": submission.runtime}
    return {
        "apiVersion": TRAINER,
        "kind": "TrainJob",
        "metadata": {
            "name": submission.name,
            "namespace": namespace,
            "labels": {QUEUE: LOCAL_QUEUE, "app.kubernetes.io/part-of": "experiment"},
        },
        "spec": {"runtimeRef": runtime, "trainer": trainer},
    }


def _text(length: int) -> str:
    """Text with the quotes and commas that configurations have, and that JSON has to escape."""
    words = json.dumps({"layer": "attention", "rate": 0.0001, "schedule": ["warm-up", "cosine"]})
    return words * (length // len(json.dumps(words)))


def _runtime(name: str, namespace: str, *downloads: str) -> Object:
    steps = [_step(item, item, item, "1s") for item in downloads]
    steps.append(_step(NODE, "trainer", NODE, "24h", *downloads))
    return {
        "apiVersion": TRAINER,
        "kind": "TrainingRuntime",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {"trainer.kubeflow.org/framework": "torch"},
        },
        "spec": {
            "mlPolicy": {"numNodes": 1, "torch": {}},
            "template": {"spec": {"replicatedJobs": steps}},
        },
    }


def _step(name: str, ancestor: str, container: str, run_for: str, *after: str) -> Object:
    requests = {"cpu": "1", "memory": "1Gi"}
    pods = {
        "metadata": {"annotations": {RUN_FOR: run_for}},
        "spec": {
            "containers": [
                {"name": container, "image": "simulated", "resources": {"requests": requests}}
            ]
        },
    }
    template = {"metadata": {"labels": {ANCESTOR_STEP: ancestor}}, "spec": {"template": pods}}
    depends = [{"name": other, "status": "Complete"} for other in after]
    return {"name": name, "template": template} | ({"dependsOn": depends} if depends else {})
