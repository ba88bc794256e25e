"""Everything that the watches have told, and who belongs to whom. Pure."""

from collections import defaultdict
from dataclasses import dataclass, field

from localcluster.invariants.views import ClusterQueue, Job, JobSet, LocalQueue, Pod, Workload


@dataclass(slots=True)
class Known:
    """Objects by uid, Workloads by the uid of their owner, queues by name."""

    pods: dict[str, Pod] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    jobsets: dict[str, JobSet] = field(default_factory=dict)
    workloads: dict[str, Workload] = field(default_factory=dict)
    cluster_queues: dict[str, ClusterQueue] = field(default_factory=dict)
    local_queues: dict[tuple[str, str], LocalQueue] = field(default_factory=dict)
    quotas: dict[str, list[tuple[float, int]]] = field(default_factory=lambda: defaultdict(list))

    def stepped(self, pod: Pod) -> Job | None:
        """The Pod's Job, if it is a step."""
        job = self.jobs.get(pod.job)
        return job if job and job.is_stepped else None

    def group_of(self, pod: Pod) -> str:
        """Whose quota the Pod uses; "" if nobody's, or that of a Job that is being deleted."""
        job = self.jobs.get(pod.job)
        if job is None or job.is_deleted:
            return ""
        workload = self._workload_above(job)
        name = workload.cluster_queue if workload else ""
        if not name:
            queue = workload.queue if workload else job.queue
            leads = self.local_queues.get((job.namespace, queue))
            name = leads.cluster_queue if leads else ""
        found = self.cluster_queues.get(name)
        return found.group if found else ""

    def most_gpus(self, group: str, since: float) -> int:
        """The highest quota of the group at any time from then on."""
        members = [queue.name for queue in self.cluster_queues.values() if queue.group == group]
        return sum(_most(self.quotas[name], since) for name in members)

    def _workload_above(self, job: Job) -> Workload | None:
        """Its own, or where it is left whole that of its JobSet or TrainJob."""
        jobset = self.jobsets.get(job.parent)
        chain = (job.uid, job.parent, jobset.parent if jobset else "")
        return next((self.workloads[uid] for uid in chain if uid in self.workloads), None)


def _most(quotas: list[tuple[float, int]], since: float) -> int:
    in_force = [gpus for at, gpus in quotas if at > since]
    before = [gpus for at, gpus in quotas if at <= since]
    return max([*before[-1:], *in_force], default=0)
