"""What clients of the API server feel: from the record of `make bench-create`. Pure."""

from collections.abc import Iterator
from typing import Final

from bench.create.plan import JUDGED_CLIENTS, Arm, crowd
from bench.create.record import Record
from bench.create.summary import P50, P99, Row, rows
from bench.tables import spreading, table

TEXT: Final = """\
## What clients of the API server feel

{clients} clients create and change objects, in turn in a namespace that our registration is about
and in one that it leaves out; Kueue's, JobSet's and Trainer's webhooks are called in both. In a
hurry, they keep all CPUs busy, so that every further call waits for a CPU, too. Milliseconds;
*added* is the median of the differences within a repeat, *ms a call* the mean of our calls by the
API server's clock. A p99 of clients that take their time is the slowest of some 75 requests: single
repeats of it differ by more than what is judged."""


def section(record: Record) -> str:
    """The section in Markdown."""
    found = [row for row in rows(record.measurements) if row.clients == JUDGED_CLIENTS]
    head = (
        *("", "", "p50 with", "without", "added"),
        *("p99 with", "without", "added", "ms a call"),
    )
    return f"{TEXT.format(clients=JUDGED_CLIENTS)}\n\n" + table(head, map(_line, found))


def _line(row: Row) -> Iterator[str]:
    yield f"{row.operation} {row.kind}"
    yield crowd(row.clients, row.pace).partition(", ")[2] or "in a hurry"
    for value in (P50, P99):
        yield from (f"{row.spread(side, value).median:,.1f}" for side in Arm)
        yield spreading(row.added(value), "{:+.1f}")
    yield f"{row.call_milliseconds:.1f}" if row.calls else "no call"
