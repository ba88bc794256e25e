"""The record as a page of tables that a reader can judge us by. Pure."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from bench.create.plan import Arm, crowd
from bench.create.record import Conditions, Record
from bench.create.summary import P50, P99, Row, rows
from bench.create.targets import judged, losses
from bench.tables import circumstances, spreading, table, targets

HEAD = """\
# What the API server's clients feel

Written by `make bench-create`; every repeat is in `create.json` beside this page. Milliseconds, as
clients measure them: medians over the repeats, with the least and the most in brackets. *Added* is
the difference between the two namespaces in the same repeat. A p99 of fewer than a hundred requests
is the slowest of them; how many there were is in the record."""

CONDITIONS = """\
{circumstances}
- Repeats of every cell: {repeats}, every second time in the opposite order. Within a cell each
  client goes with, without, without, with our registration, the next client the other way round,
  and first creates an object, then changes that object. Every client creates one at least.
- One control plane and one server. Our registration's namespaceSelector leaves the second namespace
  out; Kueue's, JobSet's and Trainer's webhooks are called in both, as ever. There, Kueue queues the
  parent as a whole.
- Clients ask as an administrator, whom flow control does not limit, over HTTP/1.1 with a
  connection each. Where no rate is given they ask as fast as they are answered, so that all CPUs
  are busy and every further call waits for a CPU, too: what is added then is mostly that. *ms a
  call* is the mean of all calls of our webhooks, by the API server's clock.
- Controllers rest meanwhile: the controller manager, the scheduler and KWOK are stopped by a
  signal; Kueue, JobSet and Trainer answer their webhooks, and the API server's flow control keeps
  their writes in a priority level without seats. Creates are real and are deleted after each cell.
- An update changes an annotation; that of a step's Job also clears `suspend`, which we put back.
  Other updates of such Jobs never reach us.
- CPU seconds for about {seconds:.0f} s of load, deleting included: {shares}."""


def page(record: Record) -> str:
    """The page in Markdown."""
    found = rows(record.measurements)
    parts = [
        HEAD,
        targets(judged(record)),
        _losses(losses(found)),
        *_tables(found),
        f"## How it was measured\n\n{_conditions(record.conditions)}",
    ]
    return "\n\n".join(parts) + "\n"


def _losses(lost: list[Row]) -> str:
    title = "## Where our registration costs time in every repeat"
    if not lost:
        return f"{title}\n\nIn no cell."
    lines = (
        (row.title, spreading(row.added(P50), "{:+.1f}"), spreading(row.added(P99), "{:+.1f}"))
        for row in lost
    )
    return f"{title}\n\n" + table(("cell", "added p50", "added p99"), lines)


def _tables(found: Iterable[Row]) -> Iterator[str]:
    head = (
        *("", "", "p50 with", "p50 without", "added p50"),
        *("p99 with", "p99 without", "added p99", "calls of ours", "ms a call"),
    )
    for kind, members in groupby(found, lambda row: row.kind):
        yield f"## {kind}\n\n" + table(head, map(_line, members))


def _line(row: Row) -> tuple[str, ...]:
    cells = [crowd(row.clients, row.pace), str(row.operation)]
    for value in (P50, P99):
        cells += [spreading(row.spread(side, value)) for side in Arm]
        cells.append(spreading(row.added(value), "{:+.1f}"))
    return (*cells, f"{row.calls:,.0f}", f"{row.call_milliseconds:.1f}" if row.calls else "")


def _conditions(conditions: Conditions) -> str:
    busiest = sorted(conditions.shares, key=lambda share: -share.cpu)
    return CONDITIONS.format(
        circumstances=circumstances(conditions.environment),
        repeats=conditions.repeats,
        seconds=conditions.seconds,
        shares=", ".join(f"{share.process} {share.cpu:,.0f}" for share in busiest if share.cpu),
    )
