"""What was promised, and whether the record keeps it. Pure."""

from collections.abc import Callable, Iterable, Sequence
from math import log
from statistics import linear_regression, median
from typing import Final

from bench.growth.objects import Mode
from bench.growth.record import Record, Run
from bench.judgement import Judgement

SLOPE_TOLERANCE: Final = 0.05
MEMORY_MIB: Final = 150.0
FLAT_MIB: Final = 20.0
P99_TIMES: Final = 2.0


def judged(record: Record) -> list[Judgement]:
    """Every target, of the stepped TrainJobs."""
    stepped = [item for item in record.runs if item.mode is Mode.STEPPED]
    return [
        _slopes(stepped),
        _memory(stepped),
        _flatness(stepped),
        _tail(stepped),
        _completeness(record.runs),
    ]


def slope(runs: Iterable[Run], total: Callable[[Run], float]) -> float | None:
    """Of the total over the number of TrainJobs, both logarithmic, by least squares.

    1 is a constant cost of each. None where fewer than two sizes have any.
    """
    points = [(log(item.size), log(total(item))) for item in runs if total(item) > 0]
    if len({size for size, _ in points}) < 2:
        return None
    return linear_regression(*zip(*points, strict=True)).slope


def reviews(item: Run) -> float:
    """The total of a play."""
    return item.reviews.calls


def writes(item: Run) -> float:
    """The total of a play."""
    return item.all_writes


def at(runs: Iterable[Run], size: int, value: Callable[[Run], float]) -> float:
    """The median over the repeats of a size."""
    return median(value(item) for item in runs if item.size == size)


def _slopes(stepped: Sequence[Run]) -> Judgement:
    values = {"reviews": slope(stepped, reviews), "writes": slope(stepped, writes)}
    known = {name: value for name, value in values.items() if value is not None}
    return Judgement(
        f"reviews and writes per TrainJob constant (log-log slope 1.0 ± {SLOPE_TOLERANCE:g})",
        {name: f"{value:.3f}" for name, value in known.items()},
        [name for name, value in known.items() if abs(value - 1) > SLOPE_TOLERANCE],
    )


def _memory(stepped: Sequence[Run]) -> Judgement:
    peaks = {f"{item.size:,}": item.memory_peak for item in sorted(stepped, key=_memory_peak)}
    return Judgement(
        f"our server under {MEMORY_MIB:g} MiB with so many TrainJobs",
        {name: f"{value:.0f} MiB" for name, value in peaks.items()},
        [name for name, value in peaks.items() if value >= MEMORY_MIB],
    )


def _flatness(stepped: Sequence[Run]) -> Judgement:
    target = f"its memory flat (at most {FLAT_MIB:g} MiB more with the most than with the fewest)"
    return _of_ends(
        target,
        stepped,
        lambda least, most: at(stepped, most, _memory_peak) - at(stepped, least, _memory_peak),
        "{:+.1f} MiB",
        FLAT_MIB,
    )


def _tail(stepped: Sequence[Run]) -> Judgement:
    def ratio(least: int, most: int) -> float:
        few = at(stepped, least, lambda item: item.reviews.p99)
        return at(stepped, most, lambda item: item.reviews.p99) / few if few else float("inf")

    target = f"p99 of a call with the most TrainJobs at most {P99_TIMES:g} times that with fewest"
    return _of_ends(target, stepped, ratio, "{:.2f} times", P99_TIMES)


def _completeness(runs: Sequence[Run]) -> Judgement:
    found = {f"{item.size:,} {item.mode}": item.finished for item in runs}
    return Judgement(
        "every TrainJob completes",
        {name: f"{count:,}" for name, count in found.items()},
        [f"{item.size:,} {item.mode}" for item in runs if item.finished < item.size],
    )


def _of_ends(
    target: str,
    runs: Sequence[Run],
    value: Callable[[int, int], float],
    form: str,
    most: float,
) -> Judgement:
    sizes = sorted({item.size for item in runs})
    if len(sizes) < 2:
        return Judgement(target, {}, [])
    name, found = f"{sizes[0]:,} to {sizes[-1]:,}", value(sizes[0], sizes[-1])
    return Judgement(target, {name: form.format(found)}, [name] if found > most else [])


def _memory_peak(item: Run) -> float:
    return item.memory_peak
