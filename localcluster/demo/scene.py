"""What one look at a namespace says: how far each step is, who holds GPUs and who uses them. Pure.

Both modes are read by the same rules: a Job is admitted by its own Workload if it has one, else by
its TrainJob's.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from localcluster.demo.trace import GPU
from localcluster.manifests import Object
from webhook.rules import names
from webhook.rules.names import JOB_UID, PAUSED

JOBSET_NAME = names.JOBSET_NAME
STEP_NAME = names.REPLICATED_JOB
UNADMITTED = ""


class State(StrEnum):
    """How far a step is."""

    NOT_CREATED = "not created yet"
    QUEUED = "queued"
    ADMITTED = "admitted"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    PAUSED = "paused"


@dataclass(frozen=True)
class Scene:
    """The objects of one namespace, as read at about the same moment.

    `at` is the monotonic time in seconds at which reading began.
    """

    at: float
    trainjobs: list[Object]
    workloads: list[Object]
    jobs: list[Object]
    pods: list[Object]

    def state(self, trainjob: str, step: str) -> State:
        """How far the step of the TrainJob is."""
        job = self._steps.get((trainjob, step))
        if job is None:
            return State.NOT_CREATED
        if ended := _ended(job):
            return ended
        if any(_controller(pod) == _uid(job) and has_started(pod) for pod in self.pods):
            return State.RUNNING
        if PAUSED in job["metadata"].get("annotations", {}):
            return State.PAUSED
        workload = self._workload_of(job)
        admitted = workload is not None and is_true(workload, "Admitted")
        return State.ADMITTED if admitted else State.QUEUED

    def is_done(self, trainjob: str) -> bool:
        """Is the TrainJob complete?"""
        return any(_name(item) == trainjob and is_true(item, "Complete") for item in self.trainjobs)

    def has_failed(self, trainjob: str) -> bool:
        """Has the TrainJob failed?"""
        return any(_name(item) == trainjob and is_true(item, "Failed") for item in self.trainjobs)

    def reserved(self) -> dict[str, int]:
        """The GPUs that each Workload holds now; Workloads without any are left out."""
        held = {_name(workload): reserved_gpus(workload) for workload in self.workloads}
        return {name: gpus for name, gpus in held.items() if gpus}

    def used(self) -> dict[str, int]:
        """The GPUs of running pods by Workload; UNADMITTED is where pods without one go."""
        jobs = {_uid(job): job for job in self.jobs}
        used: dict[str, int] = {}
        for pod in self.pods:
            gpus = requested_gpus(pod) if is_running(pod) else 0
            if gpus:
                job = jobs.get(_controller(pod))
                workload = self._workload_of(job) if job else None
                name = _name(workload) if workload else UNADMITTED
                used[name] = used.get(name, 0) + gpus
        return used

    def at_work(self) -> frozenset[tuple[str, str]]:
        """The TrainJob and the step of each pod that is running."""
        owners = {_controller(pod) for pod in self.pods if is_running(pod)}
        return frozenset(step for step, job in self._steps.items() if _uid(job) in owners)

    @cached_property
    def _steps(self) -> Mapping[tuple[str, str], Object]:
        return {(_label(job, JOBSET_NAME), _label(job, STEP_NAME)): job for job in self.jobs}

    @cached_property
    def _by_owner(self) -> Mapping[str, Object]:
        return {_label(workload, JOB_UID): workload for workload in self.workloads}

    def _workload_of(self, job: Object) -> Object | None:
        if own := self._by_owner.get(_uid(job)):
            return own
        # A TrainJob, its JobSet and the label on the JobSet's Jobs are of one name.
        parents = (_uid(t) for t in self.trainjobs if _name(t) == _label(job, JOBSET_NAME))
        return next((self._by_owner[uid] for uid in parents if uid in self._by_owner), None)


def reserved_gpus(workload: Object) -> int:
    """The GPUs that count against the quota, as Kueue counts: those of ended pods do not."""
    if not is_true(workload, "QuotaReserved") or is_true(workload, "Finished"):
        return 0
    status = workload["status"]
    ended = {entry["name"]: entry["count"] for entry in status.get("reclaimablePods", [])}
    assignments = status.get("admission", {}).get("podSetAssignments", [])
    return sum(_still_held(item, ended.get(item["name"], 0)) for item in assignments)


def requested_gpus(pod: Object) -> int:
    """The GPUs that the pod's containers ask for."""
    return sum(
        int(container.get("resources", {}).get("requests", {}).get(GPU, 0))
        for container in pod["spec"]["containers"]
    )


def has_started(pod: Object) -> bool:
    """Is the pod running or at its end? A Job takes a second to notice that its last pod ended."""
    return pod.get("status", {}).get("phase") in {"Running", "Succeeded", "Failed"}


def is_running(pod: Object) -> bool:
    """Has the pod started and not ended?"""
    return bool(pod.get("status", {}).get("phase") == "Running")


def is_true(item: Object, condition: str) -> bool:
    """Does the status say so?"""
    conditions: Iterable[Object] = item.get("status", {}).get("conditions") or []
    return any(c["type"] == condition and c["status"] == "True" for c in conditions)


def _ended(job: Object) -> State | None:
    if is_true(job, "Complete"):
        return State.DONE
    return State.FAILED if is_true(job, "Failed") else None


def _still_held(assignment: Object, ended: int) -> int:
    count = assignment["count"]
    gpus = int(assignment.get("resourceUsage", {}).get(GPU, 0))
    return gpus * (count - ended) // count if count else 0


def _controller(item: Object) -> str:
    owners = item["metadata"].get("ownerReferences", [])
    return next((owner["uid"] for owner in owners if owner.get("controller")), "")


def _label(item: Object, key: str) -> str:
    value: str = item["metadata"].get("labels", {}).get(key, "")
    return value


def _name(item: Object) -> str:
    name: str = item["metadata"]["name"]
    return name


def _uid(item: Object) -> str:
    uid: str = item["metadata"]["uid"]
    return uid
