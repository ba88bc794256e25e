"""Looking again and again: what is shown, what is survived, how it ends."""

import asyncio
import io
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from time import monotonic
from typing import Any

import pytest
from rich.console import Console

from tests.steps.made import NOW, jobset, parent, trainjob
from tests.steps.scene import everything
from webhook.cluster.listing import Unread
from webhook.steps import live
from webhook.steps.parents import parents
from webhook.steps.reading import Refused, Unknown
from webhook.steps.tree import State, Tree
from webhook.steps.watching import Printed, follow

ONE = Tree((parent(trainjob()),))
TWO = Tree((parent(jobset()),))
GONE = Unread("the API server can't be reached: gone")
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


def _followed(*looks: Tree | Exception, ending: signal.Signals = signal.SIGINT) -> list[str]:
    """What is printed of these looks; the signal comes with the last of them."""
    said: list[str] = []
    left: Iterator[Tree | Exception] = iter(looks)

    async def look() -> Tree:
        found = next(left, None)
        if found is None:
            os.kill(os.getpid(), ending)
            await asyncio.Event().wait()
            raise AssertionError("the signal did not end the look")
        if isinstance(found, Exception):
            raise found
        return found

    def block(tree: Tree, _now: datetime) -> str:
        return tree.problem or f"{len(tree.parents[0].steps)} steps"

    asyncio.run(follow(look, look, Printed(block, said.append), lambda: NOW, seconds=0))
    return said


SHOWN: dict[str, tuple[tuple[Any, ...], list[str]]] = {
    "a change is printed": ((ONE, TWO), ["0 steps", "2 steps"]),
    "no change is not printed": ((ONE, ONE, ONE), ["0 steps"]),
    "a cluster that is lost is told once, and its return": (
        (ONE, GONE, GONE, ONE),
        ["0 steps", f"{GONE}; trying again", "0 steps"],
    ),
    "what is deleted is shown no longer, until it is there again": (
        (ONE, Unknown("There is no TrainJob."), ONE),
        ["0 steps", "There is no TrainJob.", "0 steps"],
    ),
    "a right that is taken away is told": (
        (ONE, Refused("You may not."), TWO),
        ["0 steps", "You may not.; trying again", "2 steps"],
    ),
}


@pytest.mark.parametrize(("looks", "said"), SHOWN.values(), ids=SHOWN.keys())
def test_what_is_printed(looks: tuple[Any, ...], said: list[str]) -> None:
    """Block by block, until SIGINT."""
    assert _followed(*looks) == said


def test_sigterm_ends_it_like_ctrl_c() -> None:
    """It ends in peace."""
    assert _followed(ONE, ending=signal.SIGTERM) == ["0 steps"]


def test_a_first_look_that_fails_ends_it() -> None:
    """Nothing is shown."""
    with pytest.raises(Unread, match="gone"):
        _followed(GONE)


def test_the_first_look_is_another_than_those_that_follow() -> None:
    """They may lag behind, it may not."""
    looks = list[str]()

    async def first() -> Tree:
        assert not looks
        looks.append("first")
        return ONE

    async def again() -> Tree:
        looks.append("again")
        if len(looks) == 3:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.Event().wait()
        return TWO

    asyncio.run(follow(first, again, Printed(lambda *_: "", print), lambda: NOW, seconds=0))
    assert looks == ["first", "again", "again"]


def test_a_pause_is_longer_than_the_look_before_it() -> None:
    """A slow API server is asked less often."""
    moments = list[tuple[float, float]]()

    async def look() -> Tree:
        began = monotonic()
        if len(moments) == 2:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.Event().wait()
        await asyncio.sleep(0.05)
        moments.append((began, monotonic()))
        return ONE

    asyncio.run(follow(look, look, Printed(lambda *_: "", print), lambda: NOW, seconds=0))
    (began, ended), (begun_again, _) = moments
    assert begun_again - ended > ended - began


def _drawn(tree: Tree, **options: Any) -> str:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=200, **options)
    console.print(live.view(tree, NOW))
    return screen.getvalue()


def test_a_terminal_shows_the_tree_in_colours() -> None:
    """Branches in line characters, states in a colour each."""
    drawn = _drawn(Tree(tuple(parents(everything()))), color_system="standard")
    assert "├─ dataset-initializer" in drawn
    assert "└─ node" in drawn
    assert "\x1b[33mqueued" in drawn
    assert "\x1b[1;31mfailed" in drawn


def test_every_state_has_its_style() -> None:
    """None is drawn like the text around it."""
    assert set(live.STYLES) == set(State)
    assert all(live.STYLES.values())


def test_no_color_is_honoured() -> None:
    """As the variable of that name asks; rich knows bold and dim apart from colours."""
    drawn = _drawn(Tree(tuple(parents(everything()))), _environ={"NO_COLOR": "1", "TERM": "xterm"})
    assert "\x1b[33m" not in drawn
    assert "├─ dataset-initializer" in drawn


def test_names_with_brackets_are_no_markup() -> None:
    """What the cluster says is text."""
    assert "[bold]no[/]" in _drawn(Tree(notes=("[bold]no[/]",)))


def test_a_narrow_terminal_folds_the_last_column_only() -> None:
    """No name and no number is lost."""
    screen = io.StringIO()
    tree = Tree(tuple(parents(everything())))
    Console(file=screen, width=120).print(live.view(tree, NOW))
    drawn = screen.getvalue()
    assert "…" not in drawn
    assert "├─ dataset-initializer" in drawn
    assert "49m58s" in drawn


def test_the_live_view_gives_the_cursor_back() -> None:
    """Hidden while it draws, shown when it ends, after an exception too."""
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120, height=50)
    terminal = live.Terminal(console)
    with suppress(Unread), terminal:
        terminal.show(ONE, NOW)
        raise GONE
    assert HIDE in screen.getvalue()
    assert screen.getvalue().rindex(SHOW) > screen.getvalue().rindex(HIDE)


def test_what_has_ended_gives_way_where_lines_are_few() -> None:
    """The oldest first; and it is told how many."""
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=250, height=24)
    with live.Terminal(console) as terminal:
        terminal.show(Tree(tuple(parents(everything()))), NOW)
    drawn = screen.getvalue()
    assert "team-a/broken" not in drawn
    assert "team-a/tune" in drawn
    assert "1 that have ended are not shown" in drawn
