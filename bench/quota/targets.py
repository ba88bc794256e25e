"""What was promised, and whether the record keeps it. Pure."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from bench.judgement import Judgement
from bench.quota import ideal, trace
from bench.quota.figures import Figures
from bench.quota.plan import Mode
from bench.quota.record import Record
from bench.quota.summary import Cell, cells, gained, removed_stepped

REMOVED: Final = 0.95
METER: Final = 0.10
LOW, HIGH = 0.5, 1.3
MAKESPAN: Final = 1.02
SHARE_OF_GAIN: Final = 0.8
"""Of the whole gain, which a quota without a gap would give."""

FAIRNESS: Final = 1.05


def judged(record: Record) -> list[Judgement]:
    """Every target, by the medians over the repeats."""
    table = cells(record.plays)
    waste, gain = trace.removable(record.trace), full_gain(record)
    bound = ideal.gain(record.trace, HIGH, record.quota)
    low, high = ([cell for cell in table if cell.load == load] for load in (LOW, HIGH))
    return [
        _of_pairs(
            f"at least {REMOVED:.0%} of the waste in initialization removed",
            table,
            _removed_share,
            lambda share: share >= REMOVED,
        ),
        _of_pairs(
            f"the meter: waste removed is GPUs x initializer time, within {METER:.0%}",
            table,
            lambda whole, other: removed_stepped(whole, other) / waste,
            lambda ratio: abs(ratio - 1) <= METER,
        ),
        _of_pairs(
            f"a makespan of at most {MAKESPAN:.0%} of whole at load {LOW:g}",
            low,
            lambda whole, other: other.makespan / whole.makespan,
            lambda ratio: ratio <= MAKESPAN,
        ),
        _of_pairs(
            f"at least {SHARE_OF_GAIN:.0%} of share/(1-share) = {gain:.1%} more throughput at "
            f"load {HIGH:g}",
            high,
            gained,
            lambda found: found >= SHARE_OF_GAIN * gain,
        ),
        _of_pairs(
            f"at least {SHARE_OF_GAIN:.0%} of the {bound:.1%} that this trace leaves of it, in a "
            "control plane that takes no time",
            high,
            gained,
            lambda found: found >= SHARE_OF_GAIN * bound,
        ),
        _of_pairs(
            f"single-step TrainJobs: a p95 of at most {FAIRNESS:.0%} of whole",
            table,
            lambda whole, other: other.single_step.p95 / whole.single_step.p95,
            lambda ratio: ratio <= FAIRNESS,
        ),
        _of_safety(table, record.quota),
    ]


def full_gain(record: Record) -> float:
    """How much more the same quota does if nothing waits for initializers that need not."""
    share = trace.share(record.trace)
    return share / (1 - share)


def _removed_share(whole: Figures, other: Figures) -> float:
    return removed_stepped(whole, other) / whole.initializers_stepped


def _of_pairs(
    target: str,
    table: Iterable[Cell],
    value: Callable[[Figures, Figures], float],
    is_met: Callable[[float], bool],
) -> Judgement:
    values = {
        _name(cell, mode): cell.paired(mode, value).median
        for cell in table
        for mode in cell.stepping
    }
    found = {name: f"{value:.1%}" for name, value in values.items()}
    return Judgement(target, found, [name for name, value in values.items() if not is_met(value)])


def _of_safety(table: Iterable[Cell], quota: int) -> Judgement:
    wrong = {
        _name(cell, mode): sum(len(list(_wrongs(one, quota))) for one in figures)
        for cell in table
        for mode, figures in cell.modes.items()
    }
    return Judgement(
        "never above the quota, no invariant violated, every TrainJob at its planned end",
        {name: str(count) for name, count in wrong.items()},
        [name for name, count in wrong.items() if count],
    )


def _wrongs(figures: Figures, quota: int) -> Iterator[str]:
    yield from figures.violations
    yield from figures.astray
    if figures.peak_used > quota:
        yield f"{figures.peak_used} GPUs in use"


def _name(cell: Cell, mode: Mode) -> str:
    return f"load {cell.load:g}, {mode}"
