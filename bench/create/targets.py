"""What was promised, and whether the record keeps it. Pure."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from bench.create.plan import JUDGED_CLIENTS
from bench.create.record import Record
from bench.create.summary import P50, P99, Row, rows
from bench.judgement import Judgement

P50_MILLISECONDS: Final = 3.0
P99_MILLISECONDS: Final = 15.0
NO_DIFFERENCE_MILLISECONDS: Final = 1.0
NO_DIFFERENCE_SHARE: Final = 0.05
"""Two namespaces differ by chance, and the more so the longer clients wait for a CPU."""


def judged(record: Record) -> list[Judgement]:
    """Every target, by the medians over the repeats."""
    table = rows(record.measurements)
    usual = [row for row in table if row.kind.is_ours and row.clients == JUDGED_CLIENTS]
    hurried = [row for row in usual if not row.pace]
    paced = [row for row in usual if row.pace]
    unrelated = [row for row in table if not row.kind.is_ours]
    return [
        *_of_what_is_added(f"{JUDGED_CLIENTS} clients, as fast as they are answered", hurried),
        *_of_what_is_added(f"{JUDGED_CLIENTS} clients that take their time", paced),
        _of_rows(
            "no call of ours for unrelated objects",
            unrelated,
            lambda row: f"{row.calls:.0f}",
            lambda row: row.calls == 0,
        ),
        _of_rows(
            "no difference for unrelated objects: the p50s are within "
            f"{NO_DIFFERENCE_MILLISECONDS:g} ms or {NO_DIFFERENCE_SHARE:.0%} of each other",
            unrelated,
            lambda row: f"{row.added(P50).median:+.2f} ms",
            _is_no_difference,
        ),
        _of_rows(
            "no request fails", table, lambda row: f"{row.failed}", lambda row: row.failed == 0
        ),
    ]


def _of_what_is_added(who: str, table: Iterable[Row]) -> Iterator[Judgement]:
    of_it = list(table)
    for name, value, most in (("p50", P50, P50_MILLISECONDS), ("p99", P99, P99_MILLISECONDS)):
        added = {row.title: row.added(value).median for row in of_it}
        yield Judgement(
            f"at most {most:g} ms more at {name}, {who}",
            {title: f"{milliseconds:+.1f} ms" for title, milliseconds in added.items()},
            [title for title, milliseconds in added.items() if milliseconds > most],
        )


def losses(table: Iterable[Row]) -> list[Row]:
    """Where p50 or p99 is higher with our registration in every repeat."""
    return [row for row in table if row.added(P50).least > 0 or row.added(P99).least > 0]


def _is_no_difference(row: Row) -> bool:
    fastest = min(item.arms[side].p50 for item in row.repeats for side in item.arms)
    allowed = max(NO_DIFFERENCE_MILLISECONDS, fastest * NO_DIFFERENCE_SHARE)
    return abs(row.added(P50).median) <= allowed


def _of_rows(
    target: str,
    table: Iterable[Row],
    found: Callable[[Row], str],
    is_met: Callable[[Row], bool],
) -> Judgement:
    of_it = list(table)
    return Judgement(
        target,
        {row.title: found(row) for row in of_it},
        [row.title for row in of_it if not is_met(row)],
    )
