"""What is submitted so that the API server itself makes the reviews: TrainJobs of several sizes.

All are held at first, since the queue has no GPUs; with some, Kueue starts their last step. That
step then runs for hours, so that nothing more happens and every owner is alive.
"""

import json
from typing import Final, NamedTuple

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
        trace.local_queue(LOCAL_QUEUE, namespace, leads_to=namespace),
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
    steps = [trace.step(item, item, _pods(item, "1s")) for item in downloads]
    steps.append(trace.step(NODE, "trainer", _pods(NODE, "24h"), *downloads))
    return trace.runtime(name, namespace, steps)


def _pods(container: str, run_for: str) -> Object:
    resources = {"requests": {"cpu": "1", "memory": "1Gi"}}
    return {
        "metadata": {"annotations": {RUN_FOR: run_for}},
        "spec": {"containers": [{"name": container, "image": "simulated", "resources": resources}]},
    }
