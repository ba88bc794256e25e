"""Objects of a cluster in, parents with their steps out. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, TypeVar

from webhook.rules import names
from webhook.rules.family import is_of_trainjob
from webhook.steps.jobs import Steps
from webhook.steps.objects import Job, Metadata, ParentObject, Seen, Workload
from webhook.steps.tree import Admission, Parent, Span, Standing, State, Step
from webhook.steps.workloads import Workloads, indexed

ItemT = TypeVar("ItemT", Job, ParentObject)
_Key: TypeAlias = tuple[str, str]

TRAINJOB: Final = "TrainJob"
JOBSET: Final = "JobSet"
NO_JOBSET: Final = "Trainer has made no JobSet of it yet"
DONE: Final = {TRAINJOB: "Complete", JOBSET: "Completed"}

_FORWARD: Final = (
    State.RUNNING,
    State.ADMITTED,
    State.EVICTED,
    State.QUEUED,
    State.PAUSED,
    State.ABSENT,
    State.WAITING,
)
"""Of a parent whose steps are in several states, the one that is furthest speaks for it.

That all are done, or that one has failed, is no end yet: that the parent says itself.
"""


@dataclass(frozen=True, slots=True)
class _Family:
    """A parent as it is stored, with its JobSet, and who of them is suspended."""

    kind: str
    head: ParentObject
    jobset: ParentObject | None
    jobs: Sequence[Job]

    @property
    def members(self) -> Iterator[tuple[str, ParentObject]]:
        yield self.kind, self.head
        if self.jobset is not None and self.jobset is not self.head:
            yield JOBSET, self.jobset

    @property
    def suspended(self) -> str:
        """Who is suspended, as a sentence; empty where nobody is."""
        return next(
            (
                f"{kind} {one.metadata.name} is suspended"
                for kind, one in self.members
                if one.is_suspended
            ),
            "",
        )


def parents(seen: Seen) -> list[Parent]:
    """Every parent, oldest first."""
    workloads = indexed(seen.workloads, seen.pending)
    ordered = sorted(_families(seen), key=lambda family: _age(family.head.metadata))
    return [_parent(family, workloads) for family in ordered]


def _age(metadata: Metadata) -> tuple[float, str, str]:
    created = metadata.creation_timestamp
    return created.timestamp() if created else 0.0, metadata.namespace, metadata.name


def _families(seen: Seen) -> Iterator[_Family]:
    jobs = _by_owner(seen.jobs, names.JOBSET_GROUP, JOBSET)
    owned, own = list[ParentObject](), list[ParentObject]()
    for jobset in seen.jobsets:
        # One whose TrainJob is younger than the list of those is shown with it, next time.
        is_owned = seen.trainjobs is not None and is_of_trainjob(jobset.metadata)
        (owned if is_owned else own).append(jobset)
    jobsets = _by_owner(owned, names.TRAINER_GROUP, TRAINJOB)
    for trainjob in seen.trainjobs or ():
        made = next(iter(jobsets.get(_key(trainjob), ())), None)
        yield _Family(TRAINJOB, trainjob, made, jobs.get(_key(made), []) if made else [])
    for jobset in own:
        yield _Family(JOBSET, jobset, jobset, jobs.get(_key(jobset), []))


def _key(owner: ParentObject) -> _Key:
    return owner.metadata.namespace, owner.metadata.uid


def _by_owner(items: Iterable[ItemT], group: str, kind: str) -> Mapping[_Key, list[ItemT]]:
    """Whoever makes an object may name any owner: it counts in its own namespace only."""
    found = defaultdict[_Key, list[ItemT]](list)
    for item in items:
        metadata, owner = item.metadata, item.metadata.controller
        if owner and owner.is_a(kind, group) and not metadata.deletion_timestamp:
            found[metadata.namespace, owner.uid].append(item)
    return found


def _parent(family: _Family, workloads: Workloads) -> Parent:
    head, metadata = family.head, family.head.metadata
    whole = workloads.of(metadata.namespace, metadata.uid)
    admission = _admission(family, whole)
    steps = tuple(_steps(family, workloads, admission, whole))
    return Parent(
        kind=family.kind,
        namespace=metadata.namespace,
        name=metadata.name,
        created=metadata.creation_timestamp,
        admission=admission,
        standing=_standing(family, workloads, admission, whole, steps),
        steps=steps,
        jobset=family.jobset.metadata.name if family.jobset else None,
        record=head.metadata.record,
        is_being_deleted=bool(metadata.deletion_timestamp),
    )


def _admission(family: _Family, whole: Workload | None) -> Admission:
    members = [one.metadata for _, one in family.members]
    if any(one.label(names.STEP_QUEUE) for one in members):
        return Admission.STEP
    is_queued = whole is not None or any(one.label(names.QUEUE) for one in members)
    return Admission.WHOLE if is_queued else Admission.NONE


def _steps(
    family: _Family, workloads: Workloads, admission: Admission, whole: Workload | None
) -> Iterator[Step]:
    if family.jobset is None:
        return iter(())
    paused = "" if admission is Admission.WHOLE else family.suspended
    return Steps(family.jobset, family.jobs, admission, workloads, whole, paused).all()


def _standing(
    family: _Family,
    workloads: Workloads,
    admission: Admission,
    whole: Workload | None,
    steps: Sequence[Step],
) -> Standing:
    queue = family.head.metadata.queue
    if admission is Admission.WHOLE:
        with_kueue = workloads.standing(whole, queue)
    else:
        with_kueue = Standing(_furthest(steps), queue=queue)
    if ended := _ended(family):
        return replace(ended.placed(with_kueue), run=_run(whole))
    if admission is Admission.WHOLE:
        return _whole(with_kueue, whole, steps)
    if family.suspended:
        return replace(with_kueue, state=State.PAUSED, message=family.suspended)
    if family.jobset is None:
        return replace(with_kueue, message=NO_JOBSET)
    return with_kueue


def _ended(family: _Family) -> Standing | None:
    status = family.head.status
    if failed := status.held("Failed"):
        return Standing(State.FAILED, failed.reason, failed.message, failed.last_transition_time)
    if done := status.held(DONE[family.kind]):
        return Standing(State.DONE, since=done.last_transition_time)
    return None


def _whole(with_kueue: Standing, whole: Workload | None, steps: Sequence[Step]) -> Standing:
    runs = any(step.standing.state is State.RUNNING for step in steps)
    if with_kueue.state is State.ADMITTED and runs:
        with_kueue = replace(with_kueue, state=State.RUNNING)
    return replace(with_kueue, run=_run(whole))


def _run(whole: Workload | None) -> Span | None:
    """How long a whole parent has had its quota."""
    if whole is None:
        return None
    status = whole.status
    before = status.accumulated_past_execution_time_seconds or 0
    admitted, finished = status.held("Admitted"), status.held("Finished")
    start = admitted.last_transition_time if admitted else None
    if start is None:
        return Span(before) if before else None
    end = finished.last_transition_time if finished else None
    return Span(before, start) if end is None else Span(before + int((end - start).total_seconds()))


def _furthest(steps: Sequence[Step]) -> State:
    states = {step.standing.state for step in steps}
    if not states:
        return State.ABSENT
    going_on = () if State.FAILED in states else _FORWARD
    return next((state for state in going_on if state in states), State.RUNNING)
