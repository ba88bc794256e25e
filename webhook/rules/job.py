"""A step's Job: it runs while Kueue has admitted it, and never otherwise.

JobSet un-suspends every Job of a JobSet that is not suspended itself, at each reconcile. Denying
that would stop JobSet's own work (its status writes included), so the Job is *held*: the write
passes with `suspend` put back. A held write that changes nothing else must leave the stored
object equal, or each reconcile makes an event that makes the next reconcile.

Everything is decided from the two objects and the user's name.
"""

import msgspec
from msgspec.structs import replace

from webhook.rules import names, scope
from webhook.rules.errors import Denied
from webhook.rules.facts import Facts, Key
from webhook.rules.objects import Items, Job, Metadata
from webhook.rules.policy import Policy
from webhook.rules.reasons import Reason
from webhook.rules.review import Operation, Request
from webhook.rules.verdict import Verdict

BY_HAND_WARNING = (
    "held: Kueue starts this Job when its queue has room; "
    "raise its priority-class or the quota to run it sooner"
)


_encoder = msgspec.json.Encoder(order="deterministic")


def needs(_request: Request, _facts: Facts, _policy: Policy) -> tuple[Key, ...]:
    """Nothing: a Job is decided from the review alone."""
    return ()


def mutate(request: Request, _facts: Facts, policy: Policy) -> Verdict:
    """The Job as it is to be stored."""
    new = request.new(Job)
    if request.operation is Operation.CREATE:
        return _created(request, new, policy)
    old = request.old(Job)
    if reason := _why_update_left_alone(old, new, policy):
        return Verdict(reason)
    return _updated(request.user_info.username, new, old, policy)


def validate(request: Request, policy: Policy) -> Verdict:
    """Denied where another webhook has undone the hold: the Job would run without admission."""
    new = request.new(Job)
    if request.operation is Operation.CREATE:
        reason = _why_create_left_alone(new, policy)
        stands = _is_suspended(new) and new.metadata.label(names.QUEUE) is not None
    else:
        old = request.old(Job)
        reason = _why_update_left_alone(old, new, policy)
        stands = not _starts(new, old) or _may_start(request.user_info.username, old, policy)
    if reason or stands:
        return Verdict(reason or Reason.UNCHANGED)
    raise Denied(
        "spec.suspend",
        "false",
        "another webhook changed this Job after kueue-steps had held it, and it would run although "
        "Kueue has not admitted it. Ask your administrator to exclude Jobs with the label "
        f"{names.STEP_QUEUE} from that webhook",
        code=403,
        reason=Reason.UNDONE,
    )


def _why_not_ours(of_record: Job, new: Job, policy: Policy) -> Reason | None:
    owner = of_record.metadata.controller
    if owner is None or not owner.is_a("JobSet", names.JOBSET_GROUP):
        return Reason.OTHER_OWNER
    if not scope.is_stepped(of_record.metadata) and not scope.is_stepped(new.metadata):
        return Reason.NOT_STEPPED
    # Whoever manages it (spec.managedBy): JobSet resumes it all the same, and Kueue stops it again.
    if policy.kueue and not policy.kueue.admits_steps:
        return Reason.WHOLE_STEPPING_IMPOSSIBLE
    return None


def _why_create_left_alone(job: Job, policy: Policy) -> Reason | None:
    return _why_not_ours(job, job, policy) or scope.why_create_left_alone(job.metadata)


def _why_update_left_alone(old: Job, new: Job, policy: Policy) -> Reason | None:
    # Only a stored status is the Job controller's: a create may claim anything.
    return Reason.FINISHED if old.is_finished else _why_not_ours(old, new, policy)


def _created(request: Request, job: Job, policy: Policy) -> Verdict:
    if reason := _why_create_left_alone(job, policy):
        return Verdict(reason)
    queued = replace(job, metadata=_queued(job.metadata, job.metadata))
    if not _is_suspended(job):
        return Verdict(Reason.HELD, job, _suspended(queued))
    if request.user_info.username in policy.jobset_users:
        return Verdict(Reason.PAUSED, job, _paused(queued))
    return Verdict(Reason.STOPPED, job, queued)


def _updated(user: str, new: Job, old: Job, policy: Policy) -> Verdict:
    kept = new if new.metadata.deletion_timestamp else _relabelled(new, old)
    if _starts(new, old):
        return _started(user, new, kept, old, policy)
    if _is_suspended(new) and not _is_suspended(old):
        if user in policy.jobset_users:
            return Verdict(Reason.PAUSED, new, _paused(kept))
        return Verdict(Reason.STOPPED, new, kept)
    return Verdict(Reason.UNCHANGED if kept == new else Reason.RESTORED, new, kept)


def _started(user: str, new: Job, kept: Job, old: Job, policy: Policy) -> Verdict:
    if _may_start(user, old, policy):
        return Verdict(Reason.STARTED, new, kept)
    if user in policy.kueue_users:
        return Verdict(Reason.HELD_WHILE_PAUSED, new, _as_before(kept, old))
    held = _held(kept, old)
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
    template, stored = new.job.template, old.job.pod_template.pods
    if template and template.spec:
        pods = template.spec
        merged = replace(
            pods,
            tolerations=_old_and_new(stored.tolerations, pods.tolerations),
            scheduling_gates=_old_and_new(stored.scheduling_gates, pods.scheduling_gates),
        )
        template = replace(template, spec=merged)
    return _suspended(replace(new, spec=replace(new.job, template=template)))


def _as_before(new: Job, old: Job) -> Job:
    """The new Job with Kueue's start taken back: flavors and a partial size belong to it."""
    template, stored = new.job.template, old.job.pod_template
    if template and template.spec:
        pods = replace(
            template.spec,
            node_selector=stored.pods.node_selector,
            tolerations=stored.pods.tolerations,
            scheduling_gates=stored.pods.scheduling_gates,
        )
        template = replace(template, metadata=stored.metadata, spec=pods)
    size = {"parallelism": old.job.parallelism, "completions": old.job.completions}
    spec = replace(new.job, template=template, **size)
    return _suspended(replace(new, spec=spec))


def _old_and_new(old: Items, new: Items) -> Items:
    kept = list(old or [])
    seen = {_encoder.encode(item) for item in kept}
    for item in new or []:
        if (text := _encoder.encode(item)) not in seen:
            seen.add(text)
            kept.append(item)
    return kept or new


def _suspended(job: Job) -> Job:
    return replace(job, spec=replace(job.job, suspend=True))


def _paused(job: Job) -> Job:
    return replace(job, metadata=job.metadata.annotated({names.PAUSED: "true"}))


def _starts(new: Job, old: Job) -> bool:
    return _is_suspended(old) and not _is_suspended(new)


def _may_start(user: str, old: Job, policy: Policy) -> bool:
    is_paused = old.metadata.annotation(names.PAUSED) is not None
    return user in policy.kueue_users and not is_paused


def _is_suspended(job: Job) -> bool:
    return bool(job.job.suspend)
