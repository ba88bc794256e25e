"""Kubernetes objects as the rules see them: only the fields that a rule reads or may change.

Everything else in an object is skipped while decoding and never touched by a patch, so fields of
newer API versions survive. A field that is absent is `UNSET`, one that is null is `None`; both are
false in a condition. Values are frozen: an edit makes a new value that shares what did not change.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

Labels: TypeAlias = dict[str, str] | UnsetType | None
Flag: TypeAlias = bool | UnsetType | None
Text: TypeAlias = str | UnsetType | None
Items: TypeAlias = list[dict[str, Any]] | UnsetType | None


class View(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A part of an object. Unknown fields are skipped."""


class OwnerReference(View, frozen=True):
    """One entry of metadata.ownerReferences."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None

    @property
    def group(self) -> str:
        """API group without the version, empty for the core group."""
        return self.api_version.rpartition("/")[0]

    def is_a(self, kind: str, group: str) -> bool:
        """Whether the owner is of this kind."""
        return (self.kind, self.group) == (kind, group)


class Metadata(View, frozen=True):
    """ObjectMeta, of an object or of a template."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: Labels = UNSET
    annotations: Labels = UNSET
    owner_references: list[OwnerReference] | UnsetType | None = UNSET
    deletion_timestamp: Text = UNSET

    def label(self, key: str) -> str | None:
        """Value of a label, None where it is missing (an empty value is a value)."""
        return self.labels.get(key) if self.labels else None

    def annotation(self, key: str) -> str | None:
        """Value of an annotation, None where it is missing."""
        return self.annotations.get(key) if self.annotations else None

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that controls this object, if one does."""
        return next((owner for owner in self.owner_references or () if owner.controller), None)

    def labelled(self, changes: Mapping[str, str | None]) -> "Metadata":
        """The same metadata with these labels set, or taken off where the value is None."""
        return msgspec.structs.replace(self, labels=_changed(self.labels, changes))

    def annotated(self, changes: Mapping[str, str | None]) -> "Metadata":
        """The same metadata with these annotations set, or taken off where the value is None."""
        return msgspec.structs.replace(self, annotations=_changed(self.annotations, changes))


class Head(View, frozen=True):
    """The part that every kind has: enough to see whether an object concerns us."""

    metadata: Metadata = Metadata()


class RuntimeRef(View, frozen=True):
    """TrainJob spec.runtimeRef; the defaults are those of Trainer's CRD."""

    name: str = ""
    api_group: Text = UNSET
    kind: Text = UNSET


class Trainer(View, frozen=True):
    """TrainJob spec.trainer."""

    num_nodes: int | None = None


class TrainJobSpec(View, frozen=True):
    """TrainJob spec. That there are runtime patches is seen here, what they say through Patched."""

    suspend: Flag = UNSET
    managed_by: Text = UNSET
    runtime_ref: RuntimeRef | UnsetType | None = UNSET
    active_deadline_seconds: int | None = None
    trainer: Trainer | None = None
    runtime_patches: msgspec.Raw | UnsetType = UNSET


class TrainJob(View, frozen=True):
    """trainer.kubeflow.org/v1alpha1 TrainJob."""

    metadata: Metadata = Metadata()
    spec: TrainJobSpec | UnsetType | None = UNSET

    @property
    def training(self) -> TrainJobSpec:
        """The spec, an empty one where it is missing."""
        return self.spec or TrainJobSpec()


class PodSpec(View, frozen=True):
    """The few fields of a pod template's spec that JobSet and Kueue rewrite."""

    restart_policy: Text = UNSET
    node_selector: Labels = UNSET
    tolerations: Items = UNSET
    scheduling_gates: Items = UNSET


class PodTemplate(View, frozen=True):
    """PodTemplateSpec."""

    metadata: Metadata | UnsetType | None = UNSET
    spec: PodSpec | UnsetType | None = UNSET

    @property
    def pods(self) -> PodSpec:
        """The spec, an empty one where it is missing."""
        return self.spec or PodSpec()


class JobSpec(View, frozen=True):
    """batch/v1 JobSpec, in a Job or in a replicatedJob's template."""

    suspend: Flag = UNSET
    completion_mode: Text = UNSET
    completions: int | UnsetType | None = UNSET
    parallelism: int | UnsetType | None = UNSET
    template: PodTemplate | UnsetType | None = UNSET

    @property
    def pod_template(self) -> PodTemplate:
        """The pod template, an empty one where it is missing."""
        return self.template or PodTemplate()


class JobTemplate(View, frozen=True):
    """JobTemplateSpec of a replicatedJob."""

    metadata: Metadata | UnsetType | None = UNSET
    spec: JobSpec | UnsetType | None = UNSET


class DependsOn(View, frozen=True):
    """One edge of a replicatedJob's dependsOn: `status` is Complete or Ready."""

    name: str
    status: str = ""


class ReplicatedJob(View, frozen=True):
    """One step of a JobSet."""

    name: str = ""
    replicas: int | None = 1
    depends_on: list[DependsOn] | None = None
    template: JobTemplate | UnsetType | None = UNSET

    @property
    def metadata(self) -> Metadata:
        """Metadata of the Job template, empty where it is missing."""
        return (self.template and self.template.metadata) or Metadata()

    @property
    def job(self) -> JobSpec:
        """Spec of the Job template, empty where it is missing."""
        return (self.template and self.template.spec) or JobSpec()


class JobSetSpec(View, frozen=True):
    """JobSet spec. Fields typed `Any` are only ever carried over whole."""

    replicated_jobs: list[ReplicatedJob] | UnsetType | None = UNSET
    suspend: Flag = UNSET
    managed_by: Text = UNSET
    startup_policy: Any = UNSET
    success_policy: Any = UNSET
    failure_policy: Any = UNSET
    network: Any = UNSET
    volume_claim_policies: Items = UNSET


class JobSet(View, frozen=True):
    """jobset.x-k8s.io/v1alpha2 JobSet."""

    metadata: Metadata = Metadata()
    spec: JobSetSpec | UnsetType | None = UNSET

    @property
    def steps(self) -> list[ReplicatedJob]:
        """Its steps, in order."""
        return steps_of(self.spec)


class Condition(View, frozen=True):
    """One condition of a status."""

    type: str = ""
    status: str = ""


class JobStatus(View, frozen=True):
    """Job status."""

    conditions: list[Condition] | None = None


class Job(View, frozen=True):
    """batch/v1 Job."""

    metadata: Metadata = Metadata()
    spec: JobSpec | UnsetType | None = UNSET
    status: JobStatus | UnsetType | None = UNSET

    @property
    def job(self) -> JobSpec:
        """The spec, an empty one where it is missing."""
        return self.spec or JobSpec()

    @property
    def is_finished(self) -> bool:
        """Whether the Job is Complete or Failed."""
        return any(
            c.type in {"Complete", "Failed"} and c.status == "True"
            for c in (self.status and self.status.conditions) or ()
        )


class JobSetTemplate(View, frozen=True):
    """spec.template of a training runtime."""

    spec: JobSetSpec | UnsetType | None = UNSET


class RuntimeSpec(View, frozen=True):
    """Spec of a training runtime."""

    template: JobSetTemplate = JobSetTemplate()


class Runtime(View, frozen=True):
    """trainer.kubeflow.org TrainingRuntime or ClusterTrainingRuntime."""

    spec: RuntimeSpec = RuntimeSpec()


def steps_of(spec: JobSetSpec | UnsetType | None) -> list[ReplicatedJob]:
    """The steps of a JobSet's spec, none where there is no spec."""
    return (spec and spec.replicated_jobs) or []


def _changed(labels: Labels, changes: Mapping[str, str | None]) -> Labels:
    current = labels or {}
    wanted = {key: value for key, value in current.items() if changes.get(key, value) is not None}
    wanted |= {key: value for key, value in changes.items() if value is not None}
    return labels if wanted == current else wanted
