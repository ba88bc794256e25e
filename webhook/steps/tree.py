"""What is shown: parents and their steps, each with where it stands. Values only, no clock.

Lengths of time are spans that may still be open, so two looks at an unchanged cluster are equal.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import reduce

from webhook.demand.quantities import Amounts, added


class State(StrEnum):
    """Where a step stands, or a whole parent."""

    WAITING = "waiting"
    ABSENT = "not-made"
    QUEUED = "queued"
    ADMITTED = "admitted"
    RUNNING = "running"
    EVICTED = "evicted"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"


class Admission(StrEnum):
    """How Kueue admits a parent: each step, all of it at once, or not at all."""

    STEP = "step"
    WHOLE = "whole"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Span:
    """So many seconds, and those since a moment if it is still going on."""

    seconds: int = 0
    since: datetime | None = None

    def until(self, now: datetime) -> int:
        """Seconds in all."""
        going_on = int((now - self.since).total_seconds()) if self.since else 0
        return max(0, self.seconds + going_on)


@dataclass(frozen=True, slots=True)
class Position:
    """Place among what waits, 1 being the next: in the LocalQueue, and in its ClusterQueue."""

    local: int
    cluster: int


@dataclass(frozen=True, slots=True)
class Eviction:
    """Why Kueue took an admission away, and when."""

    reason: str
    message: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Standing:
    """A state, what Kubernetes or Kueue says of it, and for how long.

    `reason` is a word of theirs, `message` a sentence. `queue` is a LocalQueue, `flavors` are by
    resource. `queued` is time without admission, `run` that of the present run.
    """

    state: State
    reason: str = ""
    message: str = ""
    since: datetime | None = None
    queue: str | None = None
    cluster_queue: str | None = None
    position: Position | None = None
    flavors: Mapping[str, str] = field(default_factory=dict)
    eviction: Eviction | None = None
    queued: Span | None = None
    run: Span | None = None

    def placed(self, with_kueue: "Standing") -> "Standing":
        """The same at the place that Kueue gave it."""
        return replace(
            self,
            queue=with_kueue.queue,
            cluster_queue=with_kueue.cluster_queue,
            flavors=with_kueue.flavors,
            queued=with_kueue.queued,
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One Job of a step, made or not; `requests` are those of all its pods together."""

    name: str
    job: str | None
    standing: Standing
    waits_for: tuple[str, ...] = ()
    ready: int = 0
    pods: int = 0
    requests: Amounts = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parent:
    """A TrainJob, or a JobSet that is no TrainJob's, with its steps in their order."""

    kind: str
    namespace: str
    name: str
    created: datetime | None
    admission: Admission
    standing: Standing
    steps: tuple[Step, ...] = ()
    jobset: str | None = None
    record: Mapping[str, str] = field(default_factory=dict)
    is_being_deleted: bool = False

    @property
    def requests(self) -> Amounts:
        """What it asks for at once: all of it where it is admitted as a whole, else nothing."""
        steps = self.steps if self.admission is Admission.WHOLE else ()
        return reduce(added, (step.requests for step in steps), Amounts())

    @property
    def done(self) -> int:
        """How many of its steps are done."""
        return sum(step.standing.state is State.DONE for step in self.steps)


@dataclass(frozen=True, slots=True)
class Tree:
    """All that is shown. `left_out` parents are not: Kueue does not queue them.

    `problem` is why nothing newer is known; empty while all is well.
    """

    parents: tuple[Parent, ...] = ()
    left_out: int = 0
    notes: tuple[str, ...] = ()
    problem: str = ""
