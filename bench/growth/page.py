"""The record as a page of tables that a reader can judge us by. Pure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from bench.growth.objects import DOWNLOAD_FOR, TRAIN_FOR, Mode
from bench.growth.record import Record, Run
from bench.growth.targets import judged, reviews, slope, writes
from bench.spread import spread
from bench.tables import circumstances, spreading, table, targets

API_SERVER: Final = "kube-apiserver"
BUSY: Final = 0.85

HEAD = """\
# How cost grows with the number of TrainJobs

Written by `make bench-growth`; every play is in `growth.json` beside this page. Where a size was
played more than once: the median, with the least and the most in brackets."""

SLOPES = """\
Of the totals over the number of TrainJobs, by least squares. More than 1: each of many costs more
than each of few, as in a fight between controllers. Less than 1: it costs less, since a controller
that is behind answers several changes with one write."""

CONDITIONS = """\
{circumstances}
- Played with {sizes} TrainJobs{cut}.
- All TrainJobs of a play are submitted at once, by 20 clients. Each has two downloads side by side
  ({download}) and then training on one GPU ({train}); the quota holds all of them, on {nodes} nodes
  whose pods are simulated. Whole and stepped differ by the annotation `kueue-steps.io/mode`.
- Plays of a size alternate, A B B A; finished TrainJobs of earlier plays stay, as in a cluster.
- Client limits in requests/s and burst: {limits}.
- Reviews, their mean and p99 are the API server's count and clock; its classes end at 5, 25, 100
  and 500 ms, so a p99 is an estimate between two of these. *Own p99* is our server's log: from the
  first byte of a review to its answer, to the microsecond.
- Writes are those of TrainJobs, JobSets, Jobs and Workloads that the API server accepted, status
  included. Admissions are Kueue's conditions, to the second."""

Value = Callable[[Run], float]

SPEED: Final[tuple[tuple[str, Value, str], ...]] = (
    ("creates/s", lambda item: item.size / item.creating, "{:,.1f}"),
    ("admissions/s", lambda item: item.admissions.per_second, "{:,.1f}"),
    ("all done s", lambda item: item.seconds, "{:,.1f}"),
    ("Workload's wait s", lambda item: item.admissions.wait, "{:.0f}"),
    ("mean ms", lambda item: item.reviews.mean, "{:.1f}"),
    ("p99 ms", lambda item: item.reviews.p99, "{:.1f}"),
    ("own p99 ms", lambda item: item.reviews.own_p99, "{:.1f}"),
)
COST: Final[tuple[tuple[str, Value, str], ...]] = (
    ("reviews", lambda item: item.reviews.calls / item.size, "{:.2f}"),
    ("writes", lambda item: item.all_writes / item.size, "{:.1f}"),
    ("API server CPU ms", lambda item: item.cpu[API_SERVER] / item.size * 1000, "{:,.0f}"),
    ("our CPU ms", lambda item: item.cpu["webhook"] / item.size * 1000, "{:,.0f}"),
    ("Kueue CPU ms", lambda item: item.cpu["kueue"] / item.size * 1000, "{:,.0f}"),
    ("all CPU ms", lambda item: sum(item.cpu.values()) / item.size * 1000, "{:,.0f}"),
    ("our peak MiB", lambda item: item.memory_peak, "{:.0f}"),
)


def page(record: Record) -> str:
    """The page in Markdown."""
    runs = record.runs
    parts = [
        HEAD,
        targets(judged(record)),
        f"## Speed\n\n{grouped(runs, SPEED)}",
        f"## Cost of one TrainJob\n\n{grouped(runs, COST)}",
        f"## Writes of one TrainJob\n\n{_writes(runs)}",
        f"## Slopes\n\n{SLOPES}\n\n{_slopes(runs)}",
        f"## What the limit is\n\n{limits(record)}",
        f"## How it was measured\n\n{_conditions(record)}",
    ]
    return "\n\n".join(parts) + "\n"


def taken(item: Run, cpus: int) -> float:
    """The share of all CPUs that the control plane and our server took."""
    return sum(item.cpu.values()) / (item.seconds * cpus)


def _groups(runs: Iterable[Run]) -> Iterator[tuple[Mode, int, list[Run]]]:
    found: dict[tuple[int, Mode], list[Run]] = {}
    for item in runs:
        found.setdefault((item.size, item.mode), []).append(item)
    for (size, mode), members in sorted(found.items()):
        yield mode, size, members


def grouped(runs: Sequence[Run], columns: Sequence[tuple[str, Value, str]]) -> str:
    """A table of these columns, with a line for each number of TrainJobs and mode."""
    lines = (
        (f"{size:,}", str(mode), *(spreading(spread(map(v, members)), f) for _, v, f in columns))
        for mode, size, members in _groups(runs)
    )
    return table(("TrainJobs", "", *(title for title, _, _ in columns)), lines)


def _writes(runs: Sequence[Run]) -> str:
    names = sorted({name for item in runs for name in item.writes})
    columns = [(name, _writes_of(name), "{:.2f}") for name in names]
    return grouped(runs, columns)


def _writes_of(name: str) -> Value:
    return lambda item: item.writes.get(name, 0) / item.size


def _slopes(runs: Sequence[Run]) -> str:
    lines = []
    for mode in Mode:
        found = [slope([r for r in runs if r.mode is mode], total) for total in (reviews, writes)]
        lines.append((str(mode), *("" if value is None else f"{value:.3f}" for value in found)))
    return table(("log-log, 1 is constant", "reviews", "writes"), lines)


def limits(record: Record) -> str:
    """What the most TrainJobs waited for, as points of a list."""
    largest = max(item.size for item in record.runs)
    return "\n".join(
        _limit(item, record.conditions.environment.cpus)
        for item in record.runs
        if item.size == largest
    )


def _limit(item: Run, cpus: int) -> str:
    most = sorted(item.cpu.items(), key=lambda pair: -pair[1])[:4]
    takers = ", ".join(f"{name} {seconds / item.seconds:.2f}" for name, seconds in most)
    what = "are the limit" if item.busy >= BUSY else "are not the limit"
    return (
        f"- {item.size:,} {item.mode}: the CPUs {what}, {item.busy:.0%} busy. The control plane "
        f"and our server take {taken(item, cpus):.0%} of the {cpus} CPUs ({takers}). Kueue admits "
        f"{item.admissions.per_second:.1f} Workloads/s, each {item.admissions.wait:.0f} s after "
        f"its creation (median); {item.finished / item.seconds:.1f} TrainJobs/s are done."
    )


def _conditions(record: Record) -> str:
    conditions = record.conditions
    played = {item.size for item in record.runs}
    cut = [size for size in conditions.wanted if size not in played]
    return CONDITIONS.format(
        sizes=", ".join(f"{size:,}" for size in sorted(played)),
        cut=f" ({cut[0]:,} were wanted: more than the time allowed)" if cut else "",
        circumstances=circumstances(conditions.environment),
        download=DOWNLOAD_FOR,
        train=TRAIN_FOR,
        nodes=conditions.nodes,
        limits=conditions.limits,
    )
