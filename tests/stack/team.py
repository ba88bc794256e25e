"""One team of the shared cluster: a namespace with a queue of its own, and eyes on it."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from localcluster import audit
from localcluster.cluster import Cluster
from tests.stack.objects import GPU, QUEUE, Object, cluster_queue, local_queue

T = TypeVar("T")

PATIENCE = 60.0


def eventually(look: Callable[[], T | None], what: str, within: float = PATIENCE) -> T:
    """The first true answer of `look`; AssertionError with the last one after so many seconds."""
    end = time.monotonic() + within
    while True:
        if seen := look():
            return seen
        if time.monotonic() > end:
            raise AssertionError(f"not seen within {within:g} s: {what}; last seen {seen!r}")
        time.sleep(0.2)


@dataclass(frozen=True)
class Team:
    """A namespace, its LocalQueue `gpu` and its ClusterQueue, both named at `create`."""

    cluster: Cluster
    namespace: str
    queue: str
    webhook_log: Path
    audit_start: int

    @classmethod
    def create(cls, cluster: Cluster, namespace: str, *, gpus: int = 8) -> "Team":
        """A new namespace in which alice may work, with a quota of so many GPUs."""
        start = audit.end(cluster.audit_log)
        cluster.apply(
            [
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
                cluster_queue(namespace, gpus=gpus),
            ]
        )
        cluster.apply([local_queue("gpu", namespace, namespace)])
        cluster.grant(namespace, "alice")
        log = cluster.state_dir / "logs" / "webhook.log"
        return cls(cluster, namespace, "gpu", log, start)

    @property
    def label(self) -> dict[str, str]:
        """The one label that a user has to set."""
        return {QUEUE: self.queue}

    def submit(self, *objects: Object) -> None:
        """Create as alice, the way `kubectl create` does."""
        for item in objects:
            self.cluster.kubectl("create", "-f", "-", stdin=json.dumps(item), user="alice")

    def all(self, kind: str) -> list[Object]:
        """Every object of a kind in the namespace."""
        items: list[Object] = self.cluster.get(kind, namespace=self.namespace)["items"]
        return items

    def one(self, kind: str, name: str) -> Object:
        """One object."""
        found: Object = self.cluster.get(kind, name, namespace=self.namespace)
        return found

    def find(self, kind: str, name: str) -> Object | None:
        """One object, None while there is none."""
        return next((item for item in self.all(kind) if item["metadata"]["name"] == name), None)

    def await_job(self, name: str) -> Object:
        """A Job, as soon as it is there."""
        return eventually(lambda: self.find("jobs", name), f"Job {name}")

    def await_condition(self, kind: str, name: str, condition: str, within: float = 90) -> Object:
        """An object, as soon as this condition of it is true."""

        def look() -> Object | None:
            found = self.find(kind, name)
            return found if found and condition in conditions(found) else None

        return eventually(look, f"{kind} {name} is {condition}", within)

    def workloads(self) -> list[Object]:
        """The namespace's Workloads."""
        return self.all("workloads.kueue.x-k8s.io")

    def workload_of(self, job: str) -> Object:
        """The Workload of a Job, as soon as it is there."""
        uid = self.await_job(job)["metadata"]["uid"]
        return eventually(
            lambda: next(
                (
                    item
                    for item in self.workloads()
                    if item["metadata"]["labels"].get("kueue.x-k8s.io/job-uid") == uid
                ),
                None,
            ),
            f"the Workload of Job {job}",
        )

    def reviews(self) -> list[Object]:
        """What the webhook's log says of this namespace, one entry a review."""
        with self.webhook_log.open() as lines:
            entries = [json.loads(line) for line in lines if line.startswith("{")]
        return [
            entry
            for entry in entries
            if entry["event"] == "review" and entry["namespace"] == self.namespace
        ]

    def writes(self, resource: str, *verbs: str) -> list[audit.Event]:
        """Writes of this namespace's objects, status writes left out."""
        return [
            event
            for event in audit.events(self.cluster.audit_log, self.audit_start)
            if event.namespace == self.namespace
            and event.resource == resource
            and not event.subresource
            and event.verb in verbs
        ]


def conditions(item: Object) -> set[str]:
    """The types of the conditions that are true."""
    return {
        condition["type"]
        for condition in item.get("status", {}).get("conditions") or []
        if condition["status"] == "True"
    }


def condition_time(item: Object, kind: str) -> datetime:
    """When a condition became true, to the second."""
    return next(
        datetime.fromisoformat(condition["lastTransitionTime"])
        for condition in item["status"]["conditions"]
        if condition["type"] == kind and condition["status"] == "True"
    )


def gpus_of(pod: Object) -> int:
    """The GPUs that a pod asks for."""
    return sum(
        int(container.get("resources", {}).get("requests", {}).get(GPU, 0))
        for container in pod["spec"]["containers"]
    )


def started_before_admission(team: Team) -> Iterator[str]:
    """Pods of steps that were made before Kueue admitted their Job: there must be none."""
    admitted = {
        item["metadata"]["labels"]["kueue.x-k8s.io/job-uid"]: condition_time(item, "Admitted")
        for item in team.workloads()
        if "Admitted" in conditions(item)
    }
    for pod in team.all("pods"):
        owner = next(o for o in pod["metadata"]["ownerReferences"] if o["controller"])
        made: Any = datetime.fromisoformat(pod["metadata"]["creationTimestamp"])
        if owner["uid"] not in admitted or made < admitted[owner["uid"]]:
            yield pod["metadata"]["name"]
