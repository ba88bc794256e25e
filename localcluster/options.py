"""What a user may choose about a control plane."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

BATCH_JOB = "batch/job"
JOBSET = "jobset.x-k8s.io/jobset"
TRAINJOB = "trainer.kubeflow.org/trainjob"


@dataclass(frozen=True)
class Options:
    """`frameworks`, `manage_all` and `kueue_extra` end up in Kueue's configuration."""

    frameworks: tuple[str, ...] = (BATCH_JOB, JOBSET, TRAINJOB)
    manage_all: bool = False
    nodes: int = 2
    kueue_extra: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The value as JSON's types."""
        return asdict(self) | {"kueue_extra": dict(self.kueue_extra)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Options":
        """The inverse of as_json."""
        return cls(**{**value, "frameworks": tuple(value["frameworks"])})
