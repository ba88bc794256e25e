"""Where a step stands: its Job, where there is one, with what Kueue says of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from webhook.demand import pods
from webhook.demand.quantities import Amounts
from webhook.rules import names
from webhook.rules.family import is_step
from webhook.rules.objects import DependsOn
from webhook.steps.objects import Job, ParentObject, Workload
from webhook.steps.tree import Admission, Span, Standing, State, Step
from webhook.steps.workloads import Workloads, flavors_of

COMPLETE: Final = "Complete"
ENDED: Final = "its JobSet has ended without it"
NOT_YET: Final = "JobSet has not made its Job yet"
SUSPENDED: Final = "its Job is suspended"
WITH_THE_WHOLE: Final = "with the whole"


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a JobSet, as its Jobs and Kueue let them be seen.

    `whole` is where the parent stands that is admitted whole, `paused` who suspended a parent that
    is not.
    """

    jobset: ParentObject
    jobs: Sequence[Job]
    admission: Admission
    workloads: Workloads
    whole: Workload | None = None
    paused: str = ""

    def all(self) -> Iterator[Step]:
        """In the order of the JobSet; one for each Job, and one for all that are not made."""
        for step in self.jobset.spec.replicated_jobs or ():
            made = self._jobs_of(step)
            for job in made:
                yield self._made(step, job)
            if (lacking := _replicas(step) - len(made)) > 0:
                yield self._absent(step, lacking)

    def _jobs_of(self, step: pods.Step) -> list[Job]:
        """JobSet's own: whoever may make Jobs may give them this label and this owner."""
        jobset, replicas = self.jobset.metadata.name, _replicas(step)
        return [
            job
            for job in self.jobs
            if job.metadata.label(names.REPLICATED_JOB) == step.name
            and is_step(job.metadata.name, jobset, step.name, replicas)
        ]

    def _made(self, step: pods.Step, job: Job) -> Step:
        standing = self._standing(step.name, job)
        return Step(
            name=step.name,
            job=job.metadata.name,
            standing=replace(standing, run=_run(job)),
            ready=job.status.ready or 0,
            pods=job.spec.pods,
            requests=_requests(job.spec, job.spec.pods),
        )

    def _absent(self, step: pods.Step, lacking: int) -> Step:
        count = lacking * step.template.spec.pods
        waits_for = tuple(
            edge.name if edge.status == COMPLETE else f"{edge.name} ({edge.status})"
            for edge in step.depends_on or ()
            if not self._is_met(edge)
        )
        return Step(
            name=step.name,
            job=None,
            standing=self._why_absent(waits_for),
            waits_for=waits_for,
            pods=count,
            requests=_requests(step.template.spec, count),
        )

    def _why_absent(self, waits_for: tuple[str, ...]) -> Standing:
        if self.jobset.status.held("Completed", "Failed"):
            return Standing(State.ABSENT, message=ENDED)
        if waits_for:
            return Standing(State.WAITING)
        if self.paused:
            return Standing(State.PAUSED, message=self.paused)
        return Standing(State.ABSENT, message=NOT_YET)

    def _is_met(self, edge: DependsOn) -> bool:
        """Whether enough Jobs are so far (pkg/controllers/depends_on.go in JobSet v0.12.0)."""
        others = self.jobset.spec.replicated_jobs or ()
        other = next((step for step in others if step.name == edge.name), None)
        if other is None:
            return False
        is_reached = _is_complete if edge.status == COMPLETE else _is_ready
        return sum(map(is_reached, self._jobs_of(other))) == _replicas(other)

    def _standing(self, step: str, job: Job) -> Standing:
        workload = self.workloads.of(job.metadata.namespace, job.metadata.uid)
        with_kueue = self._with_kueue(step, job, workload)
        if failed := job.status.held("Failed"):
            why = Standing(State.FAILED, failed.reason, failed.message, failed.last_transition_time)
            return why.placed(with_kueue)
        if job.status.held(COMPLETE):
            return Standing(State.DONE, since=job.status.completion_time).placed(with_kueue)
        if job.spec.suspend:
            return self._suspended(job, with_kueue)
        if with_kueue.state is State.EVICTED:
            return with_kueue
        running = Standing(State.RUNNING, message=with_kueue.message, since=job.status.start_time)
        if with_kueue.state is not State.ADMITTED:
            running = replace(running, message="")
        return running.placed(with_kueue)

    def _with_kueue(self, step: str, job: Job, workload: Workload | None) -> Standing:
        match self.admission:
            case Admission.STEP:
                return self.workloads.standing(workload, job.metadata.queue)
            case Admission.WHOLE:
                state = self.workloads.standing(self.whole, None).state
                flavors = flavors_of(self.whole, step)
                return Standing(state, message=WITH_THE_WHOLE, flavors=flavors)
            case _:
                return Standing(State.PAUSED, message=self.paused or SUSPENDED)

    def _suspended(self, job: Job, with_kueue: Standing) -> Standing:
        is_paused = self.paused or job.metadata.annotation(names.PAUSED) is not None
        if self.admission is Admission.STEP and is_paused:
            why = Standing(State.PAUSED, message=self.paused or SUSPENDED)
            return why.placed(with_kueue)
        return with_kueue


def _replicas(step: pods.Step) -> int:
    return 1 if step.replicas is None else step.replicas


def _is_complete(job: Job) -> bool:
    return job.status.held(COMPLETE) is not None


def _is_ready(job: Job) -> bool:
    """Whether JobSet counts it as ready, or as past that."""
    status = job.status
    is_full = (status.ready or 0) + (status.succeeded or 0) >= job.spec.pods
    return is_full or status.held(COMPLETE, "Failed") is not None


def _run(job: Job) -> Span | None:
    """Its present run, or its last one; None where it has not ended and does not run."""
    start, end = job.status.start_time, _end(job)
    if start is None or (job.spec.suspend and end is None):
        return None
    return Span(0, start) if end is None else Span(int((end - start).total_seconds()))


def _end(job: Job) -> datetime | None:
    failed = job.status.held("Failed")
    return job.status.completion_time or (failed.last_transition_time if failed else None)


def _requests(spec: pods.JobSpec, count: int) -> Amounts:
    try:
        return {key: value * count for key, value in spec.amounts.items()}
    except ValueError:
        return {}  # Pods that ask for what is no quantity are never made.
