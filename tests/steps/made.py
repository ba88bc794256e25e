"""Objects as the API server hands them out, and the tree that is made of them."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from webhook.steps.objects import Seen
from webhook.steps.parents import parents
from webhook.steps.tree import Parent, Step

Object = dict[str, Any]

STEP_QUEUE: Final = "kueue-steps.io/queue-name"
QUEUE: Final = "kueue.x-k8s.io/queue-name"
PAUSED: Final = "kueue-steps.io/paused"
JOB_UID: Final = "kueue.x-k8s.io/job-uid"
NOW: Final = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)


def ago(seconds: int) -> str:
    """The moment so many seconds before NOW."""
    return f"{NOW - timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"


def condition(kind: str, seconds: int = 0, **said: str) -> Object:
    """A condition that became what it is so long ago; True, unless `status` says otherwise."""
    return {"type": kind, "status": "True", "lastTransitionTime": ago(seconds), **said}


def head(name: str, owner: Object | None = None, *, made: int = 100, **more: Any) -> Object:
    """Metadata; the uid is `uid-` and the name."""
    metadata = {"name": name, "namespace": "team-a", "uid": f"uid-{name}", **more}
    if owner:
        metadata["ownerReferences"] = [
            {
                "apiVersion": owner["apiVersion"],
                "kind": owner["kind"],
                "name": owner["metadata"]["name"],
                "uid": owner["metadata"]["uid"],
                "controller": True,
            }
        ]
    return {"metadata": {"creationTimestamp": ago(made), **metadata}}


def trainjob(*conditions: Object, name: str = "tune", suspend: bool = False, **more: Any) -> Object:
    """A TrainJob in queue `gpus`, stepped unless `labels` say otherwise."""
    more = {"labels": {STEP_QUEUE: "gpus"}} | more
    made = head(name, **more)
    made["metadata"]["uid"] = f"trainjob-{name}"
    return made | {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "spec": {"suspend": suspend},
        "status": {"conditions": list(conditions)},
    }


def step(name: str, *after: str, gpus: int = 0, status: str = "Complete", **more: Any) -> Object:
    """A replicatedJob whose pods ask for a CPU each, and for GPUs."""
    asked = {"cpu": "1"} | ({"nvidia.com/gpu": str(gpus)} if gpus else {})
    containers = [{"name": "main", "resources": {"requests": asked}}]
    template = {"spec": {"template": {"spec": {"containers": containers}}, **more.pop("job", {})}}
    depends_on = [{"name": other, "status": status} for other in after]
    return {"name": name, "dependsOn": depends_on, "template": template, **more}


def jobset(
    *conditions: Object,
    owner: Object | None = None,
    name: str = "tune",
    steps: tuple[Object, ...] = (step("data"), step("node", "data", gpus=8)),
    suspend: bool = False,
    **more: Any,
) -> Object:
    """A JobSet of two steps, `node` after `data`."""
    made = head(name, owner, **({"labels": {STEP_QUEUE: "gpus"}} | more))
    return made | {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "spec": {"replicatedJobs": list(steps), "suspend": suspend},
        "status": {"conditions": list(conditions)},
    }


def job(
    owner: Object,
    name: str,
    *conditions: Object,
    index: int = 0,
    spec: Object | None = None,
    **more: Any,
) -> Object:
    """The Job of a step, suspended unless `spec` says otherwise; `status` is its status."""
    status = {"conditions": list(conditions)} | more.pop("status", {})
    labels = {"jobset.sigs.k8s.io/replicatedjob-name": name, QUEUE: "gpus", STEP_QUEUE: "gpus"}
    made = head(f"{owner['metadata']['name']}-{name}-{index}", owner, labels=labels, **more)
    steps = {one["name"]: one for one in owner["spec"]["replicatedJobs"]}
    template = steps[name]["template"]["spec"]
    return made | {"spec": {**template, "suspend": True, **(spec or {})}, "status": status}


def workload(owner: Object, *conditions: Object, **more: Any) -> Object:
    """The Workload of a Job or a parent; `spec` and `status` are added."""
    metadata = owner["metadata"]
    made = head(
        f"job-{metadata['name']}", labels={JOB_UID: metadata["uid"]}, made=more.pop("made", 90)
    )
    status = {"conditions": list(conditions)} | more.pop("status", {})
    spec = {"queueName": "gpus", "active": True} | more.pop("spec", {})
    return made | {"spec": spec, "status": status}


def pending(owner: Object, local: int, cluster: int) -> Object:
    """What the visibility API says of the Workload of this object; from 0."""
    made = head(f"job-{owner['metadata']['name']}")
    return made | {"positionInLocalQueue": local, "positionInClusterQueue": cluster}


def seen(
    *objects: Object, workloads: tuple[Object, ...] = (), places: tuple[Object, ...] | None = None
) -> Seen:
    """What is seen of these objects, by kind; a Job is what has neither kind."""
    kinds: dict[str, list[Object]] = {"TrainJob": [], "JobSet": [], "": []}
    for item in objects:
        kinds[item.get("kind", "")].append(item)
    content = {
        "trainjobs": kinds["TrainJob"],
        "jobsets": kinds["JobSet"],
        "jobs": kinds[""],
        "workloads": list(workloads),
        "pending": None if places is None else list(places),
    }
    return msgspec.convert(content, Seen)


def parent(*objects: Object, **more: Any) -> Parent:
    """The single parent among these objects."""
    [found] = parents(seen(*objects, **more))
    return found


ADMISSION: Final = {
    "clusterQueue": "team-a",
    "podSetAssignments": [
        {"name": "main", "flavors": {"cpu": "plain", "nvidia.com/gpu": "h100"}},
    ],
}
STARTED: Final = {"startTime": ago(30)}


def node_with(make: Callable[[Object], tuple[Object, tuple[Object, ...]]], **more: Any) -> Step:
    """The step `node` of a TrainJob whose data is there: `make` makes its Job and Workloads."""
    whole = trainjob()
    its = jobset(owner=whole)
    data = job(its, "data", condition("Complete", 60), spec={"suspend": False})
    node, workloads = make(its)
    return parent(whole, its, data, node, workloads=workloads, **more).steps[1]
