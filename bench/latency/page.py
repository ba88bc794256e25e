"""The record as a page of tables that a reader can judge us by. Pure."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from statistics import median

from bench.latency.contenders import Side
from bench.latency.decision import Timing
from bench.latency.record import Conditions, Measurement, Posted, Record
from bench.latency.summary import (
    CPU,
    DENIED,
    P50,
    P99,
    P999,
    PEAK,
    PER_SECOND,
    Figure,
    Row,
    losses,
    rows,
)
from bench.latency.targets import judged
from bench.spread import Spread
from bench.tables import table, targets

SHOWN = (PER_SECOND, P50, P99, P999, CPU, PEAK)


HEAD = """\
# What one review costs

Written by `make bench-latency`; every repeat is in `latency.json` beside this page.
Figures are medians over the repeats, with the least and the most in brackets."""

CONDITIONS = """\
- {date}, {cpus} CPUs, every cell {repeats} times: the sides in turn, and in the opposite order
  every second time.
- Versions: {versions}.
- Load average over 1, 5 and 15 minutes before: {before}; after: {after}.
- TLS with keys of the kind {key} on every side, HTTP/1.1, keep-alive; each side with its own
  default logging, into a file.
- The server that is measured and the load generator have {cores}. Kueue runs with GOMAXPROCS=1,
  ours with its one worker. Kueue's memory is that of its whole manager; its controllers have
  nothing to do meanwhile.
- The load generator takes {cost:.0f} µs of its core per review against the floor (median), so that
  it alone would reach about {reach:,.0f} reviews/s; it was busy for {busiest:.0%} of the time at
  most. The control plane shares its core where there are only two.
- CPU per review is the server's user and system time, TLS handshakes included. Latencies and
  throughput leave the first moments of each load out. Denied are reviews for which a look-up took
  longer than a second."""

REVIEWS = """\
As the API server of the run posted them. The two webhooks do different work on them: Kueue mutates
Jobs at CREATE only, so that an UPDATE goes to its validating webhook; and of Kueue's own starts
only those of paused Jobs reach us in operation. Our server knows the TrainJob of a JobSet from a
watch, as Kueue knows owners; what else our rules look up is ten seconds old at most. An object of
1.5 MiB is as large as etcd takes, and large UPDATEs carry two of half the size."""

DECISIONS = """\
From the bytes of the review to those of the answer, in one process, with the objects that the rules
look up at hand."""


def page(record: Record) -> str:
    """The page in Markdown."""
    found = rows(record.measurements)
    parts = [
        HEAD,
        targets(judged(record)),
        _losses(found),
        *_tables(found),
        _decisions(record.decisions),
        _reviews(record.reviews),
        _conditions(record.conditions, record.measurements),
    ]
    return "\n\n".join(parts) + "\n"


def _losses(found: Iterable[Row]) -> str:
    lines = [
        (str(row.group), row.title, figure.title, *_pair(row, figure))
        for row, figure in losses(found)
    ]
    if not lines:
        return "## Where Kueue is better\n\nIn no cell, by the medians."
    return "## Where Kueue is better\n\n" + table(("", "cell", "figure", "ours", "Kueue"), lines)


def _pair(row: Row, figure: Figure) -> tuple[str, str]:
    ours, theirs = (_number(row.spread(figure, side).median) for side in (Side.OURS, Side.KUEUE))
    return ours, theirs


def _tables(found: Iterable[Row]) -> Iterator[str]:
    head = ("", "", *(figure.title for figure in SHOWN), "to Kueue", "to the floor")
    for group, members in groupby(found, lambda row: row.group):
        lines = [line for row in members for line in _lines(row)]
        yield f"## {group}\n\n" + table(head, lines)


def _lines(row: Row) -> Iterator[tuple[str, ...]]:
    for side in (side for side in Side if side in row.sides):
        figures = (_spread(row.spread(figure, side)) for figure in SHOWN)
        is_ours = side is Side.OURS
        ratios = (_ratio(row, other) if is_ours else "" for other in (Side.KUEUE, Side.FLOOR))
        denied = row.spread(DENIED, side).most
        name = f"{side}, up to {denied:.0f} denied" if denied else str(side)
        yield (row.title if is_ours else "", name, *figures, *ratios)


def _ratio(row: Row, other: Side) -> str:
    ratio = row.ratio(PER_SECOND, other)
    return "" if ratio is None else f"{ratio:.2f}"


def _decisions(decisions: dict[str, Timing]) -> str:
    lines = (
        (name, item.reason, *(f"{value:.1f}" for value in (item.fastest, item.median, item.p99)))
        for name, item in decisions.items()
    )
    head = ("review", "verdict", "fastest µs", "median µs", "p99 µs")
    return f"## The decision alone\n\n{DECISIONS}\n\n" + table(head, lines)


def _reviews(reviews: dict[str, Posted]) -> str:
    lines = (
        (
            name,
            f"{item.size:,}",
            f"{item.answers[Side.OURS]:,}",
            f"{item.answers[Side.KUEUE]:,}",
            f"`{item.kueue_path}`",
        )
        for name, item in reviews.items()
    )
    head = ("review", "bytes", "our answer", "Kueue's answer", "Kueue's path")
    return f"## The reviews\n\n{REVIEWS}\n\n" + table(head, lines)


def _conditions(conditions: Conditions, measurements: list[Measurement]) -> str:
    environment = conditions.environment
    versions = ", ".join(f"{k} {v}" for k, v in (environment.versions | conditions.tools).items())
    unhindered = [item.generator for item in measurements if item.side is Side.FLOOR]
    cost = median(unhindered or [item.generator for item in measurements])
    busiest = max(item.generator_share for item in measurements)
    text = CONDITIONS.format(
        date=environment.date,
        cpus=environment.cpus,
        repeats=conditions.repeats,
        versions=versions,
        before=", ".join(map(str, environment.load_before)),
        after=", ".join(map(str, environment.load_after)),
        key=conditions.key,
        cores="two threads of one core" if conditions.core_is_shared else "a core each",
        cost=cost,
        reach=1e6 / cost,
        busiest=busiest,
    )
    return f"## How it was measured\n\n{text}"


def _spread(spread: Spread) -> str:
    middle, least, most = map(_number, spread)
    return middle if least == most else f"{middle} ({least}-{most})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
