"""What is created and changed: objects that we admit, and objects that are none of our business.

Pure. The objects of both namespaces are the same, but for the namespace.
"""

from enum import StrEnum
from typing import Final, NamedTuple

from localcluster.demo import trace
from localcluster.demo.trace import DATASET, GPU, LOCAL_QUEUE, NODE, RUNTIME, Lane
from localcluster.manifests import Object
from webhook.rules.names import QUEUE, STEP_QUEUE

SAMPLE: Final = "bench.kueue-steps.io/sample"
"""The label of everything that is deleted again, and the annotation that an update changes."""

PARENT: Final = "parent"
JOBSET: Final = "jobset.x-k8s.io/v1alpha2"


class Kind(StrEnum):
    """What is sent; the first three come with a queue, the last two have nothing to do with it."""

    TRAINJOB = "TrainJob"
    JOBSET = "JobSet"
    JOB = "Job of a step"
    UNRELATED_JOB = "unrelated Job"
    POD = "unrelated Pod"

    @property
    def is_ours(self) -> bool:
        """Is it admitted step by step where our registration is?"""
        return self in {Kind.TRAINJOB, Kind.JOBSET, Kind.JOB}


class Resource(NamedTuple):
    """How the API server names a kind."""

    version: str
    kind: str
    plural: str

    def path(self, namespace: str) -> str:
        """Where its objects are created."""
        root = "apis" if "/" in self.version else "api"
        return f"/{root}/{self.version}/namespaces/{namespace}/{self.plural}"


RESOURCES: Final = {
    Kind.TRAINJOB: Resource(trace.TRAINER, "TrainJob", "trainjobs"),
    Kind.JOBSET: Resource(JOBSET, "JobSet", "jobsets"),
    Kind.JOB: Resource("batch/v1", "Job", "jobs"),
    Kind.UNRELATED_JOB: Resource("batch/v1", "Job", "jobs"),
    Kind.POD: Resource("v1", "Pod", "pods"),
}


def place(namespace: str) -> list[Object]:
    """Namespace, queue and runtime, and a JobSet without a queue that owns the Jobs of steps."""
    parent = _jobset(namespace, PARENT, {})
    return [*trace.lane_objects(Lane(namespace, namespace)), parent]


def sample(kind: Kind, namespace: str, name: str, parent: str) -> Object:
    """One object; `parent` is the uid of the namespace's JobSet of that name."""
    made = _MAKERS[kind](namespace, name, {SAMPLE: "true"})
    if kind is Kind.JOB:
        made["metadata"]["labels"] |= {QUEUE: LOCAL_QUEUE, STEP_QUEUE: LOCAL_QUEUE}
        made["metadata"]["ownerReferences"] = [_owner(parent)]
    elif kind.is_ours:
        made["metadata"]["labels"][QUEUE] = LOCAL_QUEUE
    return made


def change(kind: Kind, number: int) -> Object:
    """A merge patch. Of a step's Job it is a start, since we are not asked about anything less."""
    patch: Object = {"metadata": {"annotations": {SAMPLE: str(number)}}}
    return patch | ({"spec": {"suspend": False}} if kind is Kind.JOB else {})


def _owner(parent: str) -> Object:
    return {
        "apiVersion": JOBSET,
        "kind": "JobSet",
        "name": PARENT,
        "uid": parent,
        "controller": True,
    }


def _head(kind: Kind, namespace: str, name: str, labels: dict[str, str]) -> Object:
    resource = RESOURCES[kind]
    metadata = {"name": name, "namespace": namespace, "labels": dict(labels)}
    return {"apiVersion": resource.version, "kind": resource.kind, "metadata": metadata}


def _trainjob(namespace: str, name: str, labels: dict[str, str]) -> Object:
    group = trace.TRAINER.partition("/")[0]
    runtime = {"apiGroup": group, "kind": "TrainingRuntime", "name": RUNTIME}
    return _head(Kind.TRAINJOB, namespace, name, labels) | {"spec": {"runtimeRef": runtime}}


def _jobset(namespace: str, name: str, labels: dict[str, str]) -> Object:
    after = [{"name": DATASET, "status": "Complete"}]
    steps: list[Object] = [
        {"name": DATASET, "template": {"spec": {"template": _pods(DATASET)}}},
        {"name": NODE, "template": {"spec": {"template": _pods(NODE, "1")}}, "dependsOn": after},
    ]
    spec = {"suspend": True, "replicatedJobs": steps}
    return _head(Kind.JOBSET, namespace, name, labels) | {"spec": spec}


def _job(namespace: str, name: str, labels: dict[str, str]) -> Object:
    return _head(Kind.JOB, namespace, name, labels) | {"spec": {"template": _pods(NODE, "1")}}


def _pod(namespace: str, name: str, labels: dict[str, str]) -> Object:
    return _head(Kind.POD, namespace, name, labels) | {"spec": _pods(NODE)["spec"]}


def _pods(container: str, gpus: str = "") -> Object:
    requests = {"cpu": "1", "memory": "1Gi"} | ({GPU: gpus} if gpus else {})
    resources = {"requests": requests} | ({"limits": {GPU: gpus}} if gpus else {})
    containers = [{"name": container, "image": "simulated", "resources": resources}]
    return {"spec": {"restartPolicy": "Never", "containers": containers}}


_MAKERS: Final = {
    Kind.TRAINJOB: _trainjob,
    Kind.JOBSET: _jobset,
    Kind.JOB: _job,
    Kind.UNRELATED_JOB: _job,
    Kind.POD: _pod,
}
