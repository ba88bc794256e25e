"""What a TrainJob's spec.runtimePatches change about the steps of its runtime.

Trainer lays them over the runtime when it makes the JobSet (api trainjob_types.go in v2.3.0). Only
labels and annotations of steps and their Pods are looked at: nothing else of them decides anything.
"""

from collections.abc import Iterable, Sequence
from functools import reduce

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from webhook.rules.objects import (
    JobSetSpec,
    JobSpec,
    JobTemplate,
    Labels,
    Metadata,
    PodTemplate,
    ReplicatedJob,
    View,
    steps_of,
)


class _StepPatch(View, frozen=True):
    """One entry of a patch's replicatedJobs."""

    name: str = ""
    template: JobTemplate | UnsetType | None = UNSET


class _StepPatches(View, frozen=True):
    replicated_jobs: list[_StepPatch] | UnsetType | None = UNSET


class _Template(View, frozen=True):
    spec: _StepPatches | UnsetType | None = UNSET


class _RuntimeSpec(View, frozen=True):
    template: _Template | UnsetType | None = UNSET


class RuntimePatch(View, frozen=True):
    """One entry of spec.runtimePatches."""

    training_runtime_spec: _RuntimeSpec | UnsetType | None = UNSET

    @property
    def steps(self) -> Sequence[_StepPatch]:
        """What it says of steps."""
        template = (self.training_runtime_spec and self.training_runtime_spec.template) or None
        return (template and template.spec and template.spec.replicated_jobs) or ()


class _Spec(View, frozen=True):
    runtime_patches: list[RuntimePatch] | UnsetType | None = UNSET


class Patched(View, frozen=True):
    """A TrainJob, of which only its patches are seen."""

    spec: _Spec | UnsetType | None = UNSET

    @property
    def patches(self) -> Sequence[RuntimePatch]:
        """In the order in which they are laid over each other."""
        return (self.spec and self.spec.runtime_patches) or ()


def laid_over(spec: JobSetSpec, patches: Iterable[RuntimePatch]) -> JobSetSpec:
    """The runtime's JobSet as Trainer makes it, as far as labels and annotations go."""
    changes: dict[str, list[JobTemplate]] = {}
    for step in (step for patch in patches for step in patch.steps):
        if step.template:
            changes.setdefault(step.name, []).append(step.template)
    if not changes:
        return spec
    steps = [reduce(_changed, changes.get(step.name, ()), step) for step in steps_of(spec)]
    return replace(spec, replicated_jobs=steps)


def _changed(step: ReplicatedJob, patch: JobTemplate) -> ReplicatedJob:
    of_pods = (patch.spec and patch.spec.template) or PodTemplate()
    pods = step.job.pod_template
    job = replace(step.job, template=replace(pods, metadata=_merged(pods.metadata, of_pods)))
    template = step.template or JobTemplate(spec=JobSpec())
    return replace(
        step, template=replace(template, metadata=_merged(step.metadata, patch), spec=job)
    )


def _merged(metadata: Metadata | UnsetType | None, by: JobTemplate | PodTemplate) -> Metadata:
    there, more = metadata or Metadata(), by.metadata or Metadata()
    return replace(
        there,
        labels=_together(there.labels, more.labels),
        annotations=_together(there.annotations, more.annotations),
    )


def _together(there: Labels, more: Labels) -> Labels:
    return {**(there or {}), **more} if more else there
