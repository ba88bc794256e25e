"""JobSet: every step's template gets the queue, so that Kueue admits the Jobs one by one.

A JobSet of a TrainJob follows its TrainJob; a JobSet without an owner is a parent of its own.
JobSets of any other owner belong to that owner. After creation replicatedJobs are immutable; what
an update takes over from the stored object is in immutable.py.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from webhook.rules import immutable, labels, lengths, names, parents, queues, scope, stepping
from webhook.rules.errors import Denied
from webhook.rules.facts import Facts, Key, found, trainer_key
from webhook.rules.labels import label_path
from webhook.rules.objects import Flag, Head, JobSet, Metadata, OwnerReference, ReplicatedJob
from webhook.rules.policy import Policy
from webhook.rules.reasons import Reason
from webhook.rules.review import Operation, Request
from webhook.rules.submission import Submission
from webhook.rules.verdict import Verdict

TRAINJOBS = "trainjobs"


def needs(request: Request, facts: Facts, policy: Policy) -> tuple[Key, ...]:
    """The TrainJob that owns a JobSet which is created; without owner, where its queues lead."""
    if request.operation is not Operation.CREATE or request.once(_why_not_ours):
        return ()
    jobset = request.new(JobSet)
    if owner := jobset.metadata.controller:
        key = _owner_key(owner, request.namespace)
        trainjob = found(facts, key, Head)
        if trainjob is None or not scope.is_stepped_parent(trainjob.metadata):
            return (key,)
        inherited = _submission(trainjob.metadata, jobset, request.namespace)
        return (key, *inherited.needs(facts, policy, is_warned_of=False))
    return _submission(jobset.metadata, jobset, request.namespace).needs(facts, policy)


def mutate(request: Request, facts: Facts, policy: Policy) -> Verdict:
    """The JobSet as it is to be stored."""
    if reason := request.once(_why_not_ours):
        return parents.left_alone(request, reason)
    jobset = request.new(JobSet)
    if request.operation is Operation.UPDATE:
        return _updated(jobset, request.old(JobSet))
    if owner := jobset.metadata.controller:
        # How it is admitted was decided when it was created: a mode that came later does not count.
        parent = _owner(owner, facts, request.namespace).annotated({names.MODE: None})
        return _created_by(jobset, _submission(parent, jobset, request.namespace), facts, policy)
    alone = _submission(jobset.metadata, jobset, request.namespace)
    return _created_alone(jobset, alone, facts, policy)


def validate(request: Request, _policy: Policy) -> Verdict:
    """Denied where other webhooks have undone what `mutate` did."""
    reason = request.once(_why_not_ours)
    verdict = parents.validated(request, reason)
    if reason is None and request.operation is Operation.CREATE:
        jobset = request.new(JobSet)
        if scope.is_stepped(jobset.metadata):
            queues.check_queued(jobset.steps)
    return verdict


def _why_not_ours(request: Request) -> Reason | None:
    if request.operation is Operation.UPDATE:
        return scope.why_update_left_alone(request)
    if reason := _why_parent_not_ours(request.metadata(JobSet)):
        return reason
    spec = request.new(JobSet).spec
    if spec and scope.is_managed_elsewhere(spec.managed_by, names.JOBSET_CONTROLLER):
        return Reason.MANAGED_ELSEWHERE
    return None


def _why_parent_not_ours(metadata: Metadata) -> Reason | None:
    """Of a new JobSet's metadata. One of a TrainJob follows that, whatever its runtime writes."""
    if owner := metadata.controller:
        return None if owner.is_a("TrainJob", names.TRAINER_GROUP) else Reason.OTHER_OWNER
    if reason := scope.why_create_left_alone(metadata):
        return reason
    return None if scope.is_queued(metadata) else Reason.NOT_QUEUED


def _submission(parent: Metadata, jobset: JobSet, namespace: str) -> Submission:
    return Submission(parent, jobset.spec or None, namespace)


def _created_alone(jobset: JobSet, submission: Submission, facts: Facts, policy: Policy) -> Verdict:
    labels.check_carried(jobset.metadata)
    queues.check_number(jobset.steps)
    queues.step_queues(jobset.metadata, jobset.steps)
    choice = stepping.choose(submission.parent(names.JOBSET_FRAMEWORK, facts, policy), policy)
    warnings = (
        *choice.warnings,
        *lengths.warnings(jobset.metadata, jobset.steps),
        *submission.warnings(facts, policy, is_stepped=choice.stepped),
    )
    if not choice.stepped:
        whole = _whole(jobset, submission.queue)
        return Verdict(choice.reason, jobset, whole, warnings)
    spec = jobset.spec
    submitted = replace(
        jobset,
        metadata=parents.remembered(jobset.metadata, spec.suspend if spec else None),
        spec=replace(spec, suspend=False) if spec and spec.suspend else spec,
    )
    stepped = _stepped(submitted, jobset.metadata, submission.queue)
    return Verdict(choice.reason, jobset, stepped, warnings)


def _created_by(jobset: JobSet, submission: Submission, facts: Facts, policy: Policy) -> Verdict:
    parent = submission.metadata
    queue = parent.label(names.STEP_QUEUE) or ""
    if not scope.is_stepped_parent(parent):
        return Verdict(Reason.OWNER_NOT_STEPPED, jobset, _unmarked(jobset, jobset.metadata))
    labels.check_carried(parent)
    queues.check_number(jobset.steps)
    choice = stepping.choose(submission.parent(names.TRAINJOB_FRAMEWORK, facts, policy), policy)
    if not choice.stepped:
        raise _not_stepped(queue, choice.reason)
    return Verdict(Reason.STEPPED_BY_OWNER, jobset, _stepped(jobset, parent, queue))


def _owner_key(owner: OwnerReference, namespace: str) -> Key:
    return trainer_key(TRAINJOBS, owner.name, namespace, owner.uid)


def _owner(owner: OwnerReference, facts: Facts, namespace: str) -> Metadata:
    """Metadata of the owning TrainJob. Denied where it is not there: Trainer tries again."""
    trainjob = found(facts, _owner_key(owner, namespace), Head)
    if trainjob and trainjob.metadata.uid == owner.uid:
        return trainjob.metadata
    raise Denied(
        "metadata.ownerReferences",
        owner.name,
        "this TrainJob could not be read, so the queue of its steps is not known. The Trainer "
        "controller tries again by itself; if it goes on, see the log of kueue-steps",
        code=403,
        reason=Reason.OWNER_UNREADABLE,
    )


def _not_stepped(queue: str, reason: Reason) -> Denied:
    """Of a JobSet whose TrainJob is marked: that must never run as one that is not."""
    why = (
        f"its TrainJob carries this label, but is not to be stepped ({reason}). Delete "
        f"the TrainJob and create it with {names.QUEUE} in its place"
    )
    if reason is Reason.WHOLE_QUEUE_UNREADABLE:
        why = (
            "where this queue leads could not be read. The Trainer controller tries again by "
            "itself; if it goes on, see the log of kueue-steps"
        )
    return Denied(label_path(names.STEP_QUEUE), queue, why, code=403, reason=reason)


def _stepped(jobset: JobSet, parent: Metadata, queue: str) -> JobSet:
    queues.check_own(jobset.steps)
    chosen, carried = queues.step_queues(parent), labels.carried(parent)
    steps = [_queued(step, queues.queue_of(step, chosen, queue), carried) for step in jobset.steps]
    return _with(jobset, parents.moved(jobset.metadata, queue), steps)


def _whole(jobset: JobSet, queue: str) -> JobSet:
    return _unmarked(jobset, parents.left_whole(jobset.metadata, queue))


def _unmarked(jobset: JobSet, metadata: Metadata) -> JobSet:
    """The JobSet without our label, which would make steps of its Jobs."""
    steps = [_labelled(step, {names.STEP_QUEUE: None}) for step in jobset.steps]
    return _with(jobset, metadata.labelled({names.STEP_QUEUE: None}), steps)


def _with(jobset: JobSet, metadata: Metadata, steps: list[ReplicatedJob]) -> JobSet:
    spec = replace(jobset.spec, replicated_jobs=steps) if jobset.spec and steps else jobset.spec
    return replace(jobset, metadata=metadata, spec=spec)


def _queued(step: ReplicatedJob, queue: str, carried: Mapping[str, str]) -> ReplicatedJob:
    own = {key: value for key in carried if (value := step.metadata.label(key))}
    return _labelled(step, {names.QUEUE: queue, names.STEP_QUEUE: queue, **carried, **own})


def _labelled(step: ReplicatedJob, changes: Mapping[str, str | None]) -> ReplicatedJob:
    metadata = step.metadata.labelled(changes)
    if not step.template or metadata == step.metadata:
        return step  # A step without a template is refused by the API server.
    return replace(step, template=replace(step.template, metadata=metadata))


def _updated(new: JobSet, old: JobSet) -> Verdict:
    suspend, stored = _suspend(new), _suspend(old)
    warnings: tuple[str, ...] = ()
    if old.metadata.controller is None:
        replay = parents.is_replay(new.metadata, old.metadata)
        suspend = parents.suspend_after(suspend, stored, replay=replay)
        warnings = parents.fixed_warnings(new.metadata, old.metadata, old.steps)
    spec = new.spec
    if spec and old.spec:
        spec = immutable.completed(replace(spec, suspend=suspend), old.spec)
    edited = replace(new, metadata=parents.kept(new.metadata, old.metadata), spec=spec)
    reason = parents.update_reason(suspend, stored, edited=edited != new)
    return Verdict(reason, new, edited, warnings)


def _suspend(jobset: JobSet) -> Flag:
    return jobset.spec.suspend if jobset.spec else None
