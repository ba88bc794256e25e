"""What is submitted, and when: the same TrainJobs in every mode and at every load. Pure.

GPU counts and the share of the initializers are those of real work, see `SORTS`. Run times are
scaled, each sort by its own factor: at one factor an evaluation would be over before its pod is
seen, or tokenizing would take hours. What the control plane does takes real seconds, and weighs
more here than in operation.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import accumulate
from math import ceil

import msgspec

TENANTS = ("red", "green", "blue")
FAILING = 0.05
JITTER = 0.2


class Shape(StrEnum):
    """What its steps are like: only STEPS is stepped; our rules leave GANG whole."""

    STEPS = "downloads, then training"
    GANG = "downloads, then pods that need each other"
    SINGLE = "training alone"


class Sort(msgspec.Struct, frozen=True):
    """A kind of work: `real_seconds` is what its training takes in life, `seconds` here.

    `shares` bound the initializers' part of the whole time; `weight` is its part of the TrainJobs.
    """

    name: str
    shape: Shape
    gpus: int
    shares: tuple[float, float]
    real_seconds: float
    seconds: float
    weight: float

    @property
    def scale(self) -> float:
        """How much shorter than in life."""
        return self.real_seconds / self.seconds


# Bytes of the models, 100 to 500 MB/s, and 6.8 M tokens to train on; evaluations as in the Acme
# trace (NSDI 24), where they spend 29.5 % of their time before any work for a GPU.
SORTS = (
    Sort("1B", Shape.STEPS, 2, (0.04, 0.08), 400, 6.4, 0.2),
    Sort("8B LoRA", Shape.STEPS, 1, (0.02, 0.10), 1440, 11.5, 0.2),
    Sort("70B LoRA", Shape.STEPS, 8, (0.13, 0.42), 1940, 15.5, 0.15),
    Sort("evaluation", Shape.STEPS, 8, (0.295, 0.295), 145, 4.6, 0.1),
    Sort("tokenize first", Shape.STEPS, 8, (0.20, 0.43), 14400, 14.4, 0.1),
    Sort("gang", Shape.GANG, 4, (0.05, 0.15), 1000, 8.0, 0.1),
    Sort("single step", Shape.SINGLE, 4, (0.0, 0.0), 1000, 8.0, 0.15),
)


class Planned(msgspec.Struct, frozen=True):
    """One TrainJob: seconds of its initializers and of its training, and when it comes.

    `due` is a part of the time in which all arrive. The name has no hyphen, so that the names of
    its Jobs tell whose they are.
    """

    name: str
    sort: str
    shape: Shape
    tenant: str
    due: float
    gpus: int
    initializes: float
    trains: float
    fails: bool

    @property
    def gpu_seconds(self) -> float:
        """What its training needs."""
        return self.gpus * self.trains

    @property
    def waste(self) -> float:
        """The GPU-seconds that its initializers take if the GPUs wait for them."""
        return self.gpus * self.initializes


def trace(count: int, seed: int) -> list[Planned]:
    """So many TrainJobs in the order of their arrival; the same seed gives the same.

    Arrivals are a Poisson process, given how many there are.
    """
    dice = random.Random(seed)  # noqa: S311 - to be repeated, not to be secret
    sorts = _mixed(count)
    dice.shuffle(sorts)
    failing = set(dice.sample(range(count), ceil(count * FAILING)))
    gaps = [dice.expovariate(1.0) for _ in sorts]
    dues = [at / sum(gaps) for at in accumulate([0.0, *gaps[:-1]])]
    return [
        _planned(number, sort, due, number in failing, dice)
        for number, (sort, due) in enumerate(zip(sorts, dues, strict=True))
    ]


def span(planned: Iterable[Planned], load: float, quota: int) -> float:
    """Seconds in which all arrive, so that training alone needs this load of the quota."""
    return sum(item.gpu_seconds for item in planned) / (load * quota)


def removable(planned: Iterable[Planned]) -> float:
    """GPU-seconds that wait for initializers, whole, and need not."""
    return sum(item.waste for item in planned if item.shape is Shape.STEPS)


def share(planned: Sequence[Planned]) -> float:
    """The removable part of all GPU-seconds that are reserved whole, hand-overs left out."""
    return removable(planned) / sum(item.gpu_seconds + item.waste for item in planned)


def _mixed(count: int) -> list[Sort]:
    """The sorts by their weights, largest remainders first: no luck in how many of each."""
    exact = {sort.name: sort.weight * count for sort in SORTS}
    by_remainder = sorted(SORTS, key=lambda sort: exact[sort.name] % 1, reverse=True)
    left = count - sum(int(number) for number in exact.values())
    more = {sort.name for sort in by_remainder[:left]}
    return [sort for sort in SORTS for _ in range(int(exact[sort.name]) + (sort.name in more))]


def _planned(number: int, sort: Sort, due: float, fails: bool, dice: random.Random) -> Planned:  # noqa: FBT001 - a row of the table
    part, *trained = _drawn(sort, dice)
    trains = trained[0] / 2 if fails else trained[0]
    return Planned(
        name=f"t{number:03}",
        sort=sort.name,
        shape=sort.shape,
        tenant=dice.choice(TENANTS),
        due=round(due, 6),
        gpus=sort.gpus,
        initializes=round(trained[0] * part / (1 - part), 3),
        trains=round(trains, 3),
        fails=fails,
    )


def _drawn(sort: Sort, dice: random.Random) -> Iterator[float]:
    yield dice.uniform(*sort.shares)
    yield sort.seconds * dice.uniform(1 - JITTER, 1 + JITTER)
