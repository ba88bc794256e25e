"""Which loads are played in which modes, in which order. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bench.quota.trace import Planned, Shape, span, trace
from localcluster.demo.trace import DATASET, MODEL
from webhook.rules.names import MODE, STEP_QUEUES

QUOTA: Final = 24
"""GPUs, a third of them each tenant's own, all to be borrowed."""

CPU_QUEUE: Final = "cpu"
LOADS: Final = (0.5, 0.9, 1.3)
TRAINJOBS: Final = 16
REPEATS: Final = 2
SEED: Final = 46
"""Of 0 to 99 the most typical: nearest to the means of share, bound and GPU-seconds."""

DRAIN_SECONDS: Final = 32.0
"""About what goes by from the last arrival to the last pod, and until the next play (measured)."""


class Mode(StrEnum):
    """How the TrainJobs are queued; they differ by annotations only."""

    WHOLE = "whole"
    STEPPED = "stepped"
    CPU = "stepped, CPU queue"

    def annotations(self, shape: Shape) -> Mapping[str, str]:
        """What a TrainJob carries for it: who names a queue for a step must have the step."""
        if self is Mode.WHOLE:
            return {MODE: "whole"}
        if self is Mode.STEPPED or shape is Shape.SINGLE:
            return {MODE: "auto"}
        return {MODE: "auto", STEP_QUEUES: f"{DATASET}={CPU_QUEUE},{MODEL}={CPU_QUEUE}"}

    @property
    def slug(self) -> str:
        """Its part of a name."""
        return self.name.lower()


STEPPING: Final = (Mode.STEPPED, Mode.CPU)


@dataclass(frozen=True)
class Play:
    """The trace once, at a load and in a mode, in a namespace of its own."""

    load: float
    mode: Mode
    repeat: int

    @property
    def namespace(self) -> str:
        """Where: a name for its ClusterQueues, too."""
        return f"quota-{round(self.load * 100)}-{self.mode.slug}-{self.repeat}"


@dataclass(frozen=True)
class Plan:
    """The trace and how often, and at which loads, it is played."""

    loads: tuple[float, ...] = LOADS
    trainjobs: int = TRAINJOBS
    repeats: int = REPEATS
    seed: int = SEED

    @property
    def trace(self) -> list[Planned]:
        """The TrainJobs of every play."""
        return trace(self.trainjobs, self.seed)

    @property
    def plays(self) -> Iterator[Play]:
        """A B C, then C B A, so that what drifts with time meets all modes."""
        modes = list(Mode)
        for repeat in range(self.repeats):
            order = modes if repeat % 2 == 0 else modes[::-1]
            for load in self.loads:
                yield from (Play(load, mode, repeat) for mode in order)

    @property
    def seconds(self) -> float:
        """About how long all of it takes: above load 1 the quota sets the pace."""
        once = (span(self.trace, min(load, 1.0), QUOTA) + DRAIN_SECONDS for load in self.loads)
        return sum(once) * len(Mode) * self.repeats


QUICK: Final = Plan(loads=(1.3,), trainjobs=6, repeats=1)
"""One small cell, to see that all of it works."""
