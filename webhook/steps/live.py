"""The tree on a terminal: coloured, and redrawn in place. The only module that imports rich."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from webhook.steps.text import HEAD, Row, remarks, rows
from webhook.steps.tree import Parent, State, Tree
from webhook.steps.wording import moment

STYLES: Final[Mapping[State, str]] = {
    State.WAITING: "dim",
    State.ABSENT: "dim",
    State.QUEUED: "yellow",
    State.ADMITTED: "cyan",
    State.RUNNING: "bold green",
    State.EVICTED: "bold magenta",
    State.PAUSED: "blue",
    State.DONE: "green",
    State.FAILED: "bold red",
}
ENDED: Final = frozenset({State.DONE, State.FAILED})
SPARE_LINES: Final = 4
"""Head, time, a remark, and the cursor's own line."""

BRANCHES: Final = {"|- ": "├─ ", "`- ": "└─ "}


class Terminal:
    """A Screen that is one view, redrawn in place; the cursor is back when the block is left."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def show(self, tree: Tree, now: datetime) -> None:
        """Draw the tree as it is now."""
        fitting = _fitting(tree, self._console.size.height - SPARE_LINES)
        self._live.update(Group(view(fitting, now), Text(moment(now), style="dim")), refresh=True)


def terminal() -> Terminal:
    """The terminal that this program writes to."""
    return Terminal(Console())


def draw(tree: Tree, now: datetime) -> None:
    """Show the tree once."""
    Console().print(view(tree, now))


def view(tree: Tree, now: datetime) -> RenderableType:
    """The same rows as in plain text, in colours, and wrapped to the terminal's width."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in HEAD:
        table.add_column(column, overflow="fold", no_wrap=column != HEAD.why)
    for parent in tree.parents:
        states = (parent.standing.state, *(step.standing.state for step in parent.steps))
        for row, state in zip(rows(parent, now), states, strict=True):
            table.add_row(*_cells(row, STYLES[state]))
    shown = [table] if tree.parents else []
    return Group(*shown, *(Text(remark) for remark in remarks(tree)))


def _cells(row: Row, style: str) -> list[Text]:
    branch = row.name[:3]
    is_parent = branch not in BRANCHES
    name = row.name if is_parent else BRANCHES[branch] + row.name[3:]
    cells = row._replace(name=name)
    styles = Row(*("" for _ in row))._replace(name="bold" if is_parent else "", state=style)
    return [Text(cell, style=one) for cell, one in zip(cells, styles, strict=True)]


def _fitting(tree: Tree, lines: int) -> Tree:
    """The tree without its oldest ended parents, as far as there is no room for them."""
    kept, excess = list[Parent](), _lines(tree) - lines
    hidden = 0
    for parent in tree.parents:
        if excess > 0 and parent.standing.state in ENDED:
            excess -= 1 + len(parent.steps)
            hidden += 1
        else:
            kept.append(parent)
    if not hidden:
        return tree
    note = f"{hidden} that have ended are not shown, for want of lines"
    return replace(tree, parents=tuple(kept), notes=(*tree.notes, note))


def _lines(tree: Tree) -> int:
    return sum(1 + len(parent.steps) for parent in tree.parents)
