"""Show a play while it happens: a picture on a terminal, a line for each change anywhere else."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from localcluster.demo.frame import Frame, Show
from localcluster.demo.lines import Lines
from localcluster.demo.scene import State
from localcluster.demo.trace import STEPS

STYLES = {
    State.NOT_CREATED: "dim",
    State.QUEUED: "yellow",
    State.ADMITTED: "cyan",
    State.RUNNING: "bold green",
    State.DONE: "blue",
    State.FAILED: "bold red",
    State.PAUSED: "magenta",
}
CELLS_PER_GPU = 4


@contextmanager
def stage(console: Console) -> Iterator[Show]:
    """Yield the function to call with each frame."""
    if not console.is_terminal:
        lines = Lines()
        yield lambda frame: _print(console, lines.of(frame))
        return
    with Live(console=console, auto_refresh=False) as live:
        yield lambda frame: live.update(picture(frame), refresh=True)


def picture(frame: Frame) -> Group:
    """The title, the steps of each TrainJob, and the quota."""
    title = Text.assemble((frame.lane.title, "bold"), f"   {frame.seconds:.0f} s")
    return Group(Text(), title, steps(frame), bar(frame), legend(frame))


def steps(frame: Frame) -> Table:
    """A row for each TrainJob, a column for each step."""
    table = Table("TrainJob", *STEPS, box=None, padding=(0, 3, 0, 0), header_style="dim")
    for trainjob, states in frame.steps.items():
        cells = (Text(state, STYLES[state]) for state in states.values())
        table.add_row(trainjob, *cells)
    return table


def bar(frame: Frame) -> Text:
    """The quota: used, reserved but idle, free."""
    used = min(frame.used, frame.quota)
    idle = max(0, min(frame.reserved, frame.quota) - used)
    free = frame.quota - used - idle
    return Text.assemble(
        "GPU quota  ",
        ("█" * used * CELLS_PER_GPU, "green"),
        ("▒" * idle * CELLS_PER_GPU, "yellow"),
        ("·" * free * CELLS_PER_GPU, "dim"),
    )


def legend(frame: Frame) -> Text:
    """The bar in figures."""
    return Text.assemble(
        " " * len("GPU quota  "),
        (f"{frame.used} really used", "green"),
        ", ",
        (f"{frame.reserved} reserved", "yellow"),
        f", of {frame.quota}; idle so far: {frame.idle:.0f} GPU-seconds",
    )


def _print(console: Console, lines: Iterable[str]) -> None:
    for line in lines:
        console.out(line, highlight=False)
