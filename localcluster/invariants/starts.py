"""What Kueue admits runs, unless a person paused it. Pure."""

from collections.abc import Iterator

from localcluster.invariants.known import Known
from localcluster.invariants.views import Job, Workload
from localcluster.invariants.violation import Invariant, Violation, clock, violation

START_SECONDS = 10.0


class Starts:
    """Measures for how long each admitted Job is suspended without interruption."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._since: dict[str, float] = {}

    def restart(self, _at: float) -> None:
        """Nothing was seen for a while: all patience begins anew."""
        self._since.clear()

    def check(self, at: float) -> Iterator[tuple[str, Violation]]:
        """The Jobs that should have started by now, with their uid."""
        waiting = {job.uid: (job, workload) for job, workload in self._waiting()}
        self._since = {uid: self._since.get(uid, at) for uid in waiting}
        for uid, since in self._since.items():
            if at - since > START_SECONDS:
                yield uid, _late(*waiting[uid], at - since)

    def _waiting(self) -> Iterator[tuple[Job, Workload]]:
        for job in self._known.jobs.values():
            if job.is_held and not job.is_paused and self._is_jobset_running(job):
                workload = self._known.workloads.get(job.uid)
                if workload and _may_start(workload):
                    yield job, workload

    def _is_jobset_running(self, job: Job) -> bool:
        jobset = self._known.jobsets.get(job.parent)
        return jobset is not None and not jobset.is_suspended


def _may_start(workload: Workload) -> bool:
    stopping = workload.is_stopping or workload.deleted
    return workload.is_admitted and workload.is_active and not stopping


def _late(job: Job, workload: Workload, seconds: float) -> Violation:
    return violation(
        Invariant.START,
        job.namespace,
        f"Job {job.name} is still suspended {seconds:.1f} s after it could start: "
        f"Workload {workload.name} is admitted from {clock(workload.since)}",
    )
