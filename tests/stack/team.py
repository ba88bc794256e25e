"""One team of the shared cluster: a namespace with a queue of its own, and eyes on it."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import httpx

from localcluster import audit
from localcluster.cluster import Cluster
from localcluster.connection import arguments
from localcluster.errors import KubectlError
from tests.stack.objects import GPU, QUEUE, Object, cluster_queue, local_queue, named

T = TypeVar("T")

PATIENCE = 60.0
WATCHED = {
    "jobs": "/apis/batch/v1",
    "pods": "/api/v1",
    "workloads": "/apis/kueue.x-k8s.io/v1beta2",
}


def eventually(look: Callable[[], T | None], what: str, within: float = PATIENCE) -> T:
    """The first true answer of `look`; AssertionError with the last one after so many seconds."""
    end = time.monotonic() + within
    while True:
        if seen := look():
            return seen
        if time.monotonic() > end:
            raise AssertionError(f"not seen within {within:g} s: {what}; last seen {seen!r}")
        time.sleep(0.2)


def _await_grant(cluster: Cluster, namespace: str) -> None:
    """The API server needs a moment until it follows a RoleBinding."""
    path = f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{namespace}/jobsets"
    how = arguments(cluster.kubeconfig("alice")) | {"timeout": PATIENCE}
    with httpx.Client(**how) as client:
        eventually(lambda: client.get(path).status_code == 200, f"alice may work in {namespace}")


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
        _await_grant(cluster, namespace)
        log = cluster.state_dir / "logs" / "webhook.log"
        return cls(cluster, namespace, "gpu", log, start)

    @property
    def label(self) -> dict[str, str]:
        """The one label that a user has to set."""
        return {QUEUE: self.queue}

    def apply(self, objects: Sequence[Object]) -> None:
        """Apply as an administrator, and return when what reviews need of it is followed.

        A runtime is known to everybody who reviews; a LocalQueue of the team's quota is active.
        """
        self.cluster.apply(objects)
        for item in objects:
            name = item["metadata"]["name"]
            if item["kind"] == "TrainingRuntime":
                eventually(partial(self._is_known, name), f"runtime {name} is known")
            elif item["kind"] == "LocalQueue" and item["spec"]["clusterQueue"] == self.namespace:
                self.await_condition("localqueues", name, "Active")

    def _is_known(self, runtime: str) -> bool:
        ref = {"apiGroup": "trainer.kubeflow.org", "kind": "TrainingRuntime", "name": runtime}
        probe = named("TrainJob", "trainer.kubeflow.org/v1alpha1", "probe", self.namespace)
        probe["spec"] = {"runtimeRef": ref}
        try:
            would_store(self.cluster, probe)
        except KubectlError as error:
            if "not found" in error.stderr:
                return False
            raise
        return True

    def submit(self, *objects: Object) -> None:
        """Create as alice, the way `kubectl create` does."""
        for item in objects:
            self.cluster.kubectl("create", "-f", "-", stdin=json.dumps(item), user="alice")

    def suspend(self, kind: str, name: str, value: bool) -> None:  # noqa: FBT001
        """Pause or resume a parent, as alice."""
        patch = json.dumps({"spec": {"suspend": value}})
        where = ("-n", self.namespace, "--type=merge", "-p", patch)
        self.cluster.kubectl("patch", kind, name, *where, user="alice")

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

    def await_event(self, kind: str, is_it: Callable[[Object], bool], what: str) -> Object:
        """An object of these, in the very moment in which a watch shows it so."""
        path = f"{WATCHED[kind]}/namespaces/{self.namespace}/{kind}"
        command = [
            str(self.cluster.bin_dir / "kubectl"),
            f"--kubeconfig={self.cluster.kubeconfig()}",
            *("get", "--raw", f"{path}?watch=1&timeoutSeconds={PATIENCE:.0f}"),
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watch:
            try:
                for line in watch.stdout or ():
                    item: Object = json.loads(line)["object"]
                    if is_it(item):
                        return item
            finally:
                watch.terminate()
        raise AssertionError(f"not seen within {PATIENCE:g} s: {what}")

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

    def pods_of(self, job: str) -> list[Object]:
        """The pods of a Job, finished ones too."""
        label = "batch.kubernetes.io/job-name"
        return [pod for pod in self.all("pods") if pod["metadata"]["labels"].get(label) == job]

    def running_pod(self, job: str) -> str | None:
        """The name of a Pod of the Job that runs."""
        return next(
            (
                pod["metadata"]["name"]
                for pod in self.pods_of(job)
                if pod["status"].get("phase") == "Running"
                and "deletionTimestamp" not in pod["metadata"]
            ),
            None,
        )

    def await_running(self, job: str) -> str:
        """The name of a Pod of the Job, as soon as it runs."""
        return eventually(lambda: self.running_pod(job), f"a running Pod of {job}")

    def reserved(self, resource: str = GPU) -> int:
        """How much of the team's quota Kueue has given away."""
        flavors = self.cluster.get("clusterqueue", self.namespace)["status"].get(
            "flavorsReservation"
        )
        usage = [item for flavor in flavors or [] for item in flavor["resources"]]
        return sum(int(item["total"]) for item in usage if item["name"] == resource)

    def await_evicted(self, job: str, reason: str) -> Object:
        """The Workload of a Job, as soon as it is evicted for this reason."""

        def look() -> Object | None:
            workload = self.workload_of(job)
            return workload if reason_of(workload, "Evicted") == reason else None

        return eventually(look, f"{job} is evicted: {reason}")

    def uids(self, *jobs: str) -> dict[str, str]:
        """The uids of Jobs by their names: another uid is another Job."""
        return {job: self.one("jobs", job)["metadata"]["uid"] for job in jobs}

    def reviews(self) -> list[Object]:
        """What the webhook's log says of this namespace, one entry a review."""
        with self.webhook_log.open() as lines:
            entries = [json.loads(line) for line in lines if is_whole(line)]
        return [
            entry
            for entry in entries
            if entry["event"] == "review"
            and entry["namespace"] == self.namespace
            and "dry_run" not in entry
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


def would_store(cluster: Cluster, item: Object, *, user: str = "admin") -> Object:
    """What a create of the object would store; KubectlError if it would be refused."""
    command = ("create", "--dry-run=server", "-o", "json", "-f", "-")
    stored: Object = json.loads(cluster.kubectl(*command, stdin=json.dumps(item), user=user))
    return stored


def is_whole(line: str) -> bool:
    """Is this line of a log an entry, and written to its end?"""
    return line.startswith("{") and line.endswith("\n")


def conditions(item: Object) -> set[str]:
    """The types of the conditions that are true."""
    return {
        condition["type"]
        for condition in item.get("status", {}).get("conditions") or []
        if condition["status"] == "True"
    }


def ever_true(workload: Object) -> set[str]:
    """Conditions that are or were true."""
    return {condition["type"] for condition in workload["status"]["conditions"]}


def reason_of(item: Object, kind: str) -> str | None:
    """Why a condition is true; None if it is not."""
    return next(
        (
            condition["reason"]
            for condition in item.get("status", {}).get("conditions") or []
            if condition["type"] == kind and condition["status"] == "True"
        ),
        None,
    )


def is_suspended(job: Object) -> bool:
    """Is the Job kept from running?"""
    return bool(job["spec"].get("suspend"))


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
        if "deletionTimestamp" in pod["metadata"]:
            continue  # Of an admission that was taken back.
        owner = next(o for o in pod["metadata"]["ownerReferences"] if o["controller"])
        made: Any = datetime.fromisoformat(pod["metadata"]["creationTimestamp"])
        if owner["uid"] not in admitted or made < admitted[owner["uid"]]:
            yield pod["metadata"]["name"]


def submitted(team: Team, item: Object) -> str:
    """Creates as alice, and returns what kubectl said on standard error: the warnings."""
    run = ran(team.cluster, "create", "-f", "-", user="alice", stdin=json.dumps(item))
    run.check_returncode()
    return run.stderr


def ran(
    cluster: Cluster, *arguments: str, user: str = "admin", stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    """What became of a call of kubectl: warnings and refusals are in its stderr."""
    command = [
        str(cluster.bin_dir / "kubectl"),
        f"--kubeconfig={cluster.kubeconfig(user)}",
        *arguments,
    ]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
