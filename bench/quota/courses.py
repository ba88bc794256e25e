"""The course of each TrainJob, so that a figure that surprises can be looked into. Pure."""

from collections.abc import Iterator, Sequence

import msgspec

from bench.quota import meter
from bench.quota.facts import Seen, Workload
from bench.quota.figures import Submitted
from bench.quota.meter import Moment
from bench.quota.trace import Planned


class Course(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Seconds since the start of the play; None is what did not happen.

    It was `due`, got its first Workload (`queued`), held GPUs from `reserved` to `released`, used
    them from `training` to `trained`, and was at its end.
    """

    name: str
    due: float
    queued: float | None
    reserved: float | None
    training: float | None
    trained: float | None
    released: float | None
    ended: float | None


def courses(
    seen: Sequence[Seen], trace: Sequence[Planned], submitted: Submitted
) -> Iterator[Course]:
    """Of every TrainJob, in the order of their arrival."""
    moments = meter.by_trainjob(seen, submitted.start)
    ends = meter.ends(seen, submitted.start)
    queued = _queued(seen, submitted.start)
    for planned in trace:
        name = planned.name
        mine = moments.get(name, [])
        times = (
            queued.get(name),
            *_first_and_end(mine, [now.gpus.reserved > 0 for now in mine]),
            *_first_and_end(mine, [now.gpus.used > 0 for now in mine]),
            ends[name][0] if name in ends else None,
        )
        since, reserved, released, training, trained, ended = map(_rounded, times)
        due = round(submitted.due[name], 3)
        yield Course(name, due, since, reserved, training, trained, released, ended)


def _queued(seen: Sequence[Seen], start: float) -> dict[str, float]:
    since: dict[str, float] = {}
    for item in seen:
        if isinstance(item.fact, Workload):
            since.setdefault(item.fact.trainjob, item.at - start)
    return since


def _first_and_end(
    moments: Sequence[Moment], holds: Sequence[bool]
) -> tuple[float | None, float | None]:
    """When it began to hold, and when it did not hold any more."""
    true = [number for number, does in enumerate(holds) if does]
    if not true:
        return None, None
    after = true[-1] + 1
    end = moments[after].seconds if after < len(moments) else None
    return moments[true[0]].seconds, end


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
