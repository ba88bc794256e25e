"""Medians and spreads over the repeats, cell by cell. Pure."""

from collections.abc import Callable, Iterable, Iterator
from math import isclose
from typing import Final, NamedTuple

from bench.latency.contenders import Side
from bench.latency.plan import Group
from bench.latency.record import Measurement
from bench.spread import Spread, spread


class Figure(NamedTuple):
    """What is compared: how it is read, and whether more of it is better."""

    title: str
    value: Callable[[Measurement], float]
    more_is_better: bool = False


PER_SECOND: Final = Figure("reviews/s", lambda m: m.figures.per_second, more_is_better=True)
P50: Final = Figure("p50 ms", lambda m: m.figures.p50)
P99: Final = Figure("p99 ms", lambda m: m.figures.p99)
P999: Final = Figure("p99.9 ms", lambda m: m.figures.p999)
CPU: Final = Figure("CPU µs/review", lambda m: m.cpu)
PEAK: Final = Figure("peak MiB", lambda m: m.memory_peak)
DENIED: Final = Figure("denied", lambda m: m.denied)

SAME: Final = 0.001
"""Two servers that keep up with a thousand reviews a second differ by less."""

COMPARED: Final = (PER_SECOND, P50, P99, P999, CPU, PEAK)


class Row(NamedTuple):
    """All repeats of one cell, by side."""

    group: Group
    title: str
    sides: dict[Side, list[Measurement]]

    def spread(self, figure: Figure, side: Side) -> Spread:
        """A figure of one side."""
        return spread(figure.value(item) for item in self.sides[side])

    def ratio(self, figure: Figure, other: Side) -> float | None:
        """Our median over another side's; None where that was not measured, or is 0."""
        if other not in self.sides or Side.OURS not in self.sides:
            return None
        theirs = self.spread(figure, other).median
        return self.spread(figure, Side.OURS).median / theirs if theirs else None

    def is_lost(self, figure: Figure) -> bool:
        """Is Kueue better by the medians, and by more than two of one rate differ anyway?"""
        ours, theirs = (self.spread(figure, side).median for side in (Side.OURS, Side.KUEUE))
        if isclose(ours, theirs, rel_tol=SAME):
            return False
        return ours < theirs if figure.more_is_better else ours > theirs


def rows(measurements: Iterable[Measurement]) -> list[Row]:
    """The cells in the order in which they were measured first."""
    found: dict[tuple[Group, str], Row] = {}
    for item in measurements:
        row = found.setdefault(item.cell, Row(item.group, item.title, {}))
        row.sides.setdefault(item.side, []).append(item)
    return list(found.values())


def losses(table: Iterable[Row]) -> Iterator[tuple[Row, Figure]]:
    """Every figure of every cell in which Kueue is better, and where we deny."""
    for row in table:
        yield from ((row, figure) for figure in COMPARED if row.is_lost(figure))
        if row.spread(DENIED, Side.OURS).most:
            yield row, DENIED
