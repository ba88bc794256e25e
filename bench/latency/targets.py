"""What was promised, and whether the record keeps it. Pure."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from bench.judgement import Judgement
from bench.latency.contenders import Side
from bench.latency.decision import Timing
from bench.latency.plan import OPEN_RATE, Group
from bench.latency.record import Record
from bench.latency.summary import P99, PER_SECOND, Row, rows

TIMES_KUEUE: Final = 3.0
SHARE_OF_FLOOR: Final = 0.8
OPEN_P99_MILLISECONDS: Final = 10.0
DECISION_MICROSECONDS: Final = 50.0
RATE_KEPT: Final = 0.99
"""What is asked in the last moments is answered after the end."""


def judged(record: Record) -> list[Judgement]:
    """Every target, by the medians over the repeats."""
    table = rows(record.measurements)
    usual = [row for row in table if row.group is Group.USUAL]
    opened = [row for row in table if row.group is Group.OPEN]
    return [
        _of_rows(
            f"at least {TIMES_KUEUE:g} times Kueue's throughput at 25 connections, one core each",
            usual,
            lambda row: row.ratio(PER_SECOND, Side.KUEUE) or 0,
            lambda ratio: ratio >= TIMES_KUEUE,
            "{:.2f} times",
        ),
        _of_rows(
            "a lower p99 than Kueue's at 25 connections",
            usual,
            lambda row: row.ratio(P99, Side.KUEUE) or 0,
            lambda ratio: 0 < ratio < 1,
            "{:.2f} of Kueue's",
        ),
        _of_rows(
            f"{OPEN_RATE} reviews/s in an open loop on one worker",
            opened,
            lambda row: row.spread(PER_SECOND, Side.OURS).median,
            lambda reached: reached >= OPEN_RATE * RATE_KEPT,
            "{:.0f}/s",
        ),
        _of_rows(
            f"p99 of at most {OPEN_P99_MILLISECONDS:g} ms there",
            opened,
            lambda row: row.spread(P99, Side.OURS).median,
            lambda found: found <= OPEN_P99_MILLISECONDS,
            "{:.2f} ms",
        ),
        _of_rows(
            f"at least {SHARE_OF_FLOOR:.0%} of the floor's throughput at 25 connections",
            usual,
            lambda row: row.ratio(PER_SECOND, Side.FLOOR) or 0,
            lambda ratio: ratio >= SHARE_OF_FLOOR,
            "{:.0%}",
        ),
        _of_decisions(record.decisions),
    ]


def _of_rows(
    target: str,
    table: Iterable[Row],
    value: Callable[[Row], float],
    is_met: Callable[[float], bool],
    form: str,
) -> Judgement:
    values = {row.title: value(row) for row in table}
    found = {title: form.format(value) for title, value in values.items()}
    return Judgement(target, found, [title for title, value in values.items() if not is_met(value)])


def _of_decisions(decisions: Mapping[str, Timing]) -> Judgement:
    return Judgement(
        f"the decision alone in at most {DECISION_MICROSECONDS:g} µs (median)",
        {name: f"{timing.median:.1f} µs" for name, timing in decisions.items()},
        [name for name, timing in decisions.items() if timing.median > DECISION_MICROSECONDS],
    )
