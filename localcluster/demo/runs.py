"""When the pods of each step ran, read off the frames of a play. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from localcluster.demo.frame import Frame


@dataclass(frozen=True)
class Run:
    """The pods of a step ran from `start` to `end`, in seconds since the submission."""

    trainjob: str
    step: str
    start: float
    end: float


def runs(frames: Iterable[Frame]) -> Iterator[Run]:
    """All runs in the order of their end; what still runs in the last frame is left out."""
    since: dict[tuple[str, str], float] = {}
    for frame in frames:
        for trainjob, step in sorted(since.keys() - frame.at_work):
            yield Run(trainjob, step, since.pop((trainjob, step)), frame.seconds)
        for began in frame.at_work - since.keys():
            since[began] = frame.seconds
