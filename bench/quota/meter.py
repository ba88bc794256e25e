"""From what was seen to GPU-seconds, waits and times. Pure arithmetic.

A GPU that is reserved and not used is idle for one of three reasons: its TrainJob's initializers
run; its training has run and the quota is not given back yet (tail); or the control plane is at
work, from the reservation or the end of the initializers to the first training pod (hand-over).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from bench.quota.facts import Ended, Fact, Pod, Seen, Workload
from webhook.rules.names import INITIALIZERS


class Gpus(NamedTuple):
    """GPUs at one moment, or GPU-seconds over many: the last three are why some are idle."""

    reserved: float = 0
    used: float = 0
    initializers: float = 0
    hand_over: float = 0
    tail: float = 0

    def plus(self, other: "Gpus", times: float = 1) -> "Gpus":
        """The sum, field by field."""
        return Gpus(*(one + two * times for one, two in zip(self, other, strict=True)))


class Moment(NamedTuple):
    """From `seconds` on, until the next of them."""

    seconds: float
    gpus: Gpus


class Waited(NamedTuple):
    """A Workload waited so long for its reservation."""

    trainjob: str
    step: str
    seconds: float


class TrainJobsGpus:
    """What one TrainJob holds and uses, fact by fact."""

    def __init__(self) -> None:
        self._workloads: dict[str, int] = {}
        self._pods: dict[str, Pod] = {}
        self._has_trained = False

    def learn(self, fact: Fact) -> None:
        """A fact about it."""
        match fact:
            case Workload():
                self._workloads[fact.uid] = fact.gpus
            case Pod():
                self._pods[fact.uid] = fact
                self._has_trained |= fact.is_running and fact.gpus > 0

    def now(self) -> Gpus:
        """The GPUs after the last fact."""
        running = [pod for pod in self._pods.values() if pod.is_running]
        reserved, used = sum(self._workloads.values()), sum(pod.gpus for pod in running)
        idle = max(0, reserved - used)
        if self._has_trained:
            return Gpus(reserved, used, tail=idle)
        if any(pod.step in INITIALIZERS for pod in running):
            return Gpus(reserved, used, initializers=idle)
        return Gpus(reserved, used, hand_over=idle)


def by_trainjob(seen: Iterable[Seen], start: float) -> dict[str, list[Moment]]:
    """What each TrainJob held and used over time, in seconds from the start; changes only."""
    known: defaultdict[str, TrainJobsGpus] = defaultdict(TrainJobsGpus)
    moments: defaultdict[str, list[Moment]] = defaultdict(lambda: [Moment(0.0, Gpus())])
    for item in seen:
        name = item.fact.trainjob
        known[name].learn(item.fact)
        now = Moment(item.at - start, known[name].now())
        if now.gpus != moments[name][-1].gpus:
            moments[name].append(now)
    return dict(moments)


def total(moments: Mapping[str, Sequence[Moment]]) -> list[Moment]:
    """All TrainJobs together over time."""
    latest = dict.fromkeys(moments, Gpus())
    changes = sorted((now, name) for name, mine in moments.items() for now in mine)
    summed = [Moment(0.0, Gpus())]
    for now, name in changes:
        summed.append(Moment(now.seconds, summed[-1].gpus.plus(latest[name], -1).plus(now.gpus)))
        latest[name] = now.gpus
    return [*summed[:1], *(after for before, after in pairwise(summed) if after[1] != before[1])]


def gpu_seconds(moments: Iterable[Moment]) -> Gpus:
    """The areas over time, up to the last moment, in which nothing is held any more."""
    areas = Gpus()
    for now, after in pairwise(moments):
        areas = areas.plus(now.gpus, after.seconds - now.seconds)
    return areas


def waits(seen: Iterable[Seen]) -> Iterator[Waited]:
    """From each Workload's creation to its first reservation; one that never got it is left out."""
    since: dict[str, float] = {}
    served: set[str] = set()
    for item in seen:
        if isinstance(item.fact, Workload):
            uid = item.fact.uid
            since.setdefault(uid, item.at)
            if item.fact.is_reserved and uid not in served:
                served.add(uid)
                yield Waited(item.fact.trainjob, item.fact.step, item.at - since[uid])


def evictions(seen: Iterable[Seen]) -> int:
    """How often a Workload lost its reservation before its end."""
    evicted: dict[str, bool] = {}
    count = 0
    for item in seen:
        if isinstance(item.fact, Workload):
            count += item.fact.is_evicted and not evicted.get(item.fact.uid, False)
            evicted[item.fact.uid] = item.fact.is_evicted
    return count


def ends(seen: Iterable[Seen], start: float) -> dict[str, tuple[float, Ended]]:
    """When each TrainJob came to its end, and how."""
    found: dict[str, tuple[float, Ended]] = {}
    for item in seen:
        if isinstance(item.fact, Ended):
            found.setdefault(item.fact.trainjob, (item.at - start, item.fact))
    return found


def is_over(seen: Sequence[Seen], names: Iterable[str]) -> bool:
    """Are all TrainJobs at their end, and all GPUs given back?"""
    held = {item.fact.uid: item.fact.gpus for item in seen if isinstance(item.fact, Workload)}
    return not any(held.values()) and ends(seen, 0.0).keys() >= set(names)
