"""Step or whole: one pure function of a parent's steps, its annotations and the policy.

Stepping pays where one step completes before the next begins. It is harmful where steps need each
other at the same time: a gang admitted in parts can wait for itself for ever. So a parent is
stepped only where no two of its Jobs can run side by side, Trainer's initializers excepted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from webhook.rules import names
from webhook.rules.errors import Denied
from webhook.rules.labels import annotation_path
from webhook.rules.objects import JobSetSpec, Metadata, ReplicatedJob
from webhook.rules.policy import Mode, Policy
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
    or None where the runtime that holds it could not be read.
    """

    metadata: Metadata
    framework: str
    spec: JobSetSpec | None


GANG_WARNINGS: Mapping[Reason, str] = {
    Reason.WHOLE_READY_DEPENDENCY: "a step waits for another to be Ready",
    Reason.WHOLE_IN_ORDER: "startupPolicy is InOrder",
    Reason.WHOLE_SEVERAL_REPLICAS: "a step has several replicas",
    Reason.WHOLE_CONCURRENT_STEPS: "steps run side by side",
    Reason.WHOLE_PODSET_GROUP: "steps share a podset group",
    Reason.WHOLE_RUNTIME_UNREADABLE: "its runtime could not be read",
}


def choose(parent: Parent, policy: Policy) -> Choice:
    """Step or whole for a queued parent; Denied where its mode annotation is unknown."""
    mode, warnings = _mode(parent.metadata, policy)
    if not policy.kueue.admits_steps:
        return Choice(False, Reason.WHOLE_STEPPING_IMPOSSIBLE, warnings)
    if mode is Mode.STEP:
        return Choice(True, Reason.STEPPED_ON_REQUEST, warnings)
    if mode is Mode.AUTO and policy.allow_mode_override and is_stepped(parent.metadata):
        # Called again in one create, or a restored copy: the record stands.
        return Choice(True, Reason.STEPPED, warnings)
    if mode is Mode.WHOLE:
        reason: Reason | None = Reason.WHOLE_ON_REQUEST
    else:
        reason = why_whole(parent.spec)
    if reason is None:
        return Choice(True, Reason.STEPPED, warnings)
    if not policy.kueue.admits(parent.framework):
        only = (
            f"Kueue's {parent.framework} integration is off: admitted step by step instead of whole"
        )
        return Choice(True, Reason.STEPPED_ONLY_CHOICE, (*warnings, only))
    return Choice(False, reason, (*warnings, *_gang_warning(reason)))


def why_whole(spec: JobSetSpec | None) -> Reason | None:
    """The reason to leave these steps whole, None where stepping pays and is safe."""
    if spec is None:
        return Reason.WHOLE_RUNTIME_UNREADABLE
    steps = spec.replicated_jobs or []
    edges = [edge for step in steps for edge in step.depends_on or ()]
    if any(edge.status != "Complete" for edge in edges):
        return Reason.WHOLE_READY_DEPENDENCY
    if spec.startup_policy and spec.startup_policy.startup_policy_order == "InOrder":
        return Reason.WHOLE_IN_ORDER
    if any(_has_podset_group(step) for step in steps):
        return Reason.WHOLE_PODSET_GROUP
    if any(_replicas(step) > 1 for step in steps):
        return Reason.WHOLE_SEVERAL_REPLICAS
    if len(steps) <= 1:
        return Reason.WHOLE_SINGLE_STEP
    if not edges or _side_by_side([step for step in steps if not is_initializer(step)], steps):
        return Reason.WHOLE_CONCURRENT_STEPS
    return None


def is_initializer(step: ReplicatedJob) -> bool:
    """Whether Trainer knows this step as a dataset or model initializer."""
    metadata = step.template.metadata
    return bool(metadata and metadata.label(names.TRAINJOB_STEP) in names.INITIALIZERS)


def _mode(metadata: Metadata, policy: Policy) -> tuple[Mode, tuple[str, ...]]:
    text = metadata.annotation(names.MODE)
    if text is None:
        return policy.default_mode, ()
    if text not in set(Mode):
        known = ", ".join(Mode)
        raise Denied(annotation_path(names.MODE), text, f"must be one of {known}")
    if not policy.allow_mode_override:
        ignored = f"{names.MODE} is ignored: the administrator fixed it to {policy.default_mode}"
        return policy.default_mode, (ignored,)
    return Mode(text), ()


def _gang_warning(reason: Reason) -> tuple[str, ...]:
    if (why := GANG_WARNINGS.get(reason)) is None:
        return ()
    return (f"admitted whole, since {why}; annotation {names.MODE}: step would change that",)


def _replicas(step: ReplicatedJob) -> int:
    # Trainer sets one replica on the steps that it knows (jobset/builder.go in v2.3.0).
    metadata = step.template.metadata
    known = metadata and metadata.label(names.TRAINJOB_STEP)
    return 1 if known or step.replicas is None else step.replicas


def _has_podset_group(step: ReplicatedJob) -> bool:
    pods = step.template.spec.template.metadata
    return bool(pods and pods.annotation(names.PODSET_GROUP))


def _side_by_side(chosen: Sequence[ReplicatedJob], steps: Sequence[ReplicatedJob]) -> bool:
    before = _predecessors(steps)
    return any(
        one.name not in before[other.name] and other.name not in before[one.name]
        for one, other in combinations(chosen, 2)
    )


def _predecessors(steps: Sequence[ReplicatedJob]) -> dict[str, set[str]]:
    """Every step that is complete before a step begins; edges go to earlier steps only."""
    before: dict[str, set[str]] = {}
    for step in steps:
        direct = {edge.name for edge in step.depends_on or ()}
        before[step.name] = direct.union(*(before.get(name, set()) for name in direct))
    return before
