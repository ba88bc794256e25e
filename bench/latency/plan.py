"""Which loads are measured on whom, in which order. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bench.latency.contenders import Side
from bench.latency.generator import Load
from bench.latency.reviews import Size, What, key

BOTH: Final = (Side.OURS, Side.KUEUE)
ALL: Final = (Side.OURS, Side.KUEUE, Side.FLOOR)
USUAL_CONNECTIONS: Final = 25
"""As many as an API server keeps open to one webhook."""

OPEN_RATE: Final = 1000
OVERHEAD_SECONDS: Final = 0.4
"""Starting the load generator and reading what it saw."""

SEVERAL: Final = (
    What.TRAINJOB_CREATE,
    What.JOBSET_CREATE,
    What.JOB_CREATE,
    What.JOB_UPDATE_BY_JOBSET,
)

THREE_STEPS: Final = (
    What.TRAINJOB_CREATE,
    What.JOBSET_CREATE,
    *(What.JOB_CREATE, What.JOB_UPDATE_BY_JOBSET) * 3,
)
"""What a TrainJob of three steps makes the API server ask at least."""


class Group(StrEnum):
    """The tables."""

    USUAL = "Median reviews, 25 connections"
    CONNECTIONS = "Median reviews, 1 and 200 connections"
    SIZES = "Small and large reviews, 25 connections"
    OPEN = "Median reviews, open loop"


@dataclass(frozen=True)
class Cell:
    """One load on several sides; `reviews` are asked in turn."""

    group: Group
    title: str
    reviews: tuple[tuple[What, Size], ...]
    load: Load
    warm_up: float
    sides: Sequence[Side] = BOTH

    @property
    def name(self) -> str:
        """Its name in records."""
        return f"{self.group}: {self.title}"

    def in_order(self, repeat: int) -> tuple[Side, ...]:
        """A B, then B A, so that what drifts with time meets both."""
        return tuple(self.sides) if repeat % 2 == 0 else tuple(reversed(self.sides))


@dataclass(frozen=True)
class Plan:
    """The cells, measured one after another, and all of it so many times."""

    cells: Sequence[Cell]
    repeats: int

    @property
    def reviews(self) -> set[tuple[What, Size]]:
        """The reviews of all cells."""
        return {item for cell in self.cells for item in cell.reviews}

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        once = sum((c.load.seconds + OVERHEAD_SECONDS) * len(c.sides) for c in self.cells)
        return once * self.repeats


def full(repeats: int) -> Plan:
    """Every cell."""
    return Plan(list(_cells(scale=1.0)), repeats)


def quick() -> Plan:
    """Once, shortly, and without the large reviews: to see that all of it works."""
    cells = _cells(scale=0.4)
    return Plan([c for c in cells if not {s for _, s in c.reviews} & {Size.LARGE, Size.HUGE}], 1)


def _cells(scale: float) -> Iterator[Cell]:
    usual, short = (2.2 * scale, 0.4 * scale), (1.2 * scale, 0.3 * scale)
    for what in What:
        review, load = (what, Size.MEDIAN), Load(USUAL_CONNECTIONS, usual[0])
        yield Cell(Group.USUAL, what, (review,), load, usual[1], ALL)
    # Two hundred handshakes take their time.
    for connections, (seconds, warm_up) in ((1, short), (200, (1.8 * scale, 0.8 * scale))):
        for what in SEVERAL:
            review, load = (what, Size.MEDIAN), Load(connections, seconds)
            title = f"{what}, {connections} connection{'s' * (connections > 1)}"
            sides = ALL if what is What.JOB_CREATE else BOTH
            yield Cell(Group.CONNECTIONS, title, (review,), load, warm_up, sides)
    for size in (Size.SMALL, Size.LARGE, Size.HUGE):
        for what in SEVERAL:
            # A server that answers the largest ten times a second has to be seen to do so.
            longer = 2.0 if size is Size.HUGE else 1.0
            load = Load(USUAL_CONNECTIONS, short[0] * longer)
            yield Cell(Group.SIZES, key(what, size), ((what, size),), load, short[1])
    for mixture, sorts in (("as of three-step TrainJobs", THREE_STEPS), ("each as often", What)):
        medians = tuple((what, Size.MEDIAN) for what in sorts)
        load = Load(USUAL_CONNECTIONS, 4 * scale, OPEN_RATE)
        yield Cell(Group.OPEN, f"{OPEN_RATE} a second, {mixture}", medians, load, usual[1])
