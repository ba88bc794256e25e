"""One panel of the timeline: the quota over time, and below it what the TrainJobs do meanwhile."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from matplotlib.axes import Axes

from bench.pictures.palette import Palette
from bench.timeline.record import Gpus, Lane
from localcluster.demo.runs import Run
from localcluster.demo.trace import NODE

# A label needs a span of so many seconds to stand in.
ROOM_SECONDS = 6.0
# How much higher than the quota the panel is.
HEADROOM = 1.25
# Where the lines of a label stand, as shares of the quota.
LINES = {1: (0.5,), 2: (0.565, 0.435)}
SMALL = 11.5


@dataclass(frozen=True)
class Span:
    """Seconds in which something is the case."""

    start: float
    end: float

    @property
    def middle(self) -> float:
        """Where its label goes."""
        return (self.start + self.end) / 2


@dataclass(frozen=True)
class Panel:
    """A lane on two axes of the same time: `area` for the GPUs, `strip` for the steps."""

    name: str
    lane: Lane
    quota: int
    palette: Palette
    area: Axes
    strip: Axes

    def draw(self, last: float) -> None:
        """Draw everything; `last` is the last second that is shown."""
        for axes in (self.area, self.strip):
            axes.set_xlim(0, last)
            axes.xaxis.set_major_formatter("{x:g} s")
            axes.tick_params(axis="x", labelbottom=False)
        self._quota()
        self._gpus()
        self._labels()
        self._steps()
        self._end(last)

    def _quota(self) -> None:
        self.area.set_ylim(0, self.quota * HEADROOM)
        self.area.set_yticks([0, self.quota // 2, self.quota])
        self.area.set_ylabel("GPUs", labelpad=8)
        self.area.tick_params(axis="x", length=0)
        dashes = (0, (4, 3))
        self.area.axhline(self.quota, color=self.palette.ink, linewidth=1.2, linestyle=dashes)
        self.area.text(0.3, self.quota * 1.05, f"quota: {self.quota} GPUs")

    def _gpus(self) -> None:
        edges = [gpus.seconds for gpus in self.lane.gpus]
        used = [gpus.used for gpus in self.lane.gpus[:-1]]
        reserved = [gpus.reserved for gpus in self.lane.gpus[:-1]]
        self.area.stairs(
            used,
            edges,
            fill=True,
            color=self.palette.used,
            linewidth=0,
            gid=f"{self.name}-used",
        )
        self.area.stairs(
            reserved,
            edges,
            baseline=used,
            fill=True,
            facecolor=self.palette.idle,
            edgecolor=self.palette.hatch,
            hatch="///",
            linewidth=0,
            gid=f"{self.name}-idle",
        )

    def _labels(self) -> None:
        palette, gpus = self.palette, self.lane.gpus
        for span in spans(gpus, lambda now: now.used > 0):
            self._label(span, ["used"], color=palette.on_used)
        for span in spans(gpus, lambda now: now.reserved > now.used):
            box = {"facecolor": palette.idle, "linewidth": 0, "pad": 2.0}
            self._label(span, ["reserved,", "but idle"], bbox=box)
        for span in spans(gpus, lambda now: now.reserved == 0):
            self._label(span, ["no GPU", "is reserved"], color=palette.faint)

    def _label(self, span: Span, lines: list[str], **how: Any) -> None:
        for line, height in zip(lines, LINES[len(lines)], strict=True):
            y = self.quota * height
            self.area.text(span.middle, y, line, ha="center", va="center", **how)

    def _steps(self) -> None:
        names = sorted({run.trainjob for run in self.lane.runs})
        self.strip.set_ylim(len(names) - 0.5, -0.5)
        self.strip.set_yticks(range(len(names)), names)
        self.strip.tick_params(axis="y", length=0)
        for row, trainjob in enumerate(names):
            mine = [run for run in self.lane.runs if run.trainjob == trainjob]
            before = [run for run in mine if run.step != NODE]
            training = [run for run in mine if run.step == NODE]
            self._bar(row, before, "downloads", self.palette.busy, self.palette.ink)
            self._bar(row, training, "trains", self.palette.used, self.palette.on_used)

    def _bar(self, row: int, runs: list[Run], label: str, fill: str, ink: str) -> None:
        for run in runs:
            width = run.end - run.start
            gid = f"{self.name}-{run.trainjob}-{run.step}"
            self.strip.barh(
                row, width, left=run.start, height=0.8, color=fill, linewidth=0, gid=gid
            )
        if runs:
            span = Span(min(run.start for run in runs), max(run.end for run in runs))
            how: Any = {"ha": "center", "va": "center", "size": SMALL, "color": ink}
            self.strip.text(span.middle, row, label, **how)

    def _end(self, last: float) -> None:
        seconds = self.lane.figures.makespan_seconds
        for axes in (self.area, self.strip):
            axes.axvline(seconds, color=self.palette.ink, linewidth=1.2)
        side, shift = ("right", -0.4) if seconds > last * 0.8 else ("left", 0.4)
        said = f"done after {seconds:.1f} s"
        self.area.text(seconds + shift, self.quota * 1.05, said, weight="bold", ha=side)


def spans(gpus: list[Gpus], holds: Callable[[Gpus], bool]) -> Iterator[Span]:
    """The spans in which it holds and that leave room for a label."""
    for does_hold, moments in groupby(pairwise(gpus), key=lambda pair: holds(pair[0])):
        pairs = list(moments)
        span = Span(pairs[0][0].seconds, pairs[-1][1].seconds)
        if does_hold and span.end - span.start >= ROOM_SECONDS:
            yield span
