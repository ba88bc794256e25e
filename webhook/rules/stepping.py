"""Step or whole: one pure function of a parent's steps, its annotations and the policy.

Stepping pays where one step completes before the next begins. It is harmful where steps need each
other at the same time: a gang admitted in parts can wait for itself for ever. So a parent is
stepped only where no two of its Jobs can run side by side, Trainer's initializers excepted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from webhook.rules import names
from webhook.rules.labels import mode_of
from webhook.rules.objects import JobSetSpec, Metadata, ReplicatedJob, steps_of
from webhook.rules.policy import Kueue, Mode, Policy
from webhook.rules.reasons import Reason
from webhook.rules.scope import is_stepped


@dataclass(frozen=True, slots=True)
class Choice:
    """Whether a parent is stepped, why, and what its user should know."""

    stepped: bool
    reason: Reason
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parent:
    """A parent as this decision sees it.

    `framework` is the Kueue integration that would admit it whole. `spec` is its JobSet's spec,
    or None where the runtime that holds it could not be read. `multikueue` is whether one of its
    queues leads to other clusters, None where that could not be learnt.
    """

    metadata: Metadata
    framework: str
    spec: JobSetSpec | None
    kueue: Kueue
    multikueue: bool | None


GANG_WARNINGS: Mapping[Reason, str] = {
    Reason.WHOLE_READY_DEPENDENCY: "a step waits for another to be Ready",
    Reason.WHOLE_IN_ORDER: "startupPolicy is InOrder",
    Reason.WHOLE_SEVERAL_REPLICAS: "a step has several replicas",
    Reason.WHOLE_CONCURRENT_STEPS: "steps run side by side",
    Reason.WHOLE_PODSET_GROUP: "steps share a podset group",
    Reason.WHOLE_MULTIKUEUE: "its queue leads to other clusters",
    Reason.WHOLE_RUNTIME_UNREADABLE: "its runtime could not be read",
    Reason.WHOLE_QUEUE_UNREADABLE: "its queue could not be read",
}


GANGS: frozenset[Reason] = frozenset(
    {
        Reason.WHOLE_READY_DEPENDENCY,
        Reason.WHOLE_IN_ORDER,
        Reason.WHOLE_SEVERAL_REPLICAS,
        Reason.WHOLE_CONCURRENT_STEPS,
        Reason.WHOLE_PODSET_GROUP,
    }
)


def choose(parent: Parent, policy: Policy) -> Choice:
    """Step or whole for a queued parent; Denied where its mode annotation is unknown."""
    mode, warnings = _mode(parent.metadata, policy)
    if not parent.kueue.admits_steps:
        impossible = "Kueue's configuration leaves no way to admit steps here: left as submitted"
        return Choice(False, Reason.WHOLE_STEPPING_IMPOSSIBLE, (*warnings, impossible))
    if mode is Mode.STEP:
        gang = _gang_stepped(why_whole(parent))
        return Choice(True, Reason.STEPPED_ON_REQUEST, (*warnings, *gang))
    shape = why_whole(parent)
    if _is_on_record(parent.metadata, policy):
        return Choice(True, Reason.STEPPED, (*warnings, *_gang_stepped(shape)))
    reason = Reason.WHOLE_ON_REQUEST if mode is Mode.WHOLE else shape
    if reason is None:
        return Choice(True, Reason.STEPPED, warnings)
    if not parent.kueue.admits(parent.framework):
        only = (
            f"Kueue's {parent.framework} integration is off: admitted step by step instead of whole"
        )
        return Choice(True, Reason.STEPPED_ONLY_CHOICE, (*warnings, only, *_gang_stepped(shape)))
    return Choice(False, reason, (*warnings, *_gang_warning(reason, policy)))


def why_whole(parent: Parent) -> Reason | None:
    """The reason to leave a parent's steps whole, None where stepping pays and is safe."""
    spec, steps = parent.spec, steps_of(parent.spec)
    if spec is None:
        return Reason.WHOLE_RUNTIME_UNREADABLE
    if parent.multikueue is None:
        return Reason.WHOLE_QUEUE_UNREADABLE
    if parent.multikueue:
        return Reason.WHOLE_MULTIKUEUE
    edges = [edge for step in steps for edge in step.depends_on or ()]
    if any(edge.status != "Complete" for edge in edges):
        return Reason.WHOLE_READY_DEPENDENCY
    if _is_in_order(spec):
        return Reason.WHOLE_IN_ORDER
    if any(_has_podset_group(step) for step in steps):
        return Reason.WHOLE_PODSET_GROUP
    if any(_has_several_jobs(step, parent.framework) for step in steps):
        return Reason.WHOLE_SEVERAL_REPLICAS
    if len(steps) <= 1:
        return Reason.WHOLE_SINGLE_STEP
    if not edges or not is_chain(steps):
        return Reason.WHOLE_CONCURRENT_STEPS
    return None


def is_chain(steps: Sequence[ReplicatedJob]) -> bool:
    """Whether each step is complete before the next begins, initializers left out of account.

    One pass: `behind[step]` counts the steps of the chain so far that are complete before it.
    JobSet allows only edges to earlier steps.
    """
    length, behind = 0, dict[str, int]()
    for step in steps:
        complete = max((behind.get(edge.name, 0) for edge in step.depends_on or ()), default=0)
        if is_initializer(step):
            behind[step.name] = complete
            continue
        if complete < length:
            return False
        length += 1
        behind[step.name] = length
    return True


def is_initializer(step: ReplicatedJob) -> bool:
    """Whether Trainer knows this step as a dataset or model initializer."""
    return step.metadata.label(names.TRAINJOB_STEP) in names.INITIALIZERS


def _mode(metadata: Metadata, policy: Policy) -> tuple[Mode, tuple[str, ...]]:
    mode = mode_of(metadata)
    if mode is None:
        return policy.default_mode, ()
    if not policy.allow_mode_override:
        ignored = f"{names.MODE} is ignored: the administrator fixed it to {policy.default_mode}"
        return policy.default_mode, (ignored,)
    return mode, ()


def _is_on_record(metadata: Metadata, policy: Policy) -> bool:
    """Whether it was stepped before; a new default of the administrator's does not undo that.

    Called again in one create, a restored copy, or a TrainJob whose JobSet is created.
    """
    is_free = policy.allow_mode_override and mode_of(metadata) is not Mode.WHOLE
    return is_free and is_stepped(metadata)


def _gang_warning(reason: Reason, policy: Policy) -> tuple[str, ...]:
    if (why := GANG_WARNINGS.get(reason)) is None:
        return ()
    is_ones_own_choice = reason in GANGS and policy.allow_mode_override
    change = f"; annotation {names.MODE}: step would change that" if is_ones_own_choice else ""
    return (f"admitted whole, since {why}{change}",)


def _gang_stepped(reason: Reason | None) -> tuple[str, ...]:
    if reason not in GANGS:
        return ()
    return (f"{GANG_WARNINGS[reason]}: admitted apart, they can wait for each other for ever",)


def _is_in_order(spec: JobSetSpec) -> bool:
    policy = spec.startup_policy
    return isinstance(policy, dict) and policy.get("startupPolicyOrder") == "InOrder"


def _has_several_jobs(step: ReplicatedJob, framework: str) -> bool:
    # Trainer sets one replica on the steps that it knows (jobset/builder.go in v2.3.0).
    is_trainers = framework == names.TRAINJOB_FRAMEWORK and step.metadata.label(names.TRAINJOB_STEP)
    return not is_trainers and (step.replicas or 1) > 1


def _has_podset_group(step: ReplicatedJob) -> bool:
    pods = step.job.pod_template.metadata
    return bool(pods and pods.annotation(names.PODSET_GROUP))
