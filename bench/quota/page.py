"""The record as a page of tables that a reader can judge us by. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from bench.quota import ideal, trace
from bench.quota.figures import Figures
from bench.quota.plan import STEPPING, Mode
from bench.quota.record import Measurement, Record
from bench.quota.summary import (
    COUNTS,
    GPU_SECONDS,
    HAND_OVER,
    IDLE,
    SECONDS,
    TAIL,
    Cell,
    Figure,
    cells,
    gained,
    losses,
    removed,
    removed_stepped,
)
from bench.quota.targets import full_gain, judged
from bench.quota.trace import SORTS, Planned
from bench.spread import spread
from bench.tables import circumstances, spreading, table, targets

HEAD = """\
# What a quota of GPUs is worth

Written by `make bench-quota`; every play is in `quota.json` beside this page. Figures are medians
over the repeats, with the least and the most in brackets; what is compared is compared within a
repeat. *Whole* is `kueue-steps.io/mode: whole`: Kueue's own TrainJob integration, with our webhook
installed. A p95 of so few TrainJobs is the slowest of them.

![The quota over time in each mode](quota-light.svg)"""

REMOVED = """\
GPU-seconds less than whole. Those that wait for initializers have to be GPUs x initializer time of
the TrainJobs that can be stepped, as the trace has it; else the meter is wrong."""

IDEAL = """\
By what part more the same quota does in the same time: whole's makespan by stepped's, less one. The
model is the same trace in a control plane that takes no time. Its gain is not share/(1-share) =
{gain:.1%}, since a short trace begins and ends with GPUs that nobody asks for, and eight have to be
free at a time. More than the model's gain is possible, since whole also holds GPUs while it hands
over."""

CONDITIONS = """\
{circumstances}
- The load average over a minute at the end of each play was {averages}.
- {trainjobs} TrainJobs (seed {seed}) of three tenants, each with a ClusterQueue of {each} GPUs, all
  three in one cohort without limits or preemption; nodes have twice the GPUs of the quota, so that
  the quota alone decides.
- Modes differ by the annotations `kueue-steps.io/mode` and `kueue-steps.io/step-queues` only. Each
  play has a namespace and queues of its own; plays never overlap, modes take turns, and every
  second repeat goes the other way round.
- Load is what training alone needs, GPUs x seconds, by what the quota gives in the time in which
  TrainJobs come. They are the same at every load; that time is {spans}.
- Arrivals are a Poisson process, given their number, and wait for nothing: at most {late:.2f} s
  late.
- Run times are scaled as the table of the trace says, while the control plane takes real seconds:
  a hand-over weighs more here than where training takes hours. Pods are simulated, the rest is
  real.
- From the trace {waste:.0f} GPU-seconds can be removed, {share:.1%} of what is reserved whole:
  share/(1-share) is {gain:.1%}.
- Idle is what is reserved and not used. *Waiting for initializers*: one of them runs. *Tail*:
  training has run. *Hand-over*: everything else, from the reservation, or the end of the
  initializers, to the training pod.
- A TrainJob's end is that of its JobSet, which Trainer copies. Completion counts from the planned
  arrival; those that fail as planned count, too."""


def page(record: Record) -> str:
    """The page in Markdown."""
    found = cells(record.plays)
    parts = [
        HEAD,
        targets(item for item in judged(record) if item.found),
        _losses(found),
        _removed(found, record.trace),
        _gained(found, record),
        *_tables(found),
        _queued(found),
        *_wrongs(record.plays),
        _trace(record.trace),
        f"## How it was measured\n\n{_conditions(record)}",
    ]
    return "\n\n".join(parts) + "\n"


def _losses(found: Iterable[Cell]) -> str:
    title = "## Where stepping is worse than whole"
    lines = [
        (f"{cell.load:g}", str(mode), figure.title, *_pair(cell, mode, figure))
        for cell, mode, figure in losses(found)
    ]
    if not lines:
        return f"{title}\n\nIn no cell, by the medians."
    return f"{title}\n\n" + table(("load", "mode", "figure", "stepped", "whole"), lines)


def _pair(cell: Cell, mode: Mode, figure: Figure) -> Iterator[str]:
    return (spreading(cell.spread(figure, one), "{:,.2f}") for one in (mode, Mode.WHOLE))


def _removed(found: Iterable[Cell], trace_: Sequence[Planned]) -> str:
    values = (removed_stepped, removed(HAND_OVER), removed(TAIL), removed(IDLE))
    lines = (
        (
            f"{cell.load:g}",
            str(mode),
            f"{trace.removable(trace_):,.1f}",
            *(spreading(cell.paired(mode, value)) for value in values),
        )
        for cell in found
        for mode in cell.stepping
    )
    head = ("load", "mode", "GPUs x initializer time", "waiting for initializers")
    return f"## What stepping removes\n\n{REMOVED}\n\n" + table(
        (*head, "hand-over", "tail", "idle in all"), lines
    )


def _gained(found: Iterable[Cell], record: Record) -> str:
    lines = []
    for cell in found:
        whole, stepped = (
            ideal.makespan(record.trace, cell.load, record.quota, stepped=is_stepped)
            for is_stepped in (False, True)
        )
        model = (f"{whole:.1f}", f"{stepped:.1f}", f"{whole / stepped - 1:+.1%}")
        measured = (spreading(cell.paired(mode, gained), "{:+.1%}") for mode in cell.stepping)
        lines.append((f"{cell.load:g}", *model, *measured))
    head = ("load", "model: whole, s", "stepped, s", "gain", *(f"measured: {m}" for m in STEPPING))
    text = IDEAL.format(gain=full_gain(record))
    return f"## What stepping gains\n\n{text}\n\n" + table(head, lines)


def by_mode(found: Iterable[Cell], figures: Iterable[Figure], form: str) -> str:
    """A table of these figures, with a line for each load and mode."""
    shown = list(figures)
    lines = (
        (
            f"{cell.load:g}",
            str(mode),
            *(spreading(cell.spread(figure, mode), form) for figure in shown),
        )
        for cell in found
        for mode in cell.modes
    )
    return table(("load", "mode", *(figure.title for figure in shown)), lines)


def _tables(found: Sequence[Cell]) -> Iterator[str]:
    for title, figures, form in (
        ("GPU-seconds", GPU_SECONDS, "{:,.1f}"),
        ("Seconds", SECONDS, "{:,.2f}"),
        ("Counts", COUNTS, "{:,.0f}"),
    ):
        yield f"## {title}\n\n{by_mode(found, figures, form)}"


def _queued(found: Iterable[Cell]) -> str:
    lines = (
        (f"{cell.load:g}", str(mode), step, *_waits(figures, step))
        for cell in found
        for mode, figures in cell.modes.items()
        for step in figures[0].queued
    )
    head = ("load", "mode", "step", "Workloads", "mean s", "p95 s")
    text = "From a Workload's creation to its reservation; *the TrainJob* is one for all steps."
    return f"## Queueing, step by step\n\n{text}\n\n" + table(head, lines)


def _waits(figures: Iterable[Figures], step: str) -> Iterator[str]:
    times = [one.queued[step] for one in figures if step in one.queued]
    yield f"{times[0].count}"
    yield spreading(spread(one.mean for one in times), "{:.2f}")
    yield spreading(spread(one.p95 for one in times), "{:.2f}")


def _wrongs(plays: Iterable[Measurement]) -> Iterator[str]:
    said = [
        f"- load {play.load:g}, {play.mode}, repeat {play.repeat + 1}: {sentence}"
        for play in plays
        for sentence in (*play.figures.violations, *play.figures.astray)
    ]
    if said:
        yield "## What went wrong\n\n" + "\n".join(said)


def _trace(planned: Sequence[Planned]) -> str:
    counts = Counter(item.sort for item in planned)
    failing = Counter(item.sort for item in planned if item.fails)
    lines = (
        (
            sort.name,
            str(counts[sort.name]),
            str(failing[sort.name]),
            f"{sort.gpus}",
            "-".join(dict.fromkeys(f"{share:.1%}" for share in sort.shares)),
            f"{sort.real_seconds:,.0f}",
            f"{sort.seconds:g} (1:{sort.scale:.0f})",
            sort.shape,
        )
        for sort in SORTS
    )
    head = ("work", "TrainJobs", "fail", "GPUs", "initializers", "training, real s", "here", "")
    return "## The trace\n\n" + table(head, lines)


def _conditions(record: Record) -> str:
    loads = {play.load: trace.span(record.trace, play.load, record.quota) for play in record.plays}
    averages = sorted(play.average for play in record.plays)
    return CONDITIONS.format(
        circumstances=circumstances(record.environment),
        averages=f"{averages[0]:g} to {averages[-1]:g}",
        trainjobs=len(record.trace),
        seed=record.seed,
        each=record.quota // len(trace.TENANTS),
        spans=", ".join(f"{seconds:.0f} s at {load:g}" for load, seconds in loads.items()),
        late=max(play.figures.late for play in record.plays),
        waste=trace.removable(record.trace),
        share=trace.share(record.trace),
        gain=full_gain(record),
    )
