"""What one review costs: from the record of `make bench-latency`. Pure."""

from collections.abc import Iterator
from typing import Final

from bench.latency.contenders import Side
from bench.latency.plan import Group
from bench.latency.record import Record
from bench.latency.summary import CPU, P99, PEAK, PER_SECOND, Figure, Row, rows
from bench.tables import spreading, table

TEXT: Final = """\
## What one review costs

The same AdmissionReviews, recorded from the API server, to our server and to Kueue's own webhook of
the kind: TLS, HTTP/1.1 and keep-alive, 25 connections, one core for each server (one worker,
`GOMAXPROCS=1`), logs as they ship. The two don't do the same work; Kueue's webhook is what a
cluster has anyway. Reviews are of median size, 5 to 24 kB. The *floor* is our listener with a fixed
answer, at which the load generator is near its own limit."""

OPEN: Final = """\
A thousand reviews a second, whatever the answers take: in the mixture that a TrainJob of three
steps makes, and all sorts as often. Kueue's memory is that of its whole manager; ours, at its peak,
has seen reviews of 1.5 MiB."""

DECISIONS: Final = "The decision alone, from the bytes of a review to those of its answer: {found}."

FORMS: Final = {PER_SECOND: "{:,.0f}", P99: "{:,.1f}", CPU: "{:,.0f}", PEAK: "{:,.0f}"}
BOTH: Final = (Side.OURS, Side.KUEUE)


def section(record: Record) -> str:
    """The section in Markdown."""
    table_ = rows(record.measurements)
    decisions = ", ".join(
        f"{name.removesuffix(', median')} {item.median:.0f} µs"
        for name, item in record.decisions.items()
    )
    return "\n\n".join(
        (
            TEXT,
            _table([row for row in table_ if row.group is Group.USUAL], (PER_SECOND, P99, CPU)),
            OPEN,
            _table([row for row in table_ if row.group is Group.OPEN], (PER_SECOND, P99, PEAK)),
            DECISIONS.format(found=decisions),
        )
    )


def _table(found: list[Row], figures: tuple[Figure, ...]) -> str:
    titles = (f"{figure.title}: {side}" for figure in figures for side in ("ours", "Kueue's"))
    head = ("median review", "times Kueue", "of the floor", *titles)
    return table(head, (_line(row, figures) for row in found))


def _line(row: Row, figures: tuple[Figure, ...]) -> Iterator[str]:
    yield row.title
    yield f"{row.ratio(PER_SECOND, Side.KUEUE) or 0:.2f}"
    share = row.ratio(PER_SECOND, Side.FLOOR)
    yield "" if share is None else f"{share:.0%}"
    for figure in figures:
        yield from (spreading(row.spread(figure, side), FORMS[figure]) for side in BOTH)
