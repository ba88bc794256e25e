"""The objects of a cluster as far as they tell where a step is."""

from datetime import datetime
from typing import Final

import msgspec

from webhook.demand import pods
from webhook.rules import names, objects
from webhook.rules.objects import View

RECORD: Final = "kueue-steps.io/"
"""What our own labels and annotations begin with."""


class Metadata(objects.Metadata, frozen=True):
    """ObjectMeta."""

    creation_timestamp: datetime | None = None

    @property
    def queue(self) -> str | None:
        """The LocalQueue that it asks for, in our words or in Kueue's."""
        return self.label(names.STEP_QUEUE) or self.label(names.QUEUE)

    @property
    def record(self) -> dict[str, str]:
        """What kueue-steps has written on it, or its user for kueue-steps."""
        marks = {**(self.annotations or {}), **(self.labels or {})}
        return {key: marks[key] for key in sorted(marks) if key.startswith(RECORD)}


class Condition(View, frozen=True):
    """A condition of a status."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: datetime | None = None

    @property
    def is_true(self) -> bool:
        """Whether it holds."""
        return self.status == "True"


class Status(View, frozen=True):
    """A status with conditions."""

    conditions: list[Condition] | None = None

    def condition(self, kind: str) -> Condition | None:
        """The condition of a type, True or not."""
        return next((one for one in self.conditions or () if one.type == kind), None)

    def held(self, *kinds: str) -> Condition | None:
        """The first condition of these types that is True."""
        return next(
            (one for one in self.conditions or () if one.type in kinds and one.is_true), None
        )


class ParentSpec(View, frozen=True):
    """Spec of a TrainJob, or of a JobSet with its steps."""

    suspend: bool | None = None
    replicated_jobs: list[pods.Step] | None = None


class ParentObject(View, frozen=True):
    """A TrainJob or a JobSet."""

    metadata: Metadata
    spec: ParentSpec = ParentSpec()
    status: Status = Status()

    @property
    def is_suspended(self) -> bool:
        """Whether it is kept from running."""
        return bool(self.spec.suspend)


class JobSpec(pods.JobSpec, frozen=True):
    """Job spec."""

    suspend: bool | None = None


class JobStatus(Status, frozen=True):
    """Job status."""

    ready: int | None = None
    succeeded: int | None = None
    start_time: datetime | None = None
    completion_time: datetime | None = None


class Job(View, frozen=True):
    """A Job of a JobSet."""

    metadata: Metadata
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


class PodSetAssignment(View, frozen=True):
    """What Kueue gave to the pods of one name."""

    name: str = ""
    flavors: dict[str, str] | None = None


class Admission(View, frozen=True):
    """Where Kueue reserved quota."""

    cluster_queue: str = ""
    pod_set_assignments: list[PodSetAssignment] | None = None


class RequeueState(View, frozen=True):
    """When Kueue tries again."""

    requeue_at: datetime | None = None


class AdmissionCheck(View, frozen=True):
    """One of the checks that an admission waits for."""

    name: str = ""
    state: str = ""
    message: str = ""


class WorkloadSpec(View, frozen=True):
    """Workload spec."""

    queue_name: str = ""
    active: bool | None = None


class WorkloadStatus(Status, frozen=True):
    """Workload status."""

    admission: Admission | None = None
    requeue_state: RequeueState | None = None
    admission_checks: list[AdmissionCheck] | None = None
    accumulated_past_execution_time_seconds: int | None = None
    cluster_name: str | None = None


class Workload(View, frozen=True):
    """Kueue's Workload of a Job or of a whole parent."""

    metadata: Metadata
    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()

    @property
    def is_active(self) -> bool:
        """Whether Kueue considers it at all."""
        return self.spec.active is not False


class PendingWorkload(View, frozen=True):
    """One entry of the visibility API; positions count from 0."""

    metadata: Metadata
    position_in_local_queue: int = 0
    position_in_cluster_queue: int = 0


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was read. `pending` is None where Kueue tells no positions.

    `trainjobs` is None where the cluster has no Trainer.
    """

    trainjobs: list[ParentObject] | None = None
    jobsets: list[ParentObject] = []
    jobs: list[Job] = []
    workloads: list[Workload] = []
    pending: list[PendingWorkload] | None = None
