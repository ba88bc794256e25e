"""The few figures that README shows, between two comments that mark their place. Pure."""

from collections.abc import Iterator
from typing import Final

from bench.create import summary as create
from bench.create.plan import JUDGED_CLIENTS
from bench.latency.contenders import Side
from bench.latency.plan import Group
from bench.latency.summary import P99, PER_SECOND, rows
from bench.overview.records import Records
from bench.quota.plan import Mode
from bench.quota.summary import INITIALIZERS, MAKESPAN, MEAN, RESERVED, SINGLE_P95, Figure, cells
from bench.tables import table

BEGIN: Final = "<!-- figures of make bench: written by make bench-page -->"
END: Final = "<!-- end of these figures -->"

SHOWN: Final[tuple[tuple[str, Figure, str], ...]] = (
    ("GPU-seconds reserved", RESERVED, "{:,.0f}"),
    ("of these, waiting for initializers", INITIALIZERS, "{:,.0f}"),
    ("makespan, seconds", MAKESPAN, "{:,.1f}"),
    ("completion of a TrainJob, mean, seconds", MEAN, "{:,.1f}"),
    ("completion of the slowest with one step, seconds", SINGLE_P95, "{:,.1f}"),
)
CLIENTS: Final = """\
A create or update of a queued TrainJob, JobSet or step takes {paced} ms longer than without us
(p50, {clients} clients, 50 requests/s), and {hurried} ms where clients keep all CPUs busy."""

LEGEND: Final = """\
({made}; medians. Pods are simulated and run times scaled.)"""

RUNS: Final = ("quota", "latency", "create")
"""Those whose figures are shown."""


def renewed(readme: str, records: Records) -> str:
    """README with these figures. Raises ValueError where the marks are missing."""
    before, mark, rest = readme.partition(f"{BEGIN}\n")
    _, end, after = rest.partition(f"{END}\n")
    if not (mark and end):
        raise ValueError(f"README has no place for figures: {BEGIN} and {END}")
    return f"{before}{mark}\n{_figures(records)}\n\n{end}{after}"


def _figures(records: Records) -> str:
    parts = (_gpus(records), _reviews(records), _clients(records), _legend(records))
    return "\n\n".join(parts)


def _gpus(records: Records) -> str:
    quota = records.quota
    found = cells(quota.plays)
    loads = " · ".join(f"{cell.load:g}" for cell in found)
    title = f"{len(quota.trace)} TrainJobs on {quota.quota} GPUs, at load {loads}"
    modes = (Mode.WHOLE, Mode.STEPPED)

    def line(name: str, figure: Figure, form: str) -> Iterator[str]:
        yield name
        for mode in modes:
            yield " · ".join(form.format(cell.spread(figure, mode).median) for cell in found)

    return table((title, *map(str, modes)), (line(*shown) for shown in SHOWN))


def _reviews(records: Records) -> str:
    found = [row for row in rows(records.latency.measurements) if row.group is Group.USUAL]
    sides = (Side.OURS, Side.KUEUE)
    lines = (
        (
            row.title,
            *(
                f"{row.spread(PER_SECOND, side).median:,.0f}/s, "
                f"{row.spread(P99, side).median:,.1f} ms"
                for side in sides
            ),
            f"{row.ratio(PER_SECOND, Side.KUEUE) or 0:.1f}",
        )
        for row in found
    )
    what = "reviews/s and p99, one core, 25 connections"
    return table((what, "kueue-steps", "Kueue's own webhook", "times"), lines)


def _clients(records: Records) -> str:
    usual = [
        row
        for row in create.rows(records.create.measurements)
        if row.kind.is_ours and row.clients == JUDGED_CLIENTS
    ]

    def added(*, paced: bool) -> str:
        found = [row.added(create.P50).median for row in usual if bool(row.pace) is paced]
        return f"{min(found):.1f} to {max(found):.1f}"

    return CLIENTS.format(
        paced=added(paced=True), hurried=added(paced=False), clients=JUDGED_CLIENTS
    )


def _legend(records: Records) -> str:
    days: dict[str, set[str]] = {}
    for run in RUNS:
        made = records.environments[run]
        days.setdefault(f"{made.cpus} shared cores, {made.made_with}", set()).add(made.date)
    return LEGEND.format(
        made="; ".join(f"{' and '.join(sorted(dates))}, {how}" for how, dates in days.items())
    )
