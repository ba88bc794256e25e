"""Jobs, JobSets and Workloads as the API server sends them to the companion."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from webhook.cluster.changes import Begun, Change, Changed, Ended
from webhook.cluster.items import Item
from webhook.rules import names

START = datetime(2026, 1, 1, 10, tzinfo=UTC)
MARK = {names.PAUSED: "true"}
STEP = "jobset.sigs.k8s.io/replicatedjob-name"

Tree = dict[str, Any]


def at(seconds: float) -> datetime:
    """So long after everything began."""
    return START + timedelta(seconds=seconds)


def text(seconds: float) -> str:
    """That time as the API server writes it."""
    return at(seconds).strftime("%Y-%m-%dT%H:%M:%SZ")


def condition(
    kind: str, seconds: float, reason: str = "", message: str = "", *, status: str = "True"
) -> Tree:
    """A condition that became so at this time."""
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": text(seconds),
    }


def owner(version: str, kind: str, name: str, uid: str) -> list[Tree]:
    """The owner that controls an object."""
    return [{"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": True}]


BY_TRAINJOB = owner("trainer.kubeflow.org/v1alpha1", "TrainJob", "tune", "tj")
BY_JOBSET = owner("jobset.x-k8s.io/v1alpha2", "JobSet", "tune", "js")
BY_JOB = owner("batch/v1", "Job", "tune-node-0", "job")


def job(*conditions: Tree, marked: bool = False, **metadata: Any) -> Item:
    """The Job of the step `node`, made after one second and started after five."""
    head = {
        "name": "tune-node-0",
        "namespace": "team",
        "uid": "job",
        "creationTimestamp": text(1),
        "labels": {STEP: "node"},
        "annotations": MARK if marked else None,
        "ownerReferences": BY_JOBSET,
    }
    status = {"conditions": list(conditions), "startTime": text(5)}
    return item({"metadata": head | metadata, "status": status})


def jobset(*conditions: Tree, suspended: bool = False, replicas: int = 1, **metadata: Any) -> Item:
    """Its JobSet, which Trainer has made."""
    head = {
        "name": "tune",
        "namespace": "team",
        "uid": "js",
        "creationTimestamp": text(0),
        "ownerReferences": BY_TRAINJOB,
    }
    steps = [{"name": "dataset-initializer"}, {"name": "node", "replicas": replicas}]
    spec = {"suspend": suspended, "replicatedJobs": steps}
    status = {"conditions": list(conditions)}
    return item({"metadata": head | metadata, "spec": spec, "status": status})


def workload(
    *conditions: Tree,
    marked: bool = False,
    active: bool = True,
    admission: Mapping[str, Any] | None = None,
    **metadata: Any,
) -> Item:
    """The Job's Workload, made after two seconds in the queue `gpu`."""
    head = {
        "name": "job-tune-node-0",
        "namespace": "team",
        "uid": "wl",
        "creationTimestamp": text(2),
        "labels": {names.JOB_UID: "job"},
        "annotations": MARK if marked else None,
        "ownerReferences": BY_JOB,
    }
    pods = {"template": {"metadata": {"labels": {STEP: "node"}}}}
    spec = {"active": active, "queueName": "gpu", "podSets": [pods]}
    status = {"conditions": list(conditions), "admission": admission}
    return item({"metadata": head | metadata, "spec": spec, "status": status})


def item(tree: Tree) -> Item:
    """An object as a watch decodes it."""
    return msgspec.json.decode(msgspec.json.encode(tree), type=Item)


def see_all(see: Callable[[Change], set[str]], items: Iterable[Item] = ()) -> set[str]:
    """Lets a whole list be seen; the uids to look at again."""
    changes: list[Change] = [Begun(), *map(Changed, items), Ended()]
    return set[str]().union(*map(see, changes))
