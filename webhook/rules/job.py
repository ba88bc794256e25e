"""A step's Job: it runs while Kueue has admitted it, and never otherwise.

JobSet un-suspends every Job of a JobSet that is not suspended itself, at each reconcile. Denying
that would stop JobSet's own work (its status writes included), so the Job is *held*: the write
passes with `suspend` put back. A held write that changes nothing else must leave the stored
object equal, or each reconcile makes an event that makes the next reconcile.

Everything is decided from the two objects and the user's name.
"""

from typing import Any

from msgspec.structs import replace

from webhook.rules import names, scope
from webhook.rules.errors import Denied
from webhook.rules.facts import Facts, Key
from webhook.rules.objects import Items, Job, Metadata
from webhook.rules.policy import Policy
from webhook.rules.reasons import Reason
from webhook.rules.review import Operation, Request
from webhook.rules.verdict import Verdict

BY_HAND_WARNING = "held: Kueue starts this Job when its LocalQueue has room; suspend stays true"


def needs(_request: Request) -> tuple[Key, ...]:
    """Nothing: a Job is decided from the review alone."""
    return ()


def mutate(request: Request, _facts: Facts, policy: Policy) -> Verdict:
    """The Job as it is to be stored."""
    new = request.new(Job)
    if request.operation is Operation.CREATE:
        return _created(request, new, policy)
    old = request.old(Job)
    if reason := _why_not_ours(old, old.metadata, new.metadata):
        return Verdict(reason)
    return _updated(request.user_info.username, new, old, policy)


def validate(request: Request, policy: Policy) -> Verdict:
    """Denied where another webhook has undone the hold: the Job would run without admission."""
    new = request.new(Job)
    old = request.old(Job) if request.operation is Operation.UPDATE else None
    of_record = old or new
    if reason := _why_not_ours(of_record, of_record.metadata, new.metadata):
        return Verdict(reason)
    if old is None:
        allowed = _is_suspended(new) and new.metadata.label(names.QUEUE) is not None
    else:
        by_kueue = request.user_info.username in policy.kueue_users
        starts = _is_suspended(old) and not _is_suspended(new)
        allowed = not starts or (by_kueue and not _is_paused(old))
    if allowed:
        return Verdict(Reason.UNCHANGED)
    raise Denied(
        "spec.suspend",
        new.spec.suspend,
        "another webhook changed this Job after kueue-steps had held it, and it would run although "
        "Kueue has not admitted it. Ask your administrator to exclude Jobs with the label "
        f"{names.STEP_QUEUE} from that webhook",
        code=403,
        reason=Reason.UNDONE,
    )


def _why_not_ours(job: Job, metadata: Metadata, new: Metadata) -> Reason | None:
    owner = metadata.controller
    if owner is None or owner.kind != "JobSet" or owner.group != names.JOBSET_GROUP:
        return Reason.OTHER_OWNER
    if not scope.is_stepped(metadata) and not scope.is_stepped(new):
        return Reason.NOT_STEPPED
    if scope.is_managed_elsewhere(job.spec.managed_by, names.JOB_CONTROLLER):
        return Reason.MANAGED_ELSEWHERE
    if job.is_finished:
        return Reason.FINISHED
    reason = scope.why_left_alone(metadata)
    return None if reason is Reason.DELETING else reason


def _created(request: Request, job: Job, policy: Policy) -> Verdict:
    if reason := _why_not_ours(job, job.metadata, job.metadata):
        return Verdict(reason)
    metadata = _queued(job.metadata, job.metadata)
    if not _is_suspended(job):
        return Verdict(Reason.HELD, job, _suspended(replace(job, metadata=metadata)))
    if request.user_info.username in policy.jobset_users:
        return Verdict(Reason.PAUSED, job, replace(job, metadata=_paused(metadata)))
    return Verdict(Reason.STOPPED, job, replace(job, metadata=metadata))


def _updated(user: str, new: Job, old: Job, policy: Policy) -> Verdict:
    kept = new if new.metadata.deletion_timestamp else _relabelled(new, old)
    if _is_suspended(old) and not _is_suspended(new):
        return _started(user, new, kept, old, policy)
    if _is_suspended(new) and not _is_suspended(old):
        if user in policy.jobset_users:
            return Verdict(Reason.PAUSED, new, replace(kept, metadata=_paused(kept.metadata)))
        return Verdict(Reason.STOPPED, new, kept)
    return Verdict(Reason.UNCHANGED if kept == new else Reason.RESTORED, new, kept)


def _started(user: str, new: Job, kept: Job, old: Job, policy: Policy) -> Verdict:
    if user in policy.kueue_users and not _is_paused(old):
        return Verdict(Reason.STARTED, new, kept)
    held = _held(kept, old)
    if user in policy.kueue_users:
        return Verdict(Reason.HELD_WHILE_PAUSED, new, held)
    if user in policy.jobset_users:
        resumed = held.metadata.annotated({names.PAUSED: None})
        return Verdict(Reason.HELD, new, replace(held, metadata=resumed))
    return Verdict(Reason.HELD_FROM_USER, new, held, (BY_HAND_WARNING,))


def _relabelled(new: Job, old: Job) -> Job:
    return replace(new, metadata=_queued(new.metadata, old.metadata))


def _queued(new: Metadata, stored: Metadata) -> Metadata:
    """Both queue labels as far as they were stripped; a change of queue is Kueue's matter."""
    ours = stored.label(names.STEP_QUEUE) or new.label(names.STEP_QUEUE)
    kueues = new.label(names.QUEUE) or stored.label(names.QUEUE) or ours
    return new.labelled({names.STEP_QUEUE: ours, names.QUEUE: kueues})


def _held(new: Job, old: Job) -> Job:
    """The new Job with suspend kept and JobSet's merges of lists undone.

    JobSet merges its template into the Job with each attempt, in random order and with repeats
    (collections.MergeSlices, pkg/util/collections in v0.12.0).
    """
    pods, stored = new.spec.template.spec, old.spec.template.spec
    merged = replace(
        pods,
        tolerations=_old_and_new(stored.tolerations, pods.tolerations),
        scheduling_gates=_old_and_new(stored.scheduling_gates, pods.scheduling_gates),
    )
    template = replace(new.spec.template, spec=merged)
    return _suspended(replace(new, spec=replace(new.spec, template=template)))


def _old_and_new(old: Items, new: Items) -> Items:
    kept: list[dict[str, Any]] = list(old or [])
    for item in new or []:
        if item not in kept:
            kept.append(item)
    return kept or new


def _suspended(job: Job) -> Job:
    return replace(job, spec=replace(job.spec, suspend=True))


def _paused(metadata: Metadata) -> Metadata:
    return metadata.annotated({names.PAUSED: "true"})


def _is_suspended(job: Job) -> bool:
    return bool(job.spec.suspend)


def _is_paused(job: Job) -> bool:
    return job.metadata.annotation(names.PAUSED) is not None
