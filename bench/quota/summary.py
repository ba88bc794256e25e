"""Medians and spreads over the repeats, cell by cell, and what stepping changes. Pure."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from bench.quota.figures import Figures
from bench.quota.plan import STEPPING, Mode
from bench.quota.record import Measurement
from bench.spread import Spread, spread


class Figure(NamedTuple):
    """What is compared, and how it is read; less of it is better."""

    title: str
    value: Callable[[Figures], float]


RESERVED: Final = Figure("reserved", lambda f: f.gpu_seconds.reserved)
USED: Final = Figure("used", lambda f: f.gpu_seconds.used)
IDLE: Final = Figure("idle", lambda f: f.idle)
INITIALIZERS: Final = Figure("waiting for initializers", lambda f: f.gpu_seconds.initializers)
LEFT: Final = Figure("of these, left whole by our rules", lambda f: f.initializers_left)
HAND_OVER: Final = Figure("hand-over", lambda f: f.gpu_seconds.hand_over)
TAIL: Final = Figure("tail", lambda f: f.gpu_seconds.tail)
GPU_SECONDS: Final = (RESERVED, USED, IDLE, INITIALIZERS, LEFT, HAND_OVER, TAIL)

MAKESPAN: Final = Figure("makespan", lambda f: f.makespan)
MEAN: Final = Figure("completion, mean", lambda f: f.completion.mean)
P95: Final = Figure("completion, p95", lambda f: f.completion.p95)
SINGLE_MEAN: Final = Figure("single step, mean", lambda f: f.single_step.mean)
SINGLE_P95: Final = Figure("single step, p95", lambda f: f.single_step.p95)
ONE_HAND_OVER: Final = Figure("hand-over of a TrainJob, median", lambda f: f.hand_over)
SECONDS: Final = (MAKESPAN, MEAN, P95, SINGLE_MEAN, SINGLE_P95, ONE_HAND_OVER)

EVICTIONS: Final = Figure("evictions", lambda f: f.evictions)
PEAK: Final = Figure("most GPUs used", lambda f: f.peak_used)
VIOLATIONS: Final = Figure("invariants violated", lambda f: len(f.violations))
ASTRAY: Final = Figure("TrainJobs astray", lambda f: len(f.astray))
COUNTS: Final = (EVICTIONS, PEAK, VIOLATIONS, ASTRAY)

COMPARED: Final = (RESERVED, IDLE, INITIALIZERS, HAND_OVER, TAIL, *SECONDS, *COUNTS)


class Cell(NamedTuple):
    """All plays at one load, by mode, in the order of the repeats."""

    load: float
    modes: dict[Mode, list[Figures]]

    def spread(self, figure: Figure, mode: Mode) -> Spread:
        """A figure of one mode."""
        return spread(figure.value(item) for item in self.modes[mode])

    def paired(self, mode: Mode, value: Callable[[Figures, Figures], float]) -> Spread:
        """Of whole and of the mode in the same repeat."""
        pairs = zip(self.modes[Mode.WHOLE], self.modes[mode], strict=True)
        return spread(value(whole, other) for whole, other in pairs)

    @property
    def stepping(self) -> Iterator[Mode]:
        """The modes that are compared with whole."""
        return (mode for mode in STEPPING if mode in self.modes and Mode.WHOLE in self.modes)


def cells(plays: Iterable[Measurement]) -> list[Cell]:
    """By load, in the order in which they were played first."""
    found: dict[float, Cell] = {}
    for play in sorted(plays, key=lambda play: play.repeat):
        cell = found.setdefault(play.load, Cell(play.load, {}))
        cell.modes.setdefault(play.mode, []).append(play.figures)
    return [
        Cell(cell.load, {mode: cell.modes[mode] for mode in Mode if mode in cell.modes})
        for cell in found.values()
    ]


def losses(table: Iterable[Cell]) -> Iterator[tuple[Cell, Mode, Figure]]:
    """Every figure in which stepping is worse than whole, by the medians."""
    for cell in table:
        for mode in cell.stepping:
            for figure in COMPARED:
                whole, ours = (cell.spread(figure, one).median for one in (Mode.WHOLE, mode))
                # More GPUs at work at the same time are no loss.
                if ours > whole and figure is not PEAK:
                    yield cell, mode, figure


def removed(figure: Figure) -> Callable[[Figures, Figures], float]:
    """How much less of it there is than whole."""
    return lambda whole, other: figure.value(whole) - figure.value(other)


def removed_stepped(whole: Figures, other: Figures) -> float:
    """GPU-seconds that waited for initializers, of the TrainJobs that can be stepped."""
    return whole.initializers_stepped - other.initializers_stepped


def gained(whole: Figures, other: Figures) -> float:
    """How much more of the trace is done in the same time."""
    return whole.makespan / other.makespan - 1
