"""The quota over time, a panel for each mode: used, waiting for initializers, and handed over.

It shows the first repeat of the highest load; every edge is the record's.
"""

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.pictures import svg
from bench.pictures.palette import Palette
from bench.quota.plan import Mode
from bench.quota.record import Measurement, Record

# In pixels, from the top left, as in SVG.
WIDTH = 900
LEFT, RIGHT = 72, 884
TOP, AREA, PITCH, FOOT = 116, 120, 184, 36
HEADROOM = 1.25
KEY = 14
SIMULATED = "Pods are simulated and run times scaled, the rest is real."
HEADINGS = {
    Mode.WHOLE: ("Whole", "Kueue as it is, one admission for each TrainJob"),
    Mode.STEPPED: ("Stepped", "one admission for each step"),
    Mode.CPU: ("Stepped, CPU queue", "initializers queue for CPUs"),
}


@dataclass(frozen=True)
class Band:
    """A part of the area: what it is called, and how it is filled."""

    name: str
    label: str
    how: dict[str, Any]


def draw(record: Record, palette: Palette) -> str:
    """The picture in one theme, as SVG."""
    words = svg.Words(finding(record), description(record))
    with svg.settings(palette):
        return svg.text(figure(record, palette), words)


def figure(record: Record, palette: Palette) -> Figure:
    """The picture, before it is made into SVG."""
    plays = shown(record)
    height = TOP + PITCH * len(plays) + FOOT
    made = svg.canvas(WIDTH, height)
    write = svg.Pen(made)
    write(16, 32, finding(record), size=19, weight="bold")
    _legend(made, palette)
    last = 1.01 * max(play.figures.makespan for play in plays)
    for number, play in enumerate(plays):
        top = TOP + PITCH * number
        head, said = HEADINGS[play.mode]
        write(LEFT, top - 12, head, size=14, weight="bold")
        write(LEFT + 176, top - 12, said, size=13)
        write(RIGHT, top - 12, totals(play), size=13, ha="right")
        area = svg.axes(made, LEFT, top, RIGHT, top + AREA)
        _panel(area, play, record.quota, palette, last)
    for up, line in ((26, origin(record)), (9, SIMULATED)):
        write(16, height - up, line, size=11.5, color=palette.faint)
    return made


def shown(record: Record) -> list[Measurement]:
    """The plays of the picture, in the order of the modes."""
    load = max(play.load for play in record.plays)
    plays = [play for play in record.plays if play.load == load and play.repeat == 0]
    return sorted(plays, key=lambda play: list(Mode).index(play.mode))


def finding(record: Record) -> str:
    """What the picture shows, with the record's figures."""
    parts = (f"{play.mode} {play.figures.makespan:.0f} s" for play in shown(record))
    load = max(play.load for play in record.plays)
    return f"{len(record.trace)} TrainJobs at load {load:g}: {'; '.join(parts)}"


def description(record: Record) -> str:
    """The picture in words, for those who do not see it."""
    areas = (f"{HEADINGS[play.mode][0]}: {totals(play)}." for play in shown(record))
    return " ".join([f"{record.quota} GPUs over time.", *areas, origin(record), SIMULATED])


def totals(play: Measurement) -> str:
    """The areas of a panel, in figures."""
    gpus = play.figures.gpu_seconds
    idle = play.figures.idle
    return f"{gpus.reserved:.0f} GPU-seconds reserved: {gpus.used:.0f} used, {idle:.0f} idle"


def origin(record: Record) -> str:
    """When and with what it was measured."""
    made = record.environment
    return f"{made.date}, {made.cpus} CPUs, {made.made_with}."


def bands(palette: Palette) -> list[Band]:
    """From the bottom to the top."""
    waiting: dict[str, Any] = {
        "facecolor": palette.idle,
        "edgecolor": palette.hatch,
        "hatch": "///",
    }
    return [
        Band("used", "used", {"facecolor": palette.used}),
        Band("initializers", "reserved, waits for initializers", waiting),
        Band("others", "reserved, hand-over and tail", {"facecolor": palette.busy}),
    ]


def _legend(made: Figure, palette: Palette) -> None:
    write = svg.Pen(made)
    x = float(LEFT)
    for band in bands(palette):
        key = svg.axes(made, round(x), 60 - KEY, round(x) + 2 * KEY, 60)
        key.set_axis_off()
        key.stairs([1], [0, 1], fill=True, linewidth=0, **band.how)
        key.set(xlim=(0, 1), ylim=(0, 1))
        write(x + 2 * KEY + 8, 58, band.label, size=13)
        x += 2 * KEY + 40 + 6.4 * len(band.label)


def _panel(area: Axes, play: Measurement, quota: int, palette: Palette, last: float) -> None:
    area.set(xlim=(0, last), ylim=(0, quota * HEADROOM), yticks=[0, quota // 2, quota])
    area.set_ylabel("GPUs", labelpad=8)
    area.xaxis.set_major_formatter("{x:g} s")
    area.tick_params(axis="x", pad=9)
    area.axhline(quota, color=palette.ink, linewidth=1.2, linestyle=(0, (4, 3)))
    edges = [now.seconds for now in play.curve]
    held = [now.gpus for now in play.curve[:-1]]
    base = [0.0] * len(held)
    parts = (
        [now.used for now in held],
        [now.initializers for now in held],
        [now.hand_over + now.tail for now in held],
    )
    for band, part in zip(bands(palette), parts, strict=True):
        top = [low + more for low, more in zip(base, part, strict=True)]
        gid = f"{play.mode.slug}-{band.name}"
        area.stairs(top, edges, baseline=base, fill=True, linewidth=0, gid=gid, **band.how)
        base = top
    seconds = play.figures.makespan
    area.axvline(seconds, color=palette.ink, linewidth=1.2)
    said = f"done after {seconds:.1f} s"
    area.text(seconds - last * 0.004, quota * 1.05, said, weight="bold", ha="right")
