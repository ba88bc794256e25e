"""Medians and spreads over the repeats, for each kind, number of clients and operation. Pure."""

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Final, NamedTuple

from bench.create.load import Operation
from bench.create.objects import Kind
from bench.create.plan import Arm, crowd
from bench.create.record import Figures, Measurement
from bench.spread import Spread, spread


class Row(NamedTuple):
    """All repeats of an operation of a cell."""

    kind: Kind
    clients: int
    pace: float
    operation: Operation
    repeats: list[Measurement]

    @property
    def title(self) -> str:
        """What it is in tables."""
        return f"{self.operation} {self.kind}, {crowd(self.clients, self.pace)}"

    def spread(self, side: Arm, value: Callable[[Figures], float]) -> Spread:
        """A figure of one arm."""
        return spread(value(item.arms[side]) for item in self.repeats)

    def added(self, value: Callable[[Figures], float]) -> Spread:
        """What a figure is more with our registration than without, in the same repeat."""
        return spread(
            value(item.arms[Arm.WITH]) - value(item.arms[Arm.WITHOUT]) for item in self.repeats
        )

    @property
    def calls(self) -> float:
        """Calls of our webhooks in all repeats."""
        return sum(item.reviews.calls for item in self.repeats)

    @property
    def call_milliseconds(self) -> float:
        """How long one of them took on average, by the API server's clock; 0 if there was none."""
        seconds = sum(item.reviews.seconds for item in self.repeats)
        return seconds / self.calls * 1000 if self.calls else 0.0

    @property
    def failed(self) -> int:
        """Requests without success, in all repeats."""
        return sum(item.failed for item in self.repeats)


P50: Final = attrgetter("p50")
P99: Final = attrgetter("p99")


def rows(measurements: Iterable[Measurement]) -> list[Row]:
    """By kind, then those in a hurry first, then clients, then operation."""
    found: dict[tuple[Kind, int, float, Operation], Row] = {}
    for item in measurements:
        key = item.kind, item.clients, item.pace, item.operation
        found.setdefault(key, Row(*key, [])).repeats.append(item)
    kinds, operations = list(Kind), list(Operation)
    return sorted(
        found.values(),
        key=lambda row: (
            kinds.index(row.kind),
            row.pace,
            row.clients,
            operations.index(row.operation),
        ),
    )
