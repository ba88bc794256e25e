"""JobSet: every step's template gets the queue, so that Kueue admits the Jobs one by one.

A JobSet of a TrainJob follows its TrainJob; a JobSet without an owner is a parent of its own.
JobSets of any other owner belong to that owner. After creation replicatedJobs are immutable, so
an update leaves this review with the labels and the creation-time defaults of the stored object.
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from webhook.rules import labels, names, parents, queues, scope, stepping
from webhook.rules.errors import Denied
from webhook.rules.facts import Facts, Key, found
from webhook.rules.objects import (
    Head,
    JobSet,
    JobSetSpec,
    Metadata,
    OwnerReference,
    ReplicatedJob,
)
from webhook.rules.policy import Policy
from webhook.rules.reasons import Reason
from webhook.rules.review import Operation, Request
from webhook.rules.verdict import Verdict

TRAINJOBS = "trainjobs"
CARRIED = (names.QUEUE, names.STEP_QUEUE, names.PRIORITY_CLASS, names.MAX_EXEC_TIME)


def needs(request: Request) -> tuple[Key, ...]:
    """The TrainJob that owns a JobSet which is being created."""
    if request.operation is not Operation.CREATE:
        return ()
    metadata = request.new(Head).metadata
    owner = metadata.controller
    if scope.why_left_alone(metadata) or owner is None or not _is_trainjob(owner):
        return ()
    return (Key(TRAINJOBS, owner.name, request.namespace),)


def mutate(request: Request, facts: Facts, policy: Policy) -> Verdict:
    """The JobSet as it is to be stored."""
    if reason := _why_not_ours(request):
        return Verdict(reason)
    jobset = request.new(JobSet)
    if request.operation is Operation.UPDATE:
        return _updated(jobset, request.old(JobSet))
    owner = jobset.metadata.controller
    if owner is None:
        return _created_alone(jobset, policy)
    return _created_by(_live_owner(owner, facts, request.namespace), jobset)


def validate(request: Request, _policy: Policy) -> Verdict:
    """Denied where other webhooks have undone what `mutate` did."""
    if reason := _why_not_ours(request):
        return Verdict(reason)
    parents.check_final(request.new(Head).metadata)
    return Verdict(Reason.UNCHANGED)


def _why_not_ours(request: Request) -> Reason | None:
    metadata = request.new(Head).metadata
    if reason := scope.why_left_alone(metadata):
        return reason
    if request.operation is Operation.UPDATE:
        return None if scope.is_stepped(request.old(Head).metadata) else Reason.NOT_STEPPED
    if metadata.controller is not None and not _is_trainjob(metadata.controller):
        return Reason.OTHER_OWNER
    if metadata.controller is None and not scope.is_queued(metadata):
        return Reason.NOT_QUEUED
    managed_by = request.new(JobSet).spec.managed_by
    if scope.is_managed_elsewhere(managed_by, names.JOBSET_CONTROLLER):
        return Reason.MANAGED_ELSEWHERE
    return None


def _is_trainjob(owner: OwnerReference) -> bool:
    return owner.group == names.TRAINER_GROUP and owner.kind == "TrainJob"


def _created_alone(jobset: JobSet, policy: Policy) -> Verdict:
    labels.check_carried(jobset.metadata)
    queues.check_steps_exist(jobset.metadata, [step.name for step in _steps(jobset.spec)])
    queue = parents.queue_of(jobset.metadata) or ""
    choice = stepping.choose(
        stepping.Parent(jobset.metadata, names.JOBSET_FRAMEWORK, jobset.spec), policy
    )
    if not choice.stepped:
        whole = replace(jobset, metadata=parents.left_whole(jobset.metadata, queue))
        return Verdict(choice.reason, jobset, whole, choice.warnings)
    remembered = parents.remembered(jobset.metadata, jobset.spec.suspend)
    suspend = False if jobset.spec.suspend else jobset.spec.suspend
    submitted = replace(jobset, metadata=remembered, spec=replace(jobset.spec, suspend=suspend))
    return Verdict(
        choice.reason, jobset, _stepped(submitted, jobset.metadata, queue), choice.warnings
    )


def _created_by(parent: Metadata, jobset: JobSet) -> Verdict:
    queue = parent.label(names.STEP_QUEUE)
    if not queue:
        return Verdict(Reason.OWNER_NOT_STEPPED)
    return Verdict(Reason.STEPPED_BY_OWNER, jobset, _stepped(jobset, parent, queue))


def _live_owner(owner: OwnerReference, facts: Facts, namespace: str) -> Metadata:
    """Metadata of the owning TrainJob. Denied where it is not there: Trainer tries again."""
    trainjob = found(facts, Key(TRAINJOBS, owner.name, namespace), Head)
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


def _stepped(jobset: JobSet, parent: Metadata, queue: str) -> JobSet:
    chosen, carried = queues.step_queues(parent), labels.carried(parent)
    steps = [
        _queued(step, queues.queue_of(step, chosen, queue), carried) for step in _steps(jobset.spec)
    ]
    return replace(
        jobset,
        metadata=parents.moved(jobset.metadata, queue),
        spec=replace(jobset.spec, replicated_jobs=steps) if steps else jobset.spec,
    )


def _queued(step: ReplicatedJob, queue: str, carried: Mapping[str, str]) -> ReplicatedJob:
    metadata = step.template.metadata or Metadata()
    own = {key: value for key in carried if (value := metadata.label(key))}
    labelled = metadata.labelled({names.QUEUE: queue, names.STEP_QUEUE: queue, **carried, **own})
    return replace(step, template=replace(step.template, metadata=labelled))


def _updated(new: JobSet, old: JobSet) -> Verdict:
    suspend = new.spec.suspend
    if old.metadata.controller is None:
        replay = parents.is_replay(new.metadata, old.metadata)
        suspend = parents.suspend_after(suspend, old.spec.suspend, replay=replay)
    edited = replace(
        new,
        metadata=parents.kept(new.metadata, old.metadata),
        spec=_completed(replace(new.spec, suspend=suspend), old.spec),
    )
    reason = parents.update_reason(suspend, old.spec.suspend, edited=edited != new)
    return Verdict(reason, new, edited)


def _completed(new: JobSetSpec, old: JobSetSpec) -> JobSetSpec:
    """The spec with what JobSet fills in at CREATE only and then holds immutable.

    JobSet's defaulting webhook is registered for CREATE alone (pkg/webhooks/jobset_webhook.go in
    v0.12.0), so a manifest that is applied again lacks these fields and would be refused.
    """
    stored = {step.name: step for step in _steps(old)}
    steps = [_step_completed(step, stored.get(step.name)) for step in _steps(new)]
    return replace(
        new,
        replicated_jobs=steps or new.replicated_jobs,
        startup_policy=new.startup_policy or old.startup_policy,
        success_policy=new.success_policy or old.success_policy,
        failure_policy=_rules_named(new.failure_policy, old.failure_policy),
        network=_filled(
            new.network, old.network, ("enableDNSHostnames", "publishNotReadyAddresses")
        ),
        volume_claim_policies=_each_filled(
            new.volume_claim_policies, old.volume_claim_policies, "retentionPolicy"
        ),
    )


def _step_completed(new: ReplicatedJob, old: ReplicatedJob | None) -> ReplicatedJob:
    if old is None:
        return new
    spec, stored = new.template.spec, old.template.spec
    pods = spec.template.spec
    restart_policy = pods.restart_policy or stored.template.spec.restart_policy
    return replace(
        new,
        template=replace(
            new.template,
            metadata=_relabelled(new.template.metadata, old.template.metadata),
            spec=replace(
                spec,
                completion_mode=spec.completion_mode or stored.completion_mode,
                template=replace(spec.template, spec=replace(pods, restart_policy=restart_policy)),
            ),
        ),
    )


def _relabelled(new: Any, old: Any) -> Any:
    lost = {
        key: value
        for key in CARRIED
        if old and (value := old.label(key)) and not (new and new.label(key))
    }
    return (new or Metadata()).labelled(lost) if lost else new


def _rules_named(new: Any, old: Any) -> Any:
    if not (isinstance(new, dict) and isinstance(old, dict) and new.get("rules")):
        return new
    return {**new, "rules": _each_filled(new["rules"], old.get("rules"), "name")}


def _each_filled(new: Any, old: Any, key: str) -> Any:
    if not (isinstance(new, list) and isinstance(old, list) and len(new) == len(old)):
        return new
    return [_filled(one, other, (key,)) for one, other in zip(new, old, strict=True)]


def _filled(new: Any, old: Any, keys: tuple[str, ...]) -> Any:
    if not isinstance(old, dict):
        return new
    if not new:
        return old
    lacking = {key: old[key] for key in keys if not new.get(key) and key in old}
    return {**new, **lacking}


def _steps(spec: JobSetSpec) -> list[ReplicatedJob]:
    return spec.replicated_jobs or []
