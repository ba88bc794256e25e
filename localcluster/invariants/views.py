"""What the rules need of each kind, read from API objects. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from localcluster.manifests import Object
from webhook.rules.names import PAUSED, QUEUE, STEP_QUEUE

GPU = "nvidia.com/gpu"
JOB_UID = "kueue.x-k8s.io/job-uid"


@dataclass(frozen=True, slots=True)
class Pod:
    """A Pod; `job` is the uid of its controller, `gpus` what its containers request."""

    uid: str
    namespace: str
    name: str
    job: str
    gpus: int
    phase: str
    is_terminating: bool
    created: datetime

    @property
    def is_active(self) -> bool:
        """Neither at its end nor asked to end?"""
        return not self.is_terminating and self.phase in {"", "Pending", "Running"}

    @classmethod
    def of(cls, item: Object) -> "Pod":
        """Read from a Pod."""
        metadata = item["metadata"]
        return cls(
            uid=metadata["uid"],
            namespace=metadata["namespace"],
            name=metadata["name"],
            job=_controller(metadata),
            gpus=sum(_gpus(container) for container in item["spec"]["containers"]),
            phase=item.get("status", {}).get("phase", ""),
            is_terminating="deletionTimestamp" in metadata,
            created=datetime.fromisoformat(metadata["creationTimestamp"]),
        )


@dataclass(frozen=True, slots=True)
class Job:
    """A Job; `queue` is Kueue's label, `parent` the uid of its controller."""

    uid: str
    namespace: str
    name: str
    version: str
    parent: str
    queue: str
    is_stepped: bool
    is_suspended: bool
    is_paused: bool
    is_finished: bool
    is_deleted: bool

    @property
    def is_held(self) -> bool:
        """A step that does not run, and is to run some day?"""
        is_over = self.is_finished or self.is_deleted
        return self.is_stepped and self.is_suspended and not is_over

    @classmethod
    def of(cls, item: Object) -> "Job":
        """Read from a Job."""
        metadata = item["metadata"]
        labels = metadata.get("labels", {})
        return cls(
            uid=metadata["uid"],
            namespace=metadata["namespace"],
            name=metadata["name"],
            version=metadata["resourceVersion"],
            parent=_controller(metadata),
            queue=labels.get(QUEUE, ""),
            is_stepped=STEP_QUEUE in labels,
            is_suspended=bool(item["spec"].get("suspend")),
            is_paused=PAUSED in metadata.get("annotations", {}),
            is_finished=bool({"Complete", "Failed"} & set(_true(item))),
            is_deleted="deletionTimestamp" in metadata,
        )


@dataclass(frozen=True, slots=True)
class JobSet:
    """A JobSet; `parent` is the uid of its controller."""

    uid: str
    parent: str
    is_suspended: bool

    @classmethod
    def of(cls, item: Object) -> "JobSet":
        """Read from a JobSet."""
        metadata = item["metadata"]
        return cls(metadata["uid"], _controller(metadata), bool(item["spec"].get("suspend")))


@dataclass(frozen=True, slots=True)
class Workload:
    """A Workload; `owner` is the uid of what it queues for, `since` when `is_admitted` changed."""

    namespace: str
    name: str
    owner: str
    queue: str
    cluster_queue: str
    is_admitted: bool
    since: datetime | None
    is_active: bool
    is_stopping: bool
    deleted: datetime | None

    @classmethod
    def of(cls, item: Object) -> "Workload":
        """Read from a Workload."""
        metadata, spec, status = item["metadata"], item["spec"], item.get("status", {})
        admitted = next((c for c in _conditions(item) if c["type"] == "Admitted"), None)
        deleted = metadata.get("deletionTimestamp")
        return cls(
            namespace=metadata["namespace"],
            name=metadata["name"],
            owner=metadata.get("labels", {}).get(JOB_UID, ""),
            queue=spec.get("queueName", ""),
            cluster_queue=status.get("admission", {}).get("clusterQueue", ""),
            is_admitted=bool(admitted and admitted["status"] == "True"),
            since=datetime.fromisoformat(admitted["lastTransitionTime"]) if admitted else None,
            is_active=spec.get("active", True),
            is_stopping=bool({"Evicted", "Finished"} & set(_true(item))),
            deleted=datetime.fromisoformat(deleted) if deleted else None,
        )


@dataclass(frozen=True, slots=True)
class ClusterQueue:
    """A ClusterQueue with its nominal quota of GPUs over all flavors."""

    name: str
    cohort: str
    gpus: int

    @property
    def group(self) -> str:
        """Those that lend to each other are judged as one."""
        return self.cohort or self.name

    @classmethod
    def of(cls, item: Object) -> "ClusterQueue":
        """Read from a ClusterQueue."""
        name, spec = item["metadata"]["name"], item["spec"]
        return cls(name, spec.get("cohortName", ""), sum(_quotas(spec)))


@dataclass(frozen=True, slots=True)
class LocalQueue:
    """A LocalQueue and where it leads."""

    namespace: str
    name: str
    cluster_queue: str

    @classmethod
    def of(cls, item: Object) -> "LocalQueue":
        """Read from a LocalQueue."""
        metadata = item["metadata"]
        return cls(metadata["namespace"], metadata["name"], item["spec"].get("clusterQueue", ""))


def _controller(metadata: Object) -> str:
    owners = metadata.get("ownerReferences", [])
    return next((owner["uid"] for owner in owners if owner.get("controller")), "")


def _gpus(container: Object) -> int:
    return int(container.get("resources", {}).get("requests", {}).get(GPU, 0))


def _quotas(spec: Object) -> Iterator[int]:
    for group in spec.get("resourceGroups", []):
        for flavor in group["flavors"]:
            yield from (int(r["nominalQuota"]) for r in flavor["resources"] if r["name"] == GPU)


def _conditions(item: Object) -> list[dict[str, Any]]:
    return item.get("status", {}).get("conditions") or []


def _true(item: Object) -> Iterator[str]:
    return (c["type"] for c in _conditions(item) if c["status"] == "True")
