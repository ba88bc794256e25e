"""What a quota of GPUs is worth: from the record of `make bench-quota`. Pure."""

from collections import Counter
from typing import Final

from bench.quota import picture, trace
from bench.quota.page import by_mode
from bench.quota.record import Record
from bench.quota.summary import (
    EVICTIONS,
    HAND_OVER,
    IDLE,
    INITIALIZERS,
    MAKESPAN,
    MEAN,
    P95,
    RESERVED,
    SINGLE_P95,
    TAIL,
    cells,
)

TEXT: Final = """\
## What a quota of GPUs is worth

{count} TrainJobs of three tenants, the same ones at every load and in every mode: training on 1 to
8 GPUs, initializers of 2 to 43 % of the time by sort; {failing} of them fail as planned, {gangs}
are gangs that stay whole, {single} have one step. Load is what training alone needs of the {quota}
GPUs while TrainJobs come. *Whole* is `kueue-steps.io/mode: whole`: Kueue's own TrainJob
integration, with our webhook installed. Run times are scaled, 1:{least:.0f} to 1:{most:,.0f} by
sort, while the control plane takes real seconds: a hand-over weighs far more here than in
operation."""

IDLE_TEXT: Final = """\
GPU-seconds, and how many Workloads were evicted. Idle is what is reserved and not used: an
initializer runs (*waiting for initializers*), training has run (*tail*), or anything else
(*hand-over*). The initializers of what can be stepped are {removable:,.0f} of them; what stepping
saves beyond that is hand-over."""

SECONDS_TEXT: Final = """\
Seconds. Completion counts from the planned arrival. A p95 of {count} TrainJobs is the slowest of
them, and one of {single} the slower."""

PICTURE: Final = """\
<picture>
  <source media="(prefers-color-scheme: dark)" srcset="pictures/quota-dark.svg">
  <img alt="{alt}." src="pictures/quota-light.svg">
</picture>"""

PICTURED: Final = "The quota over time at load {load:g}, first repeat: {totals}"

GPU_SECONDS: Final = (RESERVED, IDLE, INITIALIZERS, HAND_OVER, TAIL, EVICTIONS)
SECONDS: Final = (MAKESPAN, MEAN, P95, SINGLE_P95)


def section(record: Record) -> str:
    """The section in Markdown."""
    found, shapes = cells(record.plays), Counter(item.shape for item in record.trace)
    scales = [sort.scale for sort in trace.SORTS]
    count, single = len(record.trace), shapes[trace.Shape.SINGLE]
    return "\n\n".join(
        (
            TEXT.format(
                count=count,
                failing=sum(item.fails for item in record.trace),
                gangs=shapes[trace.Shape.GANG],
                single=single,
                quota=record.quota,
                least=min(scales),
                most=max(scales),
            ),
            PICTURE.format(alt=_pictured(record)),
            IDLE_TEXT.format(removable=trace.removable(record.trace)),
            by_mode(found, GPU_SECONDS, "{:,.0f}"),
            SECONDS_TEXT.format(count=count, single=single),
            by_mode(found, SECONDS, "{:,.1f}"),
        )
    )


def _pictured(record: Record) -> str:
    plays = picture.shown(record)
    areas = "; ".join(f"{play.mode}: {picture.totals(play)}" for play in plays)
    return PICTURED.format(load=plays[0].load, totals=areas)
