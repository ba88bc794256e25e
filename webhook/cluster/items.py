"""What is decoded of Jobs, JobSets and Workloads: one slim view of all three.

Their bodies are large (pod templates), so everything else is skipped while decoding. Times stay
texts here: a status with an odd one must not cost the watch.
"""

from typing import Any

from webhook.rules import names
from webhook.rules.objects import Flag, Labels, Metadata, Text, View


class Condition(View, frozen=True):
    """One condition of a status."""

    type: str = ""
    status: str = ""
    reason: str | None = None
    message: str | None = None
    last_transition_time: str | None = None


class PodSet(View, frozen=True):
    """What Kueue gave to one podset of a Workload: the flavor and the quantity of each resource."""

    flavors: dict[str, str] | None = None
    resource_usage: dict[str, Any] | None = None


class Admission(View, frozen=True):
    """Workload status.admission."""

    cluster_queue: str = ""
    pod_set_assignments: list[PodSet] | None = None


class Status(View, frozen=True):
    """The status of any of the three."""

    conditions: list[Condition] | None = None
    start_time: str | None = None
    admission: Admission | None = None


class Replicas(View, frozen=True):
    """One step of a JobSet."""

    name: str = ""
    replicas: int | None = 1


class PodMetadata(View, frozen=True):
    """The labels of the pods of a Workload."""

    labels: Labels = None


class PodTemplate(View, frozen=True):
    """What the pods of a Workload are made from."""

    metadata: PodMetadata = PodMetadata()


class Pods(View, frozen=True):
    """One podset of a Workload."""

    template: PodTemplate = PodTemplate()


class ItemSpec(View, frozen=True):
    """The spec of any of the three."""

    suspend: Flag = None
    active: Flag = None
    queue_name: Text = None
    replicated_jobs: list[Replicas] | None = None
    pod_sets: list[Pods] | None = None


class ItemMetadata(Metadata, frozen=True):
    """Metadata with the version to go on from."""

    resource_version: str = ""
    creation_timestamp: str | None = None


class Item(View, frozen=True):
    """One object."""

    metadata: ItemMetadata = ItemMetadata()
    spec: ItemSpec | None = None
    status: Status | None = None

    def condition(self, kind: str) -> Condition | None:
        """A condition of this type, whatever its status."""
        conditions = (self.status and self.status.conditions) or ()
        return next((one for one in conditions if one.type == kind), None)

    @property
    def has_pods_of_a_jobset(self) -> bool:
        """Whether a Workload is of pods that JobSet has labelled: it labels all of its own."""
        pods = (self.spec and self.spec.pod_sets) or ()
        return any(names.REPLICATED_JOB in (one.template.metadata.labels or ()) for one in pods)
