"""A judge for tests, and the objects that it is shown: one step, its Workload, its Pods."""

from datetime import UTC, datetime, timedelta
from typing import Any

from localcluster.invariants.judge import Judge, Kind
from localcluster.invariants.violation import Invariant
from localcluster.manifests import Object

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
TEAM = "team-a"


def stamp(seconds: float) -> str:
    """A time as the API server writes it: so many seconds after noon, cut to whole ones."""
    return f"{NOON + timedelta(seconds=int(seconds)):%Y-%m-%dT%H:%M:%SZ}"


def metadata(name: str, owner: str = "", **more: Any) -> Object:
    """Metadata of an object whose uid is its name."""
    owners = [{"uid": owner, "controller": True}] if owner else []
    fixed = {"name": name, "uid": name, "namespace": TEAM, "resourceVersion": "1"}
    return fixed | {"ownerReferences": owners, "creationTimestamp": stamp(0)} | more


def job(name: str = "train", *, suspend: bool = True, version: int = 1, **more: Any) -> Object:
    """A step's Job."""
    labels = {"kueue-steps.io/queue-name": "gpu", "kueue.x-k8s.io/queue-name": "gpu"}
    more = {"labels": labels, "resourceVersion": str(version)} | more
    return {"metadata": metadata(name, "jobset", **more), "spec": {"suspend": suspend}}


def jobset(*, suspend: bool = False) -> Object:
    """The JobSet of the steps."""
    return {"metadata": metadata("jobset"), "spec": {"suspend": suspend}}


def workload(
    owner: str = "train",
    *,
    admitted: bool | None = True,
    since: float = 0,
    active: bool = True,
    evicted: bool = False,
    **more: Any,
) -> Object:
    """A Workload; `admitted` None is one that Kueue has not looked at yet."""
    conditions = []
    if admitted is not None:
        status = "True" if admitted else "False"
        conditions = [{"type": "Admitted", "status": status, "lastTransitionTime": stamp(since)}]
    if evicted:
        conditions.append({"type": "Evicted", "status": "True", "lastTransitionTime": stamp(0)})
    return {
        "metadata": metadata(f"w-{owner}", labels={"kueue.x-k8s.io/job-uid": owner}, **more),
        "spec": {"queueName": "gpu", "active": active},
        "status": {"conditions": conditions}
        | ({"admission": {"clusterQueue": "cq"}} if admitted else {}),
    }


def pod(
    name: str = "pod", owner: str = "train", *, made: float = 0, gpus: int = 8, **more: Any
) -> Object:
    """A Pod of a Job, pending unless `phase` says otherwise."""
    phase = more.pop("phase", "Pending")
    more = {"creationTimestamp": stamp(made)} | more
    requests = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    return {
        "metadata": metadata(name, owner, **more),
        "spec": {"containers": [{"resources": {"requests": requests}}]},
        "status": {"phase": phase},
    }


def cluster_queue(gpus: int = 8, name: str = "cq", cohort: str = "") -> Object:
    """A ClusterQueue whose quota comes from two flavors."""
    flavors = [
        {"name": name, "resources": [{"name": "nvidia.com/gpu", "nominalQuota": quota}]}
        for name, quota in (("a", str(gpus - 1)), ("b", 1))
    ]
    return {
        "metadata": metadata(name),
        "spec": {"cohortName": cohort, "resourceGroups": [{"flavors": flavors}]},
    }


def local_queue() -> Object:
    """The LocalQueue that everything is submitted to."""
    return {"metadata": metadata("gpu"), "spec": {"clusterQueue": "cq"}}


class Court:
    """A judge with the queues and a JobSet, and what it found by invariant."""

    def __init__(self) -> None:
        self.judge = Judge()
        for kind in Kind:
            self.judge.listed(kind, [], 0)
        self.see(0, clusterqueues=cluster_queue(), localqueues=local_queue(), jobsets=jobset())

    def see(self, at: float, **objects: Object) -> "Court":
        """Objects by the plural of their kind."""
        for plural, item in objects.items():
            self.judge.seen(Kind(plural), item, at)
        return self

    def found(self, at: float) -> list[Invariant]:
        """What is newly found then."""
        return [item.invariant for item in self.judge.check(at)]

    def sentence(self) -> str:
        """The only violation."""
        (only,) = self.judge.violations
        assert only.namespaces == {TEAM}
        return only.sentence
