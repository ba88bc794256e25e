"""What an update of a stepped JobSet takes over from the stored one.

JobSet fills fields in at CREATE only and then holds them immutable (its defaulting webhook is
registered for CREATE alone: pkg/webhooks/jobset_webhook.go in v0.12.0), and our labels on the step
templates are as immutable as the rest. A manifest that is applied again lacks both and would be
refused. What an update states itself is left for JobSet to judge.
"""

from typing import Any, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from webhook.rules import names
from webhook.rules.objects import JobSetSpec, Metadata, PodTemplate, ReplicatedJob, steps_of

T = TypeVar("T")

CARRIED = (names.QUEUE, names.STEP_QUEUE, names.PRIORITY_CLASS, names.MAX_EXEC_TIME)
NETWORK_DEFAULTS = ("enableDNSHostnames", "publishNotReadyAddresses")


def completed(new: JobSetSpec, old: JobSetSpec) -> JobSetSpec:
    """The spec of an update, with what it lacks taken from the stored spec."""
    stored = {step.name: step for step in steps_of(old)}
    steps = [_step(step, stored.get(step.name)) for step in steps_of(new)]
    return replace(
        new,
        replicated_jobs=steps or new.replicated_jobs,
        startup_policy=_given(new.startup_policy, old.startup_policy),
        success_policy=_given(new.success_policy, old.success_policy),
        failure_policy=_rules_named(new.failure_policy, old.failure_policy),
        network=_filled(_given(new.network, old.network), old.network, NETWORK_DEFAULTS),
        volume_claim_policies=_each_filled(
            new.volume_claim_policies, old.volume_claim_policies, "retentionPolicy"
        ),
    )


def _step(new: ReplicatedJob, old: ReplicatedJob | None) -> ReplicatedJob:
    if old is None or not new.template:
        return new
    spec = new.template.spec
    if spec:
        mode = _given(spec.completion_mode, old.job.completion_mode)
        template = _restarting(spec.template, old.job.pod_template)
        spec = replace(spec, completion_mode=mode, template=template)
    metadata = _relabelled(new.template.metadata, old.metadata)
    return replace(new, template=replace(new.template, metadata=metadata, spec=spec))


def _restarting(new: Any, old: PodTemplate) -> Any:
    if not (new and new.spec):
        return new
    policy = _given(new.spec.restart_policy, old.pods.restart_policy)
    return replace(new, spec=replace(new.spec, restart_policy=policy))


def _relabelled(new: Any, old: Metadata) -> Any:
    """Our labels and those that we carry, exactly as stored."""
    current = new or Metadata()
    as_stored = current.labelled({key: old.label(key) for key in CARRIED})
    return new if as_stored == current else as_stored


def _given(new: T, old: T) -> T:
    """What the update states, else what is stored."""
    return old if old and _is_absent(new) else new


def _rules_named(new: Any, old: Any) -> Any:
    if not (isinstance(new, dict) and isinstance(old, dict) and new.get("rules")):
        return new
    return {**new, "rules": _each_filled(new["rules"], old.get("rules"), "name")}


def _each_filled(new: Any, old: Any, key: str) -> Any:
    if not (isinstance(new, list) and isinstance(old, list) and len(new) == len(old)):
        return new
    return [_filled(one, other, (key,)) for one, other in zip(new, old, strict=True)]


def _filled(new: Any, old: Any, keys: tuple[str, ...]) -> Any:
    if not (isinstance(new, dict) and isinstance(old, dict)):
        return new
    lacking = {key: old[key] for key in keys if old.get(key) and _is_absent(new.get(key))}
    return {**new, **lacking}


def _is_absent(value: Any) -> bool:
    return value is UNSET or value is None or value == ""
