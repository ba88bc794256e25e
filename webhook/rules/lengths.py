"""Names that are too long for what is made of them: Jobs, and the Pods of indexed Jobs.

JobSet refuses such a JobSet (pkg/webhooks/jobset_webhook.go in v0.12.0), which for a TrainJob is an
event on an object that its user never made. So it is said where the user looks.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import UNSET

from webhook.rules.labels import LABEL_LENGTH
from webhook.rules.objects import Metadata, ReplicatedJob

SUFFIX: Final = "-abcde"
GENERATED: Final = 5
"""Characters that the API server adds to generateName, which it cuts for them."""


INDEXED: Final = ("Indexed", UNSET, None, "")
"""JobSet makes Jobs indexed where they do not say."""


def warnings(
    metadata: Metadata, steps: Sequence[ReplicatedJob], pods: Mapping[str, int] | None = None
) -> tuple[str, ...]:
    """What would be too long and by how much; `pods` are Pod counts that the parent sets itself."""
    name = metadata.name or _generated(metadata.generate_name)
    too_long = max((_longest(name, step, pods or {}) for step in steps), default=0) - LABEL_LENGTH
    if too_long <= 0:
        return ()
    return (
        f"the name is too long by {too_long} for the names of its Jobs and Pods: use a shorter one",
    )


def _generated(prefix: str) -> str:
    return prefix[: LABEL_LENGTH - GENERATED] + "x" * GENERATED


def _longest(name: str, step: ReplicatedJob, pods: Mapping[str, int]) -> int:
    job = f"{name}-{step.name}-{max(step.replicas or 1, 1) - 1}"
    count = pods.get(step.name) or step.job.completions
    if not count or step.job.completion_mode not in INDEXED:
        return len(job)
    return len(f"{job}-{count - 1}{SUFFIX}")
