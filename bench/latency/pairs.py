"""The record of a paired run, and its table: every repeat of both servers, next to each other."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from bench.environment import Environment
from bench.latency.record import Measurement
from bench.latency.summary import CPU, P99, PER_SECOND
from bench.records import Records
from bench.spread import spread
from bench.tables import circumstances, spreading, table

HEAD: Final = (
    *("median review", "times"),
    *("reviews/s: other", "this", "p99 ms: other", "this", "CPU µs/review: other", "this"),
)


class Pair(NamedTuple):
    """One repeat of a cell on both servers."""

    other: Measurement
    ours: Measurement


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A run beside a revision, called `base`; a pair says by `repeat` when it was measured."""

    base: str
    environment: Environment
    pairs: list[Pair]


_FILES: Final = Records(Record, "group")
read, write = _FILES.read, _FILES.write


def page(record: Record) -> str:
    """The page in Markdown."""
    return (
        f"# Our server beside that of {record.base}\n\n{circumstances(record.environment)}\n\n"
        "Asked in turn, and on the same core; medians of the repeats, with the least and the most. "
        f"*Times* is the median of the repeats' own ratios.\n\n{beside(record)}\n"
    )


def beside(record: Record) -> str:
    """The table: a line for each review, in the order in which they were asked."""
    cells: dict[str, list[Pair]] = {}
    for pair in record.pairs:
        cells.setdefault(pair.ours.title, []).append(pair)
    return table(HEAD, map(_line, cells.values()))


def _line(pairs: list[Pair]) -> Iterator[str]:
    per_second = PER_SECOND.value
    yield pairs[0].ours.title
    yield spreading(spread(per_second(ours) / per_second(other) for other, ours in pairs), "{:.2f}")
    for figure, form in ((PER_SECOND, "{:,.0f}"), (P99, "{:.1f}"), (CPU, "{:.0f}")):
        sides = zip(*pairs, strict=True)
        yield from (spreading(spread(map(figure.value, side)), form) for side in sides)
