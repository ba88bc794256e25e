"""What one play came to. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from statistics import fmean, median

import msgspec

from bench.quota import meter
from bench.quota.facts import Ended, Seen
from bench.quota.meter import Gpus, Moment
from bench.quota.trace import Planned, Shape


class Times(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Seconds, over some TrainJobs or Workloads."""

    count: int
    mean: float
    p95: float


class Figures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """GPU-seconds and seconds of one play.

    `initializers` of `idle` is split in what can be stepped and what is left whole by our rules.
    `completion` and `single_step` are from a TrainJob's planned arrival to its end. `hand_over` is
    what the control plane takes of one TrainJob's time on its GPUs (median, seconds). `astray` are
    TrainJobs that came to no end, or to another one than planned; `late` is by how much, at most,
    one was submitted after its time.
    """

    gpu_seconds: Gpus
    initializers_stepped: float
    initializers_left: float
    hand_over: float
    peak_used: int
    makespan: float
    completion: Times
    single_step: Times
    queued: dict[str, Times]
    evictions: int
    violations: list[str]
    astray: list[str]
    late: float

    @property
    def idle(self) -> float:
        """GPU-seconds that are reserved and not used, for whatever reason."""
        gpus = self.gpu_seconds
        return gpus.initializers + gpus.hand_over + gpus.tail


class Submitted(msgspec.Struct, frozen=True):
    """When the play began, in monotonic seconds, and when each TrainJob was due after that."""

    start: float
    due: dict[str, float]
    late: float


def figures(
    seen: Sequence[Seen],
    trace: Sequence[Planned],
    submitted: Submitted,
    violations: list[str],
) -> Figures:
    """Of one play; `seen` is all of its namespace."""
    moments = meter.by_trainjob(seen, submitted.start)
    areas = {name: meter.gpu_seconds(mine) for name, mine in moments.items()}
    shapes = {item.name: item.shape for item in trace}
    stepped = [a.initializers for name, a in areas.items() if shapes[name] is Shape.STEPS]
    ends = meter.ends(seen, submitted.start)
    single = {name for name, shape in shapes.items() if shape is Shape.SINGLE}
    whole = _sum(areas.values())
    return Figures(
        gpu_seconds=Gpus(*(round(area, 2) for area in whole)),
        initializers_stepped=round(sum(stepped), 2),
        initializers_left=round(whole.initializers - sum(stepped), 2),
        hand_over=round(median(_hand_overs(areas, trace)), 3),
        peak_used=int(max(now.gpus.used for now in meter.total(moments))),
        makespan=round(max((at for at, _ in ends.values()), default=0.0), 2),
        completion=_completion(ends, submitted.due, set(shapes)),
        single_step=_completion(ends, submitted.due, single),
        queued=dict(_queued(seen)),
        evictions=meter.evictions(seen),
        violations=violations,
        astray=list(_astray(trace, ends)),
        late=round(submitted.late, 3),
    )


def curve(seen: Sequence[Seen], start: float) -> list[Moment]:
    """All TrainJobs' GPUs over time, to the millisecond."""
    moments = meter.total(meter.by_trainjob(seen, start))
    return [Moment(round(now.seconds, 3), now.gpus) for now in moments]


def times(values: Iterable[float]) -> Times:
    """Their mean, and the least that 95 % do not exceed; of none of them: zeros."""
    ordered = sorted(values)
    if not ordered:
        return Times(0, 0.0, 0.0)
    p95 = ordered[ceil(0.95 * len(ordered)) - 1]
    return Times(len(ordered), round(fmean(ordered), 3), round(p95, 3))


def _sum(areas: Iterable[Gpus]) -> Gpus:
    whole = Gpus()
    for area in areas:
        whole = whole.plus(area)
    return whole


def _hand_overs(areas: Mapping[str, Gpus], trace: Iterable[Planned]) -> list[float]:
    return [areas.get(item.name, Gpus()).hand_over / item.gpus for item in trace]


def _completion(
    ends: Mapping[str, tuple[float, Ended]], due: Mapping[str, float], names: set[str]
) -> Times:
    return times(at - due[name] for name, (at, _) in ends.items() if name in names)


def _queued(seen: Iterable[Seen]) -> Iterator[tuple[str, Times]]:
    steps: defaultdict[str, list[float]] = defaultdict(list)
    for waited in meter.waits(seen):
        steps[waited.step].append(waited.seconds)
    for step in sorted(steps):
        yield step, times(steps[step])


def _astray(trace: Iterable[Planned], ends: Mapping[str, tuple[float, Ended]]) -> Iterator[str]:
    for item in trace:
        if item.name not in ends:
            yield f"{item.name} came to no end"
        elif ends[item.name][1].has_failed is not item.fails:
            yield f"{item.name} {'should have failed' if item.fails else 'failed'}"
