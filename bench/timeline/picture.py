"""The quota over time, whole above stepped: what is used, and what is reserved but idle.

Under each panel the steps of the TrainJobs, so that one sees what the idle GPUs wait for. Every
number and every edge is the record's.
"""

from matplotlib.figure import Figure

from bench.pictures import svg
from bench.pictures.palette import Palette
from bench.timeline.panel import Panel
from bench.timeline.record import Lane, Record

# In pixels, from the top left, as in SVG.
WIDTH, HEIGHT = 900, 584
LEFT, RIGHT = 72, 884
AREA, GAP, STRIP = 124, 8, 60
TOPS = {"whole": 108, "stepped": 336}
HEADINGS = {
    "whole": ("Whole", "Kueue as it is, one admission for each TrainJob"),
    "stepped": ("Stepped", "with kueue-steps, one admission for each step"),
}


def draw(record: Record, palette: Palette) -> str:
    """The picture in one theme, as SVG."""
    words = svg.Words(finding(record), description(record))
    with svg.settings(palette):
        return svg.text(figure(record, palette), words)


def figure(record: Record, palette: Palette) -> Figure:
    """The picture, before it is made into SVG."""
    made = svg.canvas(WIDTH, HEIGHT)
    write = svg.Pen(made)
    write(16, 32, finding(record), size=19, weight="bold")
    write(16, 57, gain(record), size=14)
    panels = [_panel(made, name, record, palette) for name in TOPS]
    last = 1.01 * max(panel.lane.gpus[-1].seconds for panel in panels)
    for panel in panels:
        panel.draw(last)
    panels[-1].strip.tick_params(axis="x", labelbottom=True)
    write(16, HEIGHT - 10, origin(record), size=11.5, color=palette.faint)
    return made


def finding(record: Record) -> str:
    """What the picture shows, with the record's figures."""
    return (
        f"Step by step, {record.stepped.figures.gpu_seconds_idle:.0f} instead of "
        f"{record.whole.figures.gpu_seconds_idle:.0f} GPU-seconds are reserved but idle"
    )


def gain(record: Record) -> str:
    """The second line: who, on what, how long."""
    trainjobs = len({run.trainjob for run in record.whole.runs})
    return (
        f"The same {trainjobs} TrainJobs on a quota of {record.quota} GPUs are done in "
        f"{record.stepped.figures.makespan_seconds:.1f} s instead of "
        f"{record.whole.figures.makespan_seconds:.1f} s"
    )


def origin(record: Record) -> str:
    """When and with what it was measured."""
    made = record.environment
    return f"{made.date}, {made.cpus} CPUs, {made.made_with}. Pods are simulated, the rest is real."


def description(record: Record) -> str:
    """The picture in words, for those who do not see it."""
    lanes = {"Whole": record.whole, "Stepped": record.stepped}
    areas = (f"{name}: {totals(lane)}." for name, lane in lanes.items())
    return " ".join([f"{gain(record)}.", *areas, origin(record)])


def totals(lane: Lane) -> str:
    """The areas of a panel, in figures."""
    figures = lane.figures
    return (
        f"{figures.gpu_seconds_reserved:.0f} GPU-seconds reserved: "
        f"{figures.gpu_seconds_used:.0f} used, {figures.gpu_seconds_idle:.0f} idle"
    )


def _panel(made: Figure, name: str, record: Record, palette: Palette) -> Panel:
    top = TOPS[name]
    lane = record.lanes[name]
    write = svg.Pen(made)
    head, said = HEADINGS[name]
    write(LEFT, top - 12, head, size=14, weight="bold")
    write(LEFT + 76, top - 12, said, size=13)
    write(RIGHT, top - 12, totals(lane), size=13, ha="right")
    area = svg.axes(made, LEFT, top, RIGHT, top + AREA)
    strip = svg.axes(made, LEFT, top + AREA + GAP, RIGHT, top + AREA + GAP + STRIP)
    return Panel(name, lane, record.quota, palette, area, strip)
