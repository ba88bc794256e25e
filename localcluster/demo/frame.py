"""One moment of a play, ready to be shown, whether on a terminal or as lines. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from localcluster.demo.meter import Sample, integral, total_reserved, total_used
from localcluster.demo.scene import Scene, State
from localcluster.demo.trace import GPUS, STEPS, Lane


@dataclass(frozen=True)
class Frame:
    """`seconds` since the submission, `steps` by TrainJob, GPUs now, `idle` GPU-seconds so far.

    `at_work`: the TrainJobs and their steps of which a pod is running.
    """

    lane: Lane
    seconds: float
    steps: Mapping[str, Mapping[str, State]]
    reserved: int
    used: int
    idle: float
    quota: int = GPUS
    at_work: frozenset[tuple[str, str]] = frozenset()


Show = Callable[[Frame], None]


def frame(lane: Lane, trainjobs: Sequence[str], scene: Scene, samples: Sequence[Sample]) -> Frame:
    """The frame of the scene, which is the last of the samples."""
    now = samples[-1]
    return Frame(
        lane=lane,
        seconds=now.at - samples[0].at,
        steps={name: {step: scene.state(name, step) for step in STEPS} for name in trainjobs},
        reserved=total_reserved(now),
        used=total_used(now),
        idle=integral(samples, total_reserved) - integral(samples, total_used),
        at_work=scene.at_work(),
    )
