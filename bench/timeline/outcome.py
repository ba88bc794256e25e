"""From what the demo saw to a record: only changes are kept, in milliseconds. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from bench.environment import Environment
from bench.timeline.record import Gpus, Lane, Record
from localcluster.demo.frame import Frame
from localcluster.demo.play import Outcome, Played
from localcluster.demo.runs import Run, runs


def recorded(outcome: Outcome, environment: Environment) -> Record:
    """The record of a demo."""
    return Record(
        environment=environment,
        whole=lane(outcome.whole),
        stepped=lane(outcome.stepped),
    )


def lane(played: Played) -> Lane:
    """One mode, with a moment for each change and one for the end."""
    return Lane(
        gpus=list(changes(played.frames)),
        runs=[_rounded(run) for run in runs(played.frames)],
        figures=played.figures,
    )


def changes(frames: Iterable[Frame]) -> Iterator[Gpus]:
    """The frames in which GPUs were reserved, taken or given back; the first and the last too."""
    kept: Gpus | None = None
    now: Gpus | None = None
    for frame in frames:
        now = Gpus(round(frame.seconds, 3), frame.reserved, frame.used)
        if kept is None or now[1:] != kept[1:]:
            kept = now
            yield now
    if now and now != kept:
        yield now


def _rounded(run: Run) -> Run:
    return replace(run, start=round(run.start, 3), end=round(run.end, 3))
