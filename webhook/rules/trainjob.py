"""TrainJob: its queue moves to our label, so that Kueue admits the Jobs below it, not the whole.

Trainer does not copy a TrainJob's labels to its JobSet; the JobSet's own review (jobset.py)
carries the queue on. Nothing below spec but `suspend` is touched: Trainer refuses changes of
runtimePatches while a TrainJob runs.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from webhook.rules import labels, lengths, names, parents, queues, scope, stepping
from webhook.rules.facts import Facts, Key, found, trainer_key
from webhook.rules.objects import (
    Head,
    ReplicatedJob,
    Runtime,
    RuntimeRef,
    TrainJob,
)
from webhook.rules.policy import Policy
from webhook.rules.reasons import Reason
from webhook.rules.review import Operation, Request
from webhook.rules.runtime_patches import Patched, laid_over
from webhook.rules.submission import Submission
from webhook.rules.verdict import Verdict

RUNTIME_PLURALS = {
    "ClusterTrainingRuntime": "clustertrainingruntimes",
    "TrainingRuntime": "trainingruntimes",
}
RUNTIME_PLACE = "spec.runtimeRef: with spec.runtimePatches, the runtime's spec.template.spec"
DEADLINE_WARNING = (
    "spec.activeDeadlineSeconds also counts the time that the steps wait in the queue"
)


def needs(request: Request, facts: Facts, policy: Policy) -> tuple[Key, ...]:
    """The runtime of a TrainJob that is created with a queue, and where its queues lead."""
    if request.once(_why_not_ours):
        return ()
    trainjob = request.new(TrainJob)
    key = _runtime_key(trainjob, request.namespace)
    runtime = (key,) if key else ()
    if request.operation is Operation.UPDATE:
        old = request.old(Head).metadata
        return runtime if parents.changed_annotations(trainjob.metadata, old) else ()
    return (*runtime, *_submission(request, facts).needs(facts, policy))


def mutate(request: Request, facts: Facts, policy: Policy) -> Verdict:
    """The TrainJob as it is to be stored."""
    if reason := request.once(_why_not_ours):
        return parents.left_alone(request, reason)
    if request.operation is Operation.CREATE:
        return _created(request, facts, policy)
    new, old = request.new(TrainJob), request.old(TrainJob)
    changed = parents.changed_annotations(new.metadata, old.metadata)
    steps = _submission(request, facts).steps if changed else ()
    return _updated(new, old, steps)


def validate(request: Request, _policy: Policy) -> Verdict:
    """Denied where other webhooks have undone what `mutate` did."""
    return parents.validated(request, request.once(_why_not_ours))


def _why_not_ours(request: Request) -> Reason | None:
    if request.operation is Operation.UPDATE:
        return scope.why_update_left_alone(request)
    metadata = request.metadata(TrainJob)
    if reason := scope.why_create_left_alone(metadata):
        return reason
    if metadata.controller is not None:
        return Reason.OTHER_OWNER
    if not scope.is_queued(metadata):
        return Reason.NOT_QUEUED
    managed_by = request.new(TrainJob).training.managed_by
    if scope.is_managed_elsewhere(managed_by, names.TRAINJOB_CONTROLLER):
        return Reason.MANAGED_ELSEWHERE
    return None


def _created(request: Request, facts: Facts, policy: Policy) -> Verdict:
    trainjob = request.new(TrainJob)
    submission = _submission(request, facts)
    labels.check_carried(trainjob.metadata)
    queues.step_queues(trainjob.metadata, submission.steps)
    choice = stepping.choose(submission.parent(names.TRAINJOB_FRAMEWORK, facts, policy), policy)
    too_long = lengths.warnings(
        trainjob.metadata, submission.steps, _nodes(trainjob, submission.steps)
    )
    missing = submission.warnings(facts, policy, is_stepped=choice.stepped)
    if not choice.stepped:
        whole = replace(trainjob, metadata=parents.left_whole(trainjob.metadata, submission.queue))
        return Verdict(choice.reason, trainjob, whole, (*choice.warnings, *too_long, *missing))
    queues.check_own(submission.steps, RUNTIME_PLACE)
    return Verdict(
        choice.reason,
        trainjob,
        _stepped(trainjob, submission.queue),
        (*choice.warnings, *too_long, *_deadline_warning(trainjob), *missing),
    )


def _deadline_warning(trainjob: TrainJob) -> tuple[str, ...]:
    return (DEADLINE_WARNING,) if trainjob.training.active_deadline_seconds else ()


def _nodes(trainjob: TrainJob, steps: Sequence[ReplicatedJob]) -> dict[str, int]:
    """How many Pods the TrainJob asks for in the step that trains, whatever its runtime says."""
    count = trainjob.training.trainer and trainjob.training.trainer.num_nodes
    trains = [step.name for step in steps if step.metadata.label(names.TRAINJOB_STEP) == "trainer"]
    return dict.fromkeys(trains, count) if count else {}


def _stepped(trainjob: TrainJob, queue: str) -> TrainJob:
    spec = trainjob.spec
    remembered = parents.remembered(trainjob.metadata, trainjob.training.suspend)
    return replace(
        trainjob,
        metadata=parents.moved(remembered, queue),
        spec=replace(spec, suspend=False) if spec and spec.suspend else spec,
    )


def _updated(new: TrainJob, old: TrainJob, steps: Sequence[ReplicatedJob]) -> Verdict:
    replay = parents.is_replay(new.metadata, old.metadata)
    stored = old.training.suspend
    suspend = parents.suspend_after(new.training.suspend, stored, replay=replay)
    edited = replace(
        new,
        metadata=parents.kept(new.metadata, old.metadata),
        spec=replace(new.spec, suspend=suspend) if new.spec else new.spec,
    )
    return Verdict(
        parents.update_reason(suspend, stored, edited=edited != new),
        new,
        edited,
        parents.fixed_warnings(new.metadata, old.metadata, steps),
    )


def _submission(request: Request, facts: Facts) -> Submission:
    trainjob = request.new(TrainJob)
    runtime = found(facts, _runtime_key(trainjob, request.namespace), Runtime)
    spec = (runtime and runtime.spec.template.spec) or None
    if spec and trainjob.training.runtime_patches:
        spec = laid_over(spec, request.new(Patched).patches)
    return Submission(trainjob.metadata, spec, request.namespace)


def _runtime_key(trainjob: TrainJob, namespace: str) -> Key | None:
    ref = trainjob.training.runtime_ref or RuntimeRef()
    plural = RUNTIME_PLURALS.get(ref.kind or "ClusterTrainingRuntime")
    group = ref.api_group or names.TRAINER_GROUP
    if plural is None or not ref.name or group != names.TRAINER_GROUP:
        return None
    return trainer_key(plural, ref.name, namespace if plural == "trainingruntimes" else "")
