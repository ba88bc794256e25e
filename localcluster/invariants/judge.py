"""Events in, violations out: keeps what is known, and asks each rule. Pure; time is passed in."""

from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum

from localcluster.audit import Event
from localcluster.invariants.admission import Admission
from localcluster.invariants.known import Known
from localcluster.invariants.quota import Quota
from localcluster.invariants.starts import Starts
from localcluster.invariants.views import ClusterQueue, Job, JobSet, LocalQueue, Pod, Workload
from localcluster.invariants.violation import Invariant, Violation
from localcluster.invariants.writes import Writes
from localcluster.manifests import Object


class Kind(StrEnum):
    """What is watched, by its plural."""

    CLUSTER_QUEUES = "clusterqueues"
    LOCAL_QUEUES = "localqueues"
    JOBSETS = "jobsets"
    JOBS = "jobs"
    WORKLOADS = "workloads"
    PODS = "pods"


class Judge:
    """All times are monotonic seconds; objects are as the API server sends them.

    A Job, or a group of ClusterQueues, is accused once of each invariant.
    """

    def __init__(self) -> None:
        known = Known()
        self.violations: list[Violation] = []
        self._known = known
        self._admission = Admission(known)
        self._quota = Quota(known)
        self._starts = Starts(known)
        self._writes = Writes(known)
        self._accused: set[tuple[Invariant, str]] = set()
        self._last: dict[Kind, dict[str, Object]] = {}

    def listed(self, kind: Kind, items: Iterable[Object], at: float) -> None:
        """All objects of a kind that there are; what was known before and is not here is gone."""
        is_first = kind not in self._last
        now = {item["metadata"]["uid"]: item for item in items}
        before = self._last.setdefault(kind, {})
        for uid in before.keys() - now.keys():
            self.gone(kind, before[uid])
        for item in now.values():
            self.seen(kind, item, at, from_before=is_first)

    def seen(self, kind: Kind, item: Object, at: float, *, from_before: bool = False) -> None:
        """One object of a kind that was listed before was made or changed."""
        self._last[kind][item["metadata"]["uid"]] = item
        match kind:
            case Kind.PODS:
                self._pod(Pod.of(item), at, from_before=from_before)
            case Kind.JOBS:
                self._job(Job.of(item), at)
            case Kind.WORKLOADS:
                self._workload(Workload.of(item))
            case Kind.JOBSETS:
                jobset = JobSet.of(item)
                self._known.jobsets[jobset.uid] = jobset
            case Kind.CLUSTER_QUEUES:
                self._cluster_queue(ClusterQueue.of(item), at)
            case Kind.LOCAL_QUEUES:
                queue = LocalQueue.of(item)
                self._known.local_queues[queue.namespace, queue.name] = queue

    def gone(self, kind: Kind, item: Object) -> None:
        """One object was deleted; this is its last version."""
        uid = item["metadata"]["uid"]
        self._last[kind].pop(uid, None)
        match kind:
            case Kind.PODS:
                self._known.pods.pop(uid, None)
                self._quota.pod_gone(uid)
            case Kind.JOBS:
                if job := self._known.jobs.pop(uid, None):
                    self._writes.job_gone(job)
            case Kind.WORKLOADS:
                self._workload_gone(Workload.of(item))
            case Kind.JOBSETS:
                self._known.jobsets.pop(uid, None)
            case Kind.CLUSTER_QUEUES:
                self._known.cluster_queues.pop(item["metadata"]["name"], None)
            case Kind.LOCAL_QUEUES:
                queue = LocalQueue.of(item)
                self._known.local_queues.pop((queue.namespace, queue.name), None)

    def audited(self, event: Event, at: float) -> None:
        """The API server answered a write."""
        self._writes.audited(event, at)

    def restart(self, at: float) -> None:
        """The API server is back after a while in which nothing could be seen or done."""
        for rule in (self._admission, self._quota, self._starts):
            rule.restart(at)

    def check(self, at: float) -> list[Violation]:
        """Time has passed: what is newly known to be wrong, added to `violations` too."""
        found = list(self._new(at))
        self.violations += found
        return found

    def is_undecided(self, namespaces: Collection[str]) -> bool:
        """May what was seen in these namespaces yet turn out to be wrong?"""
        return self._admission.is_undecided(namespaces)

    def _new(self, at: float) -> Iterator[Violation]:
        for rule in (self._admission, self._quota, self._starts, self._writes):
            for subject, found in rule.check(at):
                if (found.invariant, subject) not in self._accused:
                    self._accused.add((found.invariant, subject))
                    yield found

    def _pod(self, pod: Pod, at: float, *, from_before: bool) -> None:
        self._known.pods[pod.uid] = pod
        self._admission.pod(pod, at, from_before=from_before)
        self._quota.pod(pod, at)

    def _job(self, job: Job, at: float) -> None:
        self._writes.job(self._known.jobs.get(job.uid), job, at)
        self._known.jobs[job.uid] = job

    def _workload(self, workload: Workload) -> None:
        self._known.workloads[workload.owner] = workload
        self._admission.workload(workload)

    def _workload_gone(self, workload: Workload) -> None:
        self._admission.workload_gone(workload)
        known = self._known.workloads.get(workload.owner)
        if known and known.name == workload.name:
            del self._known.workloads[workload.owner]

    def _cluster_queue(self, queue: ClusterQueue, at: float) -> None:
        self._known.cluster_queues[queue.name] = queue
        quotas = self._known.quotas[queue.name]
        if not quotas or quotas[-1][1] != queue.gpus:
            quotas.append((at, queue.gpus))
